// SPDX-License-Identifier: Apache-2.0
#include "analyze/grouping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "core/files.h"
#include "traces.h"

namespace ksplit {
namespace {

using Members = std::vector<std::pair<std::string, std::vector<int>>>;

struct Sum {
  std::vector<std::int64_t> shape;
  int dim;
  const char* dtype = "float32";
};

Task sum_task(const std::vector<Sum>& cases) {
  std::vector<std::vector<Argument>> lists;
  for (const Sum& one : cases) {
    lists.push_back(
        {{"x", tensor_spec(one.dtype, one.shape)}, {"dim", one.dim}, {"keepdim", false}});
  }
  return task_of("sum", lists);
}

struct Add {
  std::vector<std::int64_t> x, y;
};

Task add_task(const std::vector<Add>& cases) {
  std::vector<std::vector<Argument>> lists;
  for (const Add& one : cases) {
    lists.push_back({{"x", tensor_spec("float32", one.x)},
                     {"y", tensor_spec("float32", one.y)},
                     {"alpha", 1.0}});
  }
  return task_of("add", lists);
}

template <class Trace>
Result<std::vector<Group>> groups_of(const Task& task, Trace trace, const PerfResult& perf = {},
                                     bool forced = false, const std::string& user_rules = {}) {
  std::vector<ReferenceGraph> graphs;
  for (const Case& sample : task.cases) graphs.push_back(trace(sample));
  KSPLIT_TRY(RuleSet rules, parse_rules(user_rules, "mine.toml"));
  KSPLIT_TRY(RuleSet built_in, load_rules({}));
  std::move(built_in.rules.begin(), built_in.rules.end(), std::back_inserter(rules.rules));
  return make_groups(task, graphs, perf, rules, forced);
}

Members members(const Result<std::vector<Group>>& groups) {
  if (!groups) return {{"error: " + groups.error().message, {}}};
  Members list;
  for (const Group& group : *groups) list.emplace_back(group.group_id, group.case_indices);
  return list;
}

TEST(Grouping, ReductionsByAxisPositionSizeAndWidth) {
  const auto groups = groups_of(sum_task({{{8, 64}, 1},
                                          {{8, 64}, 1},
                                          {{8, 64}, 1, "float16"},
                                          {{8, 64}, 1, "bfloat16"},
                                          {{8, 300}, 1},
                                          {{9, 4096}, -1},
                                          {{8, 64}, 0},
                                          {{64, 8}, 0}}),
                                sum_trace);
  EXPECT_EQ(members(groups), (Members{{"grp_reduce_last_small_bfloat16_float16", {3, 4}},
                                      {"grp_reduce_last_small_float32", {1, 2}},
                                      {"grp_reduce_last_medium", {5, 6}},
                                      {"grp_reduce_non_last_small", {7, 8}}}));
  EXPECT_EQ(groups->at(0).features,
            (std::vector<std::pair<std::string, std::string>>{{"axis_position", "last"},
                                                              {"reduce_size", "<256"},
                                                              {"dtype", "bfloat16 or float16"},
                                                              {"kernel", "reduce-last"}}));
  EXPECT_EQ(groups->at(0).bottleneck_reason, "experience:reduction");
}

TEST(Grouping, BlockSizesFollowTheCasesOfTheGroup) {
  const auto groups =
      groups_of(sum_task({{{256, 8}, 0}, {{257, 8}, 0}, {{9, 8}, 1}, {{8, 9}, 1}}), sum_trace);
  ASSERT_EQ(members(groups),
            (Members{{"grp_reduce_last_small", {3, 4}}, {"grp_reduce_non_last_medium", {1, 2}}}));
  using Blocks = std::vector<std::map<std::string, std::int64_t>>;
  EXPECT_EQ(groups->at(0).blocks, (Blocks{{{"BLOCK_RED", 1024}}}));
  EXPECT_EQ(groups->at(1).blocks, (Blocks{{{"BLOCK_RED", 64}, {"BLOCK_INNER", 64}},
                                          {{"BLOCK_RED", 128}, {"BLOCK_INNER", 32}}}));
}

TEST(Grouping, ALoneCaseJoinsItsNearestNeighbour) {
  struct Row {
    const char* name;
    std::vector<Sum> cases;
    Members expected;
  };
  const Row table[] = {
      {"another dtype before another size",
       {{{8, 64}, 1},
        {{8, 65}, 1},
        {{8, 300}, 1, "float16"},
        {{8, 301}, 1, "float16"},
        {{8, 64}, 1, "float16"}},
       {{"grp_reduce_last_small", {1, 2, 5}}, {"grp_reduce_last_medium", {3, 4}}}},
      {"a neighbouring size, and the id says so",
       {{{8, 300}, 1}, {{8, 301}, 1}, {{8, 5000}, 1}},
       {{"grp_reduce_last_medium_large", {1, 2, 3}}}},
      {"two lone cases of two dtypes",
       {{{8, 64}, 1}, {{8, 64}, 1, "float16"}},
       {{"grp_reduce_last_small", {1, 2}}}},
      {"never across the axis position",
       {{{8, 64}, 1}, {{8, 64}, 1}, {{8, 64}, 0}},
       {{"grp_reduce_last_small", {1, 2}}, {"grp_reduce_non_last_small", {3}}}},
      {"never past a neighbouring size",
       {{{8, 64}, 1}, {{8, 64}, 1}, {{8, 5000}, 1}},
       {{"grp_reduce_last_small", {1, 2}}, {"grp_reduce_last_large", {3}}}},
  };
  for (const Row& row : table)
    EXPECT_EQ(members(groups_of(sum_task(row.cases), sum_trace)), row.expected) << row.name;
}

TEST(Grouping, BroadcastByRankAndRepeatedDimensions) {
  const auto groups = groups_of(add_task({{{4, 8}, {4, 8}},
                                          {{128}, {128}},
                                          {{4, 8}, {4, 1}},
                                          {{5, 8}, {5, 1}},
                                          {{4, 8}, {8}},
                                          {{4, 8}, {1, 8}},
                                          {{2, 4, 8}, {2, 1, 8}},
                                          {{3, 4, 8}, {3, 1, 8}},
                                          {{2, 4, 8}, {4, 8}},
                                          {{3, 4, 8}, {1, 4, 8}}}),
                                add_trace);
  EXPECT_EQ(members(groups), (Members{{"grp_flat", {1, 2}},
                                      {"grp_broadcast_2d_dim1", {3, 4}},
                                      {"grp_broadcast_2d_dim0", {5, 6}},
                                      {"grp_broadcast_3d_dim0", {9, 10}},
                                      {"grp_broadcast_3d_dim1", {7, 8}}}));
  EXPECT_EQ(groups->at(0).kernel, "flat");
  EXPECT_EQ(groups->at(0).blocks.size(), 3u);
  EXPECT_EQ(groups->at(1).kernel, "broadcast-2d-dim1");
  EXPECT_EQ(groups->at(4).kernel, "broadcast-nd");
}

TEST(Grouping, WhichOperandIsRepeatedTellsGroupsApart) {
  const auto groups =
      groups_of(add_task({{{4, 8}, {4, 1}}, {{5, 8}, {5, 1}}, {{4, 1}, {4, 8}}, {{5, 1}, {5, 8}}}),
                add_trace);
  EXPECT_EQ(members(groups), (Members{{"grp_broadcast_2d_dim1_left", {3, 4}},
                                      {"grp_broadcast_2d_dim1_right", {1, 2}}}));
}

TEST(Grouping, ALonePatternJoinsOneItAgreesWith) {
  struct Row {
    const char* name;
    std::vector<Add> cases;
    Members expected;
  };
  const Row table[] = {
      {"a dimension of one element fits both ways",
       {{{1, 8, 4, 4}, {8, 1, 1}}, {{1, 9, 4, 4}, {9, 1, 1}}, {{2, 8, 4, 4}, {8, 1, 1}}},
       {{"grp_broadcast_4d_dim0_2_3_dim2_3", {1, 2, 3}}}},
      {"once decided it fits one way",
       {{{1, 8, 4}, {8, 1}}, {{2, 8, 4}, {2, 8, 1}}, {{2, 8, 4}, {8, 1}}},
       {{"grp_broadcast_3d_dim0_2", {3}}, {"grp_broadcast_3d_dim2", {1, 2}}}},
      {"other patterns stand alone",
       {{{4, 5, 6}, {4, 1, 6}}, {{4, 5, 6}, {5, 1}}},
       {{"grp_broadcast_3d_dim0_2", {2}}, {"grp_broadcast_3d_dim1", {1}}}},
      {"equal levels join across ranks and kernels",
       {{{4, 30}, {30}}, {{5, 30}, {1, 30}}, {{4, 5, 6}, {5, 6}}},
       {{"grp_broadcast_2d_3d_dim0", {1, 2, 3}}}},
      {"but not with the other operand repeated",
       {{{4, 30}, {30}}, {{5, 30}, {1, 30}}, {{5, 6}, {4, 5, 6}}},
       {{"grp_broadcast_2d_dim0", {1, 2}}, {"grp_broadcast_3d_dim0", {3}}}},
  };
  for (const Row& row : table) {
    EXPECT_EQ(members(groups_of(add_task(row.cases), add_trace)), row.expected) << row.name;
  }
}

TEST(Grouping, ALoneCasePrefersAnother) {
  const auto groups = groups_of(
      sum_task({{{40, 8}, 0}, {{50, 8}, 0}, {{2000, 8}, 0}, {{6000, 8}, 0, "float16"}}), sum_trace);
  EXPECT_EQ(members(groups), (Members{{"grp_reduce_non_last_small", {1, 2}},
                                      {"grp_reduce_non_last_medium_large", {3, 4}}}));
}

TEST(Grouping, RulesHitOnlyTheirOperators) {
  const Task same = add_task({{{4, 8}, {4, 8}}, {{4, 8}, {4, 8}}});
  EXPECT_EQ(members(groups_of(same, add_trace)), Members{}) << "operand shapes do not differ";
  const Task one = sum_task({{{4, 8}, 1}});
  EXPECT_EQ(members(groups_of(one, sum_trace)), Members{}) << "a reduction needs several cases";
  const Task two = sum_task({{{4, 8}, 1}, {{4, 9}, 1}});
  EXPECT_EQ(members(groups_of(two, cumsum_trace)), Members{});
}

TEST(Grouping, AReductionWithinAnotherOperatorHits) {
  const Task task = sum_task({{{4, 8}, 1}, {{4, 9}, 1}});
  const auto groups = groups_of(task, [](const Case& sample) {
    return single("aten._softmax.default", {input(0), constant(1), constant(false)},
                  *sample.inputs[0].tensor());
  });
  EXPECT_EQ(members(groups), (Members{{"grp_reduce_last_small", {1, 2}}}));
}

TEST(Grouping, EmptyTensorsStayOnTheBase) {
  const Task task = sum_task({{{4, 8}, 1}, {{4, 9}, 1}, {{4, 8, 0}, 1}});
  EXPECT_EQ(members(groups_of(task, sum_trace)), (Members{{"grp_reduce_last_small", {1, 2}}}));
}

TEST(Grouping, ALibrarysOwnFallbackIsTheBottleneck) {
  const Task task = sum_task({{{16}, 0}, {{4, 8}, 1}});
  ShapeResult slow;
  slow.case_idx = 1;
  slow.speedup_vs_torch = 0.1;
  const PerfResult perf = summarize_perf("cumsum", 5, 50, {slow});
  EXPECT_EQ(members(groups_of(task, cumsum_trace, perf)), (Members{{"grp_small_shape", {1}}}));
  EXPECT_EQ(members(groups_of(task, cumsum_trace, {}, true)),
            (Members{{"grp_small_shape", {1, 2}}}));
}

const char* const kUserRule = R"(
[[rule]]
name = "scan"
prefix = "scan"
hit = { contains = ["cumsum"] }
cases = { element_count = "> 100" }
dimension = [{ name = "width", feature = "dtype" }]
kernel = [{ family = "scan", when = { rank = 2 } }]
)";

TEST(Grouping, AUsersRuleExtendsTheTool) {
  const Task task = sum_task({{{16, 16}, 0}, {{16, 16}, 1, "float16"}, {{8}, 0}});
  const auto groups = groups_of(task, cumsum_trace, {}, true, kUserRule);
  EXPECT_EQ(members(groups), (Members{{"grp_scan_float16", {2}}, {"grp_scan_float32", {1}}}))
      << "what the rule leaves is not forced into groups";
  EXPECT_EQ(groups->at(0).kernel, "scan");
}

/// The first TOML block of docs/experience.md.
std::string documented_rule() {
  const std::string page =
      read_file(std::filesystem::path(KSPLIT_SOURCE_DIR) / "docs" / "experience.md").value_or("");
  const std::string fence = "```toml\n";
  const std::size_t begin = page.find(fence);
  if (begin == std::string::npos) return "no block";
  const std::size_t end = page.find("```", begin + fence.size());
  return page.substr(begin + fence.size(), end - begin - fence.size());
}

TEST(Grouping, TheDocumentedRuleDoesWhatThePageSays) {
  const Task both = sum_task({{{16}, 0}, {{17}, 0}, {{5000}, 0}, {{6000}, 0}});
  EXPECT_EQ(members(groups_of(both, cumsum_trace, {}, false, documented_rule())),
            (Members{{"grp_scan_short", {1, 2}}, {"grp_scan_long", {3, 4}}}));
  const Task lone = sum_task({{{16}, 0}, {{17}, 0}, {{5000}, 0}});
  EXPECT_EQ(members(groups_of(lone, cumsum_trace, {}, false, documented_rule())),
            (Members{{"grp_scan_short_long", {1, 2, 3}}}));
}

TEST(Grouping, ARuleWithoutAKernelForItsCaseIsAnError) {
  const Task task = sum_task({{{16, 16}, 0}, {{16, 16, 2}, 1}});
  const auto groups = groups_of(task, cumsum_trace, {}, false, kUserRule);
  ASSERT_FALSE(groups);
  EXPECT_EQ(groups.error().code, ErrorCode::input_malformed);
  EXPECT_EQ(groups.error().message, "rule `scan` takes case 2 and has no kernel for it");
}

TEST(Grouping, TwoGroupsWithOneIdAreAnError) {
  const std::string same_label =
      "[[rule]]\nname = \"a\"\nprefix = \"p\"\nhit = { contains = [\"cumsum\"] }\n"
      "kernel = [{ family = \"one\", when = { rank = 1 } }, { family = \"two\" }]\n";
  const Task task = sum_task({{{16, 16}, 0}, {{16}, 0}});
  EXPECT_EQ(members(groups_of(task, cumsum_trace, {}, false, same_label)),
            (Members{{"error: the rules give two groups the id `grp_p`", {}}}));
}

TEST(Grouping, BaselineIsTheGeometricMeanOfTheGroup) {
  std::vector<ShapeResult> shapes(3);
  for (int i = 0; i < 3; ++i) shapes[static_cast<std::size_t>(i)].case_idx = i + 1;
  shapes[0].speedup_vs_torch = 0.5;
  shapes[1].speedup_vs_torch = 2.0;
  const Task task = sum_task({{{4, 8}, 1}, {{4, 9}, 1}, {{4, 10}, 1}});
  const auto groups = groups_of(task, sum_trace, summarize_perf("sum", 5, 50, shapes));
  EXPECT_DOUBLE_EQ(groups->at(0).baseline_speedup.value(), 1.0);
  EXPECT_EQ(groups_of(task, sum_trace)->at(0).baseline_speedup, std::nullopt);
}

}  // namespace
}  // namespace ksplit
