// SPDX-License-Identifier: Apache-2.0
#include "worker/interpreter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <system_error>

namespace ksplit {

namespace fs = std::filesystem;

namespace {

constexpr const char* kHint = "name a Python that has torch and Triton with `--python PATH`";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool runnable(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::optional<fs::path> on_path(const std::string& program) {
  const std::string folders = variable("PATH");
  std::string_view rest = folders;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / program;
    if (runnable(candidate)) return fs::absolute(candidate);
    rest = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
  }
  return std::nullopt;
}

fs::path folder_of_this_binary() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

/// What the user named: it must exist.
Result<fs::path> named_interpreter(const std::string& value, const char* source) {
  if (value.find('/') == std::string::npos) {
    if (auto found = on_path(value)) return *found;
    return fail(ErrorCode::environment, fmt::format("no `{}` on PATH (from {})", value, source),
                kHint);
  }
  if (runnable(value)) return fs::absolute(value);
  return fail(ErrorCode::environment,
              fmt::format("`{}` (from {}) is not a program that can be run", value, source), kHint);
}

Result<Interpreter> find_python(const std::string& option) {
  if (!option.empty()) {
    KSPLIT_TRY(fs::path python, named_interpreter(option, "--python"));
    return Interpreter{std::move(python), "--python", std::nullopt};
  }
  if (const std::string value = variable("KSPLIT_PYTHON"); !value.empty()) {
    KSPLIT_TRY(fs::path python, named_interpreter(value, "KSPLIT_PYTHON"));
    return Interpreter{std::move(python), "KSPLIT_PYTHON", std::nullopt};
  }
  std::string tried = "--python and KSPLIT_PYTHON (not set)";
  const fs::path scripts = folder_of_this_binary();
  if (fs::exists(scripts.parent_path() / "pyvenv.cfg") && runnable(scripts / "python")) {
    return Interpreter{scripts / "python", "the environment ksplit is installed in", std::nullopt};
  }
  if (const std::string value = variable("VIRTUAL_ENV"); !value.empty()) {
    const fs::path python = fs::path(value) / "bin" / "python";
    if (runnable(python)) return Interpreter{python, "VIRTUAL_ENV", std::nullopt};
    tried += fmt::format(", `{}` (from VIRTUAL_ENV)", python.string());
  } else {
    tried += ", VIRTUAL_ENV (not set)";
  }
  if (auto found = on_path("python3")) {
    return Interpreter{*found, "python3 on PATH", std::nullopt};
  }
  return fail(ErrorCode::environment,
              fmt::format("found no Python; tried {}, `python3` on PATH", tried), kHint);
}

std::optional<fs::path> find_package() {
  if (const std::string value = variable("KSPLIT_PYTHONPATH"); !value.empty()) {
    return fs::absolute(value);
  }
  const fs::path binary = folder_of_this_binary();
  for (const char* up : {"..", "../..", "../../.."}) {
    fs::path folder = (binary / up / "python").lexically_normal();
    std::error_code ignored;
    if (fs::exists(folder / "ksplit" / "worker.py", ignored)) return folder;
  }
  return std::nullopt;
}

}  // namespace

Result<Interpreter> find_interpreter(const std::string& option) {
  KSPLIT_TRY(Interpreter interpreter, find_python(option));
  interpreter.package_folder = find_package();
  return interpreter;
}

}  // namespace ksplit
