// SPDX-License-Identifier: Apache-2.0
#include "analyze/bottleneck.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "traces.h"

namespace ksplit {
namespace {

struct Row {
  TensorSpec x;
  std::optional<double> ratio;
};

TensorSpec transposed(TensorSpec spec) {
  std::reverse(spec.strides.begin(), spec.strides.end());
  spec.contiguous = false;
  return spec;
}

std::vector<Group> groups_of(const std::vector<Row>& rows, bool forced = false) {
  std::vector<Case> cases;
  std::vector<Features> features;
  std::vector<ShapeResult> shapes;
  for (const Row& row : rows) {
    const int index = static_cast<int>(cases.size()) + 1;
    cases.push_back({index, {{"x", row.x}}});
    features.push_back(case_features(cases.back(), {}));
    ShapeResult& shape = shapes.emplace_back();
    shape.case_idx = index;
    shape.speedup_vs_torch = row.ratio;
  }
  return bottleneck_groups(cases, features, summarize_perf("op", 5, 50, shapes), forced);
}

std::map<std::string, std::vector<int>> members(const std::vector<Group>& groups) {
  std::map<std::string, std::vector<int>> result;
  for (const Group& group : groups) result[group.group_id] = group.case_indices;
  return result;
}

TEST(Bottleneck, TheFiveCausesInTheirOrder) {
  const auto groups = groups_of({
      {tensor_spec("float32", {1023}), 0.1},                  // small, though no power of two
      {tensor_spec("float32", {4096, 4096}), 0.1},            // large
      {tensor_spec("float32", {100, 2048}), 0.1},             // unaligned
      {transposed(tensor_spec("bfloat16", {64, 128})), 0.1},  // strided, though bfloat16
      {tensor_spec("bfloat16", {64, 128}), 0.1},              // special
      {tensor_spec("float32", {64, 128}), 0.1},               // none
      {tensor_spec("int8", {1024}), 0.1},                     // special: 1024 is not below 1024
      {tensor_spec("float32", {10000000}), 0.1},              // unaligned: not above 10 M
  });
  EXPECT_EQ(members(groups),
            (std::map<std::string, std::vector<int>>{{"grp_small_shape", {1}},
                                                     {"grp_large_shape", {2}},
                                                     {"grp_unaligned", {3, 8}},
                                                     {"grp_strided_access", {4}},
                                                     {"grp_special_dtype", {5, 7}}}));
  const char* reasons[] = {"kernel_launch_overhead", "register_or_cache_pressure",
                           "unaligned_access", "strided_memory_access", "special_dtype"};
  for (std::size_t i = 0; i < groups.size(); ++i)
    EXPECT_EQ(groups[i].bottleneck_reason, reasons[i]);
}

TEST(Bottleneck, OnlyUsableRatiosBelowTheLimitCount) {
  const TensorSpec small = tensor_spec("float32", {128});
  EXPECT_EQ(members(groups_of({{small, 0.29},
                               {small, 0.3},
                               {small, std::nullopt},
                               {small, std::nan("")},
                               {small, 0.0},
                               {small, -1.0},
                               {small, 0.01}})),
            (std::map<std::string, std::vector<int>>{{"grp_small_shape", {1, 7}}}));
}

TEST(Bottleneck, GroupsRecordWhatTheContractAsksFor) {
  const auto groups =
      groups_of({{tensor_spec("float16", {128}), 0.1}, {tensor_spec("float32", {64}), 0.225}});
  EXPECT_EQ(
      to_json(groups).dump(),
      R"([{"group_id":"grp_small_shape","case_indices":[1,2],)"
      R"("features":{"element_count":"<1024","dtype":"float16, float32"},)"
      R"("bottleneck_reason":"kernel_launch_overhead","baseline_perf":{"speedup_vs_torch":0.15}}])");
}

TEST(Bottleneck, AForcedSplitFindsSomething) {
  const TensorSpec small = tensor_spec("float32", {128});
  const TensorSpec plain = tensor_spec("float32", {64, 128});

  const std::vector<Row> slow = {{small, 0.1}, {small, 0.5}};
  EXPECT_EQ(members(groups_of(slow, true)), members(groups_of(slow, false)));

  const std::vector<Row> middling = {{small, 0.9}, {small, 0.5}};
  EXPECT_TRUE(groups_of(middling).empty());
  const auto below = groups_of(middling, true);
  EXPECT_EQ(members(below), (std::map<std::string, std::vector<int>>{{"grp_small_shape", {2}}}));
  EXPECT_EQ(below[0].features.back(),
            (std::pair<std::string, std::string>{"selected", "forced: below 0.8x torch"}));

  const auto all = groups_of({{small, 1.9}, {plain, 1.5}, {small, std::nullopt}}, true);
  EXPECT_EQ(members(all), (std::map<std::string, std::vector<int>>{{"grp_small_shape", {1, 3}},
                                                                   {"grp_unattributed", {2}}}));
  EXPECT_EQ(all[0].features.back().second, "forced: all cases");
}

TEST(Bottleneck, CasesWithoutTensorsHaveNoCause) {
  EXPECT_TRUE(bottleneck_groups({{1, {}}}, {Features{}}, PerfResult{}, false).empty());
}

}  // namespace
}  // namespace ksplit
