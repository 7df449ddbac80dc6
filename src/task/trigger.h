// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "task/perf.h"

namespace ksplit {

/// Below this ratio to torch a case, or the whole, is worth splitting.
inline constexpr double kTriggerRatio = 0.8;

/// When to split.
///
///   contract   several cases and a geometric mean below 0.8x torch
///   any-case   several cases and the mean or at least one case below 0.8x torch
///   always     whenever there is a case
enum class Trigger { contract, any_case, always };

/// Errors: usage, with the accepted words.
Result<Trigger> parse_trigger(std::string_view word);

struct TriggerDecision {
  bool split = false;
  /// One line for the user without a final period. When skipping, it names the cases that are below
  /// 0.8x all the same (slowest first) and the option that would split them.
  std::string line;
};

TriggerDecision decide_trigger(Trigger trigger, const PerfResult& perf);

}  // namespace ksplit
