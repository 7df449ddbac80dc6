// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/summary.h"

namespace ksplit {

/// Time by stage, and what is left of the user's budget.
class Stopwatch {
 public:
  explicit Stopwatch(std::optional<double> budget_s) : budget_s_(budget_s) {}

  /// Ends the running stage, if any, and starts `stage`.
  void start(std::string stage) {
    stop();
    stage_ = std::move(stage);
    stage_started_ = Clock::now();
  }

  void stop() {
    if (stage_.empty()) return;
    stages_.push_back({std::exchange(stage_, {}), seconds_since(stage_started_)});
  }

  bool out_of_budget() const { return budget_s_ && seconds_since(started_) > *budget_s_; }
  const std::vector<StageTime>& stages() const { return stages_; }

 private:
  using Clock = std::chrono::steady_clock;

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  std::optional<double> budget_s_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point stage_started_ = Clock::now();
  std::string stage_;
  std::vector<StageTime> stages_;
};

}  // namespace ksplit
