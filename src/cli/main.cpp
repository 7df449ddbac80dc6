// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "stages/version.h"
#include "worker/interrupt.h"

namespace {

using namespace ksplit;

extern "C" void request_interrupt(int) {
  interrupt_requested.store(true);
}

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = request_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

/// Whether the user wants JSON even where the command line as a whole cannot be read.
bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

int report(const Error& error, cli::Command command, bool json) {
  if (json) fmt::print("{}", cli::describe_as_json(error));
  fmt::print(stderr, "{}",
             cli::is_compat(command) ? cli::describe_on_one_line(error) : cli::describe(error));
  return cli::exit_status_of(error.code, command);
}

}  // namespace

int main(int argc, char** argv) {
  install_signal_handlers();
  const bool json = asks_for_json(argc, argv);
  const cli::Command command = cli::named_command(argc, argv);
  try {
    const auto parsed = cli::parse_arguments(argc, argv);
    if (!parsed) return report(parsed.error(), command, json);
    if (!parsed->text.empty()) {
      fmt::print("{}", parsed->text);
      return cli::kDone;
    }
    const auto status = cli::run(parsed->arguments);
    return status ? *status : report(status.error(), command, json);
  } catch (const std::exception& bug) {
    fmt::print(stderr,
               "internal error: {}\nThis is a bug in ksplit {}; please report it with the "
               "command line.\n",
               bug.what(), kVersion);
    return cli::kBadInput;
  }
}
