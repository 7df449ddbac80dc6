// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "worker/interrupt.h"

namespace ksplit {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "ksplit_worker_XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

namespace {

void set(const std::string& name, const std::optional<std::string>& value) {
  if (value) {
    setenv(name.c_str(), value->c_str(), 1);
  } else {
    unsetenv(name.c_str());
  }
}

}  // namespace

ScopedVariable::ScopedVariable(std::string name, const std::optional<std::string>& value)
    : name_(std::move(name)) {
  if (const char* before = std::getenv(name_.c_str())) before_ = before;
  set(name_, value);
}

ScopedVariable::~ScopedVariable() {
  set(name_, before_);
}

ScopedInterrupt::ScopedInterrupt() {
  interrupt_requested = true;
}
ScopedInterrupt::~ScopedInterrupt() {
  interrupt_requested = false;
}

WorkerOptions fake_worker(const TemporaryFolder& folder, const std::string& device) {
  const fs::path package = folder.path() / "ksplit";
  fs::create_directories(package);
  fs::copy_file(FAKE_WORKER, package / "worker.py", fs::copy_options::overwrite_existing);
  std::ofstream(package / "__init__.py").flush();

  WorkerOptions options;
  options.device = device;
  options.interpreter = {"/usr/bin/env", "the test", folder.path()};
  if (auto python = find_interpreter("python3")) options.interpreter.python = python->python;
  options.start_limit = 30s;
  options.request_limit = 30s;
  return options;
}

bool runs(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::stringstream stat;
  stat << file.rdbuf();
  const std::string text = stat.str();
  const std::size_t name_end = text.rfind(')');  // "pid (name) state ..."
  return name_end != std::string::npos && text.substr(name_end + 2, 1) != "Z";
}

bool ends(pid_t pid) {
  for (int tries = 0; tries < 500 && runs(pid); ++tries) std::this_thread::sleep_for(10ms);
  return !runs(pid);
}

}  // namespace ksplit
