// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

namespace ksplit::cli {

namespace {

bool is_capable_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace

Console::Console(bool quiet)
    : quiet_(quiet), terminal_(is_capable_terminal()), started_(std::chrono::steady_clock::now()) {}

Console::~Console() {
  clear_progress();
}

void Console::clear_progress() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

void Console::line(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  clear_progress();
  if (quiet_) return;
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void Console::progress(const std::string& stage, int done, int total) {
  if (!terminal_) return;
  const std::scoped_lock lock(mutex_);
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - started_)
          .count();
  fmt::print(stderr, "\r\033[K[{}/{} {}:{:02}] {}", done, total, seconds / 60, seconds % 60, stage);
  std::fflush(stderr);
  shown_ = true;
}

std::string describe(const Error& error) {
  std::string text = fmt::format("error[{}]: {}\n", name_of(error.code), error.message);
  if (error.at) {
    text += fmt::format("  --> {}", error.at->file);
    if (error.at->line > 0) text += fmt::format(":{}", error.at->line);
    if (error.at->column > 0) text += fmt::format(":{}", error.at->column);
    text += '\n';
  }
  for (const std::string& cause : error.causes) text += fmt::format("   = {}\n", cause);
  if (!error.hint.empty()) text += fmt::format("\nhint: {}\n", error.hint);
  return text;
}

std::string describe_on_one_line(const Error& error) {
  std::string text = fmt::format("error[{}]: {}", name_of(error.code), error.message);
  if (error.at && error.at->line > 0) {
    text += fmt::format(" ({}:{})", error.at->file, error.at->line);
  }
  if (!error.hint.empty()) text += fmt::format("; {}", error.hint);
  std::ranges::replace(text, '\n', ' ');
  return text + '\n';
}

std::string describe_as_json(const Error& error) {
  nlohmann::ordered_json body = {{"code", name_of(error.code)}, {"message", error.message}};
  if (error.at) {
    body["file"] = error.at->file;
    body["line"] = error.at->line;
    body["column"] = error.at->column;
  }
  body["causes"] = error.causes;
  body["hint"] = error.hint;
  return nlohmann::ordered_json{{"error", body}}.dump(2) + "\n";
}

}  // namespace ksplit::cli
