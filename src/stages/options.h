// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "judge/adopt.h"
#include "task/trigger.h"

namespace ksplit {

/// Everything a run depends on, as the command line gives it.
struct Options {
  std::filesystem::path base;  // the generic kernel
  std::filesystem::path task;  // reference and cases
  std::filesystem::path work_directory;
  std::optional<std::filesystem::path> perf;  // none: the contract's places, else measured
  std::filesystem::path out;
  std::string device = "cpu";                     // "cpu", "cuda", "cuda:N", "npu"
  std::string profile;                            // name or file; empty: by device
  std::vector<std::filesystem::path> experience;  // rule files, tried before the built-in ones
  Trigger trigger = Trigger::contract;
  Objective objective = Objective::both;
  std::string op_name;  // empty: the task's
  std::optional<double> budget_s;
  std::uint64_t seed = 0;
  int jobs = 0;        // worker processes that verify side by side; 0: by core count
  std::string python;  // empty: found
};

}  // namespace ksplit
