// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "worker/client.h"

namespace ksplit {

/// An empty folder that goes at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// An environment variable with another value (nullopt: unset) until the end of the scope.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::optional<std::string>& value);
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable();

 private:
  std::string name_;
  std::optional<std::string> before_;
};

/// Sets the interrupt flag until the end of the scope.
struct ScopedInterrupt {
  ScopedInterrupt();
  ~ScopedInterrupt();
};

/// Options that start fake_worker.py, as the package `ksplit.worker` in `folder`.
WorkerOptions fake_worker(const TemporaryFolder& folder, const std::string& device = "cpu");

/// Whether the process runs; a zombie does not.
bool runs(pid_t pid);

/// Waits up to 5 s for the process to end.
bool ends(pid_t pid);

}  // namespace ksplit
