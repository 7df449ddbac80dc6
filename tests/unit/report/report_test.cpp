// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "report/summary.h"
#include "report/text.h"

namespace ksplit {
namespace {

// A run on a sum: one group specialised, one kept on the base, one case without times.
Summary sample_summary() {
  Summary summary;
  summary.op_name = "sum";
  summary.tool_version = "0.1.0";
  summary.created = "2026-01-02T03:04:05Z";
  summary.worker.python = "3.11.7";
  summary.worker.torch = "2.13.0";
  summary.worker.triton = "3.6.0";
  summary.worker.device_kind = "gpu";
  summary.worker.device_name = "NVIDIA H200";
  summary.worker.cores = 132;
  summary.worker.l2_bytes = 62914560;
  summary.worker.driver = "580.1";
  summary.worker.capability = {9, 0};
  summary.profile = "h200";
  summary.objective = "both";
  summary.seed = 7;
  summary.integrated = true;
  summary.cases = {
      {1,
       "grp_small",
       "sum_grp_small",
       true,
       "",
       "",
       {8.0, 2.0, 4.0},
       {16.0, 15.0, 8.0},
       {7.0, 1.0, 3.0}},
      {2, "grp_small", "sum_grp_small", true, "", "", {8.0, 4.0, 2.0}, {16.0, 15.0, 8.0}, {}},
      {3,
       "grp_large",
       "base",
       true,
       "",
       "load out of bounds",
       {70.0, 70.0, 77.0},
       {20.0, 20.5, 10.0},
       {}},
      {4, "", "base", true, "", "", {3.0, 3.0, 0.0}, {}, {}}};
  GroupSummary small;
  small.group_id = "grp_small";
  small.case_indices = {1, 2};
  small.bottleneck_reason = "reduce_small";
  small.specialized = true;
  small.kernel = "sum_kernel_grp_small";
  small.generator = "template/reduce-last";
  small.parameters = {{"BLOCK_RED", 256}, {"num_warps", 4}, {"single_tile", true}};
  small.accuracy = AccuracyClass::strict;
  small.ratio = 0.4;
  small.ratio_upper = 0.5;
  small.baseline_speedup = 0.36;
  small.speedup_vs_torch = 1.0;
  small.candidates = 30, small.accurate = 28, small.confirmed = 1;
  GroupSummary large;
  large.group_id = "grp_large";
  large.parent = "grp_all";
  large.case_indices = {3};
  large.bottleneck_reason = "reduce_large";
  large.reason = "not faster by 1 %: device time 0.998x the base's over 20 blocks";
  large.ratio = 0.998;
  large.baseline_speedup = 1.1;
  large.candidates = 12, large.accurate = 11, large.confirmed = 3;
  summary.groups = {small, large};
  summary.candidates = 42;
  summary.accurate = 39;
  summary.refusals = {{"accuracy", 2}, {"crashed", 1}};
  summary.router_us = 0.412;
  summary.fuzz = FuzzSummary{150, 120, 0, {{"base", 90}, {"sum_grp_small", 30}}};
  summary.noise = NoiseSummary{0.004, 0.002, true};
  summary.stages = {{"plan", 1.5}, {"verify", 20.25}};
  summary.written = {"out/split/split_kernel.py", "out/split/split_summary.json"};
  return summary;
}

// Compares with the stored file; KSPLIT_UPDATE_GOLDEN=1 stores instead.
void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(KSPLIT_GOLDEN_REPORT) + "/" + name;
  if (std::getenv("KSPLIT_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file(path, text));
    return;
  }
  const auto stored = read_file(path);
  ASSERT_TRUE(stored) << "missing; run once with KSPLIT_UPDATE_GOLDEN=1";
  EXPECT_EQ(text, *stored) << "if intended: KSPLIT_UPDATE_GOLDEN=1";
}

TEST(SummaryJson, Golden) {
  expect_golden("split_summary.json", to_json(sample_summary()).dump(2) + "\n");
}

TEST(SummaryJson, FailedIntegration) {
  Summary summary = sample_summary();
  summary.integrated = false;
  summary.failure = "accuracy: case 2: NaN in other places than the reference";
  const auto json = to_json(summary);
  EXPECT_EQ(json["status"], "base");
  EXPECT_EQ(json["failure"], summary.failure);
}

TEST(SummaryJson, InterpreterTimesAreNeverComparedWithTorch) {
  Summary summary = sample_summary();
  summary.worker.executor = WorkerInfo::Executor::interpreter;
  const std::string text = to_json(summary).dump();
  EXPECT_NE(text.find("\"executor\":\"interpreter\""), std::string::npos);
  EXPECT_EQ(text.find("vs_torch"), std::string::npos);
  EXPECT_EQ(text.find("\"torch\":4"), std::string::npos);
  EXPECT_FALSE(overall_of(summary).split_vs_torch);
  EXPECT_FALSE(overall_of(summary).base_vs_torch);
  EXPECT_EQ(summary_text(summary).find("torch"), std::string::npos) << summary_text(summary);
  EXPECT_NE(summary_text(summary).find("interpreter"), std::string::npos);
}

TEST(Overall, MeansLeaveOutCasesWithoutARatio) {
  const Overall overall = overall_of(sample_summary());
  // Case 4's reference does no work: it counts against the base, not against torch.
  EXPECT_NEAR(*overall.split_vs_base, std::pow(4.0 * 2.0 * 1.0 * 1.0, 0.25), 1e-12);
  EXPECT_NEAR(*overall.split_vs_torch, std::cbrt(2.0 * 0.5 * 1.1), 1e-12);
  EXPECT_NEAR(*overall.base_vs_torch, std::cbrt(0.5 * 0.25 * 1.1), 1e-12);
  EXPECT_NEAR(*overall.worst_vs_base, 1.0, 1e-12);
  EXPECT_EQ(*overall.worst_vs_base_case, 3);
  EXPECT_NEAR(*overall.worst_vs_torch, 0.5, 1e-12);
  EXPECT_EQ(*overall.worst_vs_torch_case, 2);
  EXPECT_FALSE(overall_of(Summary{}).split_vs_base);
}

TEST(Text, Golden) {
  expect_golden("summary.txt", summary_text(sample_summary()) + "\n");
}

TEST(Text, Lines) {
  EXPECT_EQ(task_line("sum", 44, 0.314, "splitting"),
            "task      sum · 44 cases · base 0.31x torch (geomean) → splitting");
  EXPECT_EQ(task_line("sum", 1, std::nullopt, "skipped"), "task      sum · 1 case → skipped");
  Group small, other;
  small.group_id = "grp_reduce_last_small";
  small.case_indices = {1, 2, 3};
  other.group_id = "mine";
  other.case_indices = {4};
  EXPECT_EQ(groups_line({small, other}), "groups    reduce_last_small 3 · mine 1");
  EXPECT_EQ(groups_line({}), "groups    none");
  VerifyOutcome base;
  base.cases = {{1, {}, {}, {}}, {2, {}, "kernel k: load", {}}, {5, {}, "kernel k: store", {}}};
  EXPECT_EQ(base_fault_line(base),
            "warning   on 2 cases the base itself misbehaves, first on case 2: "
            "kernel k: load");
  base.cases.resize(1);
  EXPECT_EQ(base_fault_line(base), "");
  EXPECT_EQ(generate_line(212), "generate  212 candidates");
  EXPECT_EQ(wrote_line({"a/x.py", "a/y.json", "b/z"}), "wrote     a/x.py  y.json  b/z");
}

TEST(Text, NothingAdoptedAndNothingRefused) {
  Summary summary = sample_summary();
  summary.accurate = summary.candidates;
  summary.refusals.clear();
  EXPECT_EQ(verify_line(summary), "verify    42 passed");
  summary.groups.erase(summary.groups.begin() + 1);
  EXPECT_EQ(bench_line(summary), "bench     1 group adopted");
  summary.integrated = false;
  summary.failure = "2 of 120 unseen inputs are wrong";
  EXPECT_EQ(result_line(summary),
            "result    the generic kernel stays: 2 of 120 unseen inputs are wrong");
}

TEST(Text, WithoutTimesThereIsNoTimesLine) {
  EXPECT_EQ(times_line(Summary{}), "");
}

}  // namespace
}  // namespace ksplit
