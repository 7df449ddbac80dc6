// SPDX-License-Identifier: Apache-2.0
#include "task/trigger.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ksplit {
namespace {

constexpr std::size_t kNamedCases = 6;

struct SlowCase {
  int index;
  double ratio;
};

/// Cases below the trigger ratio, slowest first.
std::vector<SlowCase> slow_cases(const PerfResult& perf) {
  std::vector<SlowCase> slow;
  for (const ShapeResult& shape : perf.per_shape_results) {
    const auto ratio = usable_ratio(shape);
    if (ratio && *ratio < kTriggerRatio) slow.push_back({shape.case_idx, *ratio});
  }
  std::stable_sort(slow.begin(), slow.end(),
                   [](const SlowCase& a, const SlowCase& b) { return a.ratio < b.ratio; });
  return slow;
}

std::string name_cases(const std::vector<SlowCase>& slow) {
  std::string text;
  for (std::size_t i = 0; i < std::min(slow.size(), kNamedCases); ++i) {
    text += fmt::format("{}case {} ({:.2f}x)", i ? ", " : "", slow[i].index, slow[i].ratio);
  }
  if (slow.size() > kNamedCases) text += fmt::format(" and {} more", slow.size() - kNamedCases);
  return text;
}

std::string overall_text(const PerfResult& perf) {
  if (!perf.speedup_vs_torch) return "no case has a ratio to torch";
  return fmt::format("{:.2f}x torch (geometric mean)", *perf.speedup_vs_torch);
}

std::string skip_line(const PerfResult& perf, const std::vector<SlowCase>& slow) {
  if (perf.total_cases == 0) return "skip: the task has no case";
  const bool single = perf.total_cases == 1;
  std::string line = single ? fmt::format("skip: one case only, {}", overall_text(perf))
                            : fmt::format("skip: {} over {} cases, splitting starts below {}x",
                                          overall_text(perf), perf.total_cases, kTriggerRatio);
  if (slow.empty()) return line;
  return line + fmt::format("; below {}x: {}; `--trigger {}` would split {}", kTriggerRatio,
                            name_cases(slow), single ? "always" : "any-case",
                            slow.size() == 1 ? "it" : "them");
}

}  // namespace

Result<Trigger> parse_trigger(std::string_view word) {
  if (word == "contract") return Trigger::contract;
  if (word == "any-case") return Trigger::any_case;
  if (word == "always") return Trigger::always;
  return fail(ErrorCode::usage, fmt::format("unknown trigger `{}`", word),
              "use contract, any-case or always");
}

TriggerDecision decide_trigger(Trigger trigger, const PerfResult& perf) {
  const std::vector<SlowCase> slow = slow_cases(perf);
  const bool below = perf.speedup_vs_torch && *perf.speedup_vs_torch < kTriggerRatio;
  bool split = perf.total_cases > 1 && below;
  if (trigger == Trigger::any_case) split = perf.total_cases > 1 && (below || !slow.empty());
  if (trigger == Trigger::always) split = perf.total_cases > 0;
  if (!split) return {false, skip_line(perf, slow)};

  std::string line = fmt::format("split: {} over {} {}", overall_text(perf), perf.total_cases,
                                 perf.total_cases == 1 ? "case" : "cases");
  if (!below && !slow.empty()) {
    line += fmt::format("; below {}x: {}", kTriggerRatio, name_cases(slow));
  }
  return {true, std::move(line)};
}

}  // namespace ksplit
