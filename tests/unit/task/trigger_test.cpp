// SPDX-License-Identifier: Apache-2.0
#include "task/trigger.h"

#include <gtest/gtest.h>

namespace ksplit {
namespace {

PerfResult perf(const std::vector<std::optional<double>>& ratios) {
  std::vector<ShapeResult> shapes;
  for (const auto& ratio : ratios) {
    ShapeResult& shape = shapes.emplace_back();
    shape.case_idx = static_cast<int>(shapes.size());
    shape.speedup_vs_torch = ratio;
  }
  return summarize_perf("op", 5, 50, shapes);
}

TEST(Trigger, Decisions) {
  struct Row {
    const char* name;
    std::vector<std::optional<double>> ratios;
    bool contract, any_case, always;
  };
  const Row table[] = {
      {"slow", {0.5, 0.6}, true, true, true},
      {"at the limit", {0.8, 0.8}, false, false, true},
      {"a good mean hides a slow case", {2.0, 0.7}, false, true, true},
      {"one case", {0.1}, false, false, true},
      {"no case", {}, false, false, false},
      {"a view has no ratio", {0.0, std::nullopt}, false, false, true},
      {"the view is left out of the mean", {0.0, 0.5}, true, true, true},
  };
  for (const Row& row : table) {
    EXPECT_EQ(decide_trigger(Trigger::contract, perf(row.ratios)).split, row.contract) << row.name;
    EXPECT_EQ(decide_trigger(Trigger::any_case, perf(row.ratios)).split, row.any_case) << row.name;
    EXPECT_EQ(decide_trigger(Trigger::always, perf(row.ratios)).split, row.always) << row.name;
  }
}

TEST(Trigger, SkipLineNamesTheSlowCasesAndTheOption) {
  const auto line = [](const std::vector<std::optional<double>>& ratios) {
    return decide_trigger(Trigger::contract, perf(ratios)).line;
  };
  EXPECT_EQ(line({4.0, 0.151, 4.0, 0.08, 4.0, 4.0}),
            "skip: 1.21x torch (geometric mean) over 6 cases, splitting starts below 0.8x; "
            "below 0.8x: case 4 (0.08x), case 2 (0.15x); `--trigger any-case` would split them");
  EXPECT_EQ(line({1.0, 1.0}),
            "skip: 1.00x torch (geometric mean) over 2 cases, splitting starts below 0.8x");
  EXPECT_EQ(line({0.5}),
            "skip: one case only, 0.50x torch (geometric mean); below 0.8x: case 1 (0.50x); "
            "`--trigger always` would split it");
  EXPECT_EQ(line({}), "skip: the task has no case");
  EXPECT_EQ(line({std::nullopt, 0.0}),
            "skip: no case has a ratio to torch over 2 cases, splitting starts below 0.8x");
}

TEST(Trigger, LongListsAreCut) {
  const auto line =
      decide_trigger(Trigger::contract, perf({0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 99, 99}))
          .line;
  EXPECT_NE(line.find("case 6 (0.70x) and 2 more;"), std::string::npos) << line;
}

TEST(Trigger, SplitLine) {
  EXPECT_EQ(decide_trigger(Trigger::contract, perf({0.5, 0.5})).line,
            "split: 0.50x torch (geometric mean) over 2 cases");
  EXPECT_EQ(decide_trigger(Trigger::any_case, perf({2.0, 0.7})).line,
            "split: 1.18x torch (geometric mean) over 2 cases; below 0.8x: case 2 (0.70x)");
}

TEST(Trigger, Words) {
  EXPECT_EQ(parse_trigger("any-case").value(), Trigger::any_case);
  EXPECT_EQ(parse_trigger("contract").value(), Trigger::contract);
  EXPECT_EQ(parse_trigger("always").value(), Trigger::always);
  EXPECT_EQ(parse_trigger("sometimes").error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace ksplit
