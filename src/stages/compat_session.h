// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/result.h"
#include "stages/compat.h"
#include "worker/client.h"

namespace ksplit {

/// A point in time by which everything has to be done.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds limit) : end_(Clock::now() + limit) {}

  bool passed() const { return Clock::now() >= end_; }
  std::chrono::milliseconds left() const {
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now()),
                    std::chrono::milliseconds(1));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

/// A `ModelNew` that takes anything, in a file of its own that goes with the object. It is the base
/// of a task that has none, so that what is wrong with the implementation cannot be mistaken for
/// what is wrong with the task, and the cases are known even if the implementation does not load.
class StandInBase {
 public:
  /// Errors: output-unwritable.
  static Result<StandInBase> create();

  StandInBase(StandInBase&& other) noexcept;
  StandInBase& operator=(StandInBase&&) = delete;
  ~StandInBase();

  std::filesystem::path file() const { return folder_ / "stand_in_base.py"; }

 private:
  explicit StandInBase(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;  // empty once moved from
};

/// A worker with the reference and its cases loaded.
struct CompatSession {
  Worker worker;
  Task task;
  StandInBase base;
  LoadRequest request;  // to load the task once more, after a crash
  Deadline deadline;    // counts from when Python and torch were up

  bool interpreted() const { return worker.info().executor == WorkerInfo::Executor::interpreter; }

  /// Starts a new process for one that was lost.
  Status reload();
};

/// A result as its file holds it. A name on the command line need not be UTF-8.
std::string to_text(const nlohmann::ordered_json& result);

/// Errors: input-missing if either file is; environment; the task's own.
Result<CompatSession> open_compat(const CompatInput& input, std::chrono::milliseconds limit);

}  // namespace ksplit
