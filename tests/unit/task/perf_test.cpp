// SPDX-License-Identifier: Apache-2.0
#include "task/perf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files.h"

namespace ksplit {
namespace {

ShapeResult with_ratio(int index, std::optional<double> ratio) {
  ShapeResult shape;
  shape.case_idx = index;
  shape.speedup_vs_torch = ratio;
  return shape;
}

Argument tensor(const char* name, const char* dtype, std::vector<std::int64_t> shape) {
  TensorSpec spec;
  spec.dtype = dtype;
  spec.shape = std::move(shape);
  return {name, spec};
}

Task sum_task() {
  Task task;
  task.op_name = "sum";
  task.cases = {
      {1, {tensor("x", "float32", {128}), {"dim", Literal{0}}, {"keepdim", Literal{false}}}},
      {2,
       {tensor("x", "float16", {4, 8}),
        {"dim", Literal{Literal::List{0, 1}}},
        {"keepdim", Literal{true}}}}};
  return task;
}

Error error_of(const std::string& text) {
  const auto result = parse_perf(text, "perf.json");
  return result ? Error{ErrorCode::usage, "parsed"} : result.error();
}

TEST(Perf, OnlyFinitePositiveRatiosTakePartInTheMean) {
  auto failed = with_ratio(7, 5.0);
  failed.passed = false;
  const PerfResult result = summarize_perf(
      "sum", 5, 50,
      {with_ratio(1, 0.5), with_ratio(2, 2.0), with_ratio(3, std::nan("")), with_ratio(4, HUGE_VAL),
       with_ratio(5, 0.0), with_ratio(6, -1.0), failed, with_ratio(8, std::nullopt)});
  EXPECT_EQ(result.total_cases, 8);
  EXPECT_EQ(result.passed_cases, 7);
  EXPECT_EQ(result.failed_cases, 1);
  EXPECT_EQ(result.nan_indices, std::vector{3});
  EXPECT_EQ(result.inf_indices, std::vector{4});
  EXPECT_EQ(result.zero_indices, std::vector{5});
  EXPECT_EQ(result.negative_indices, std::vector{6});
  EXPECT_EQ(result.none_indices, std::vector{8});
  EXPECT_DOUBLE_EQ(result.speedup_vs_torch.value(), 1.0);
  EXPECT_EQ(result.ratio(2), 2.0);
  EXPECT_EQ(result.ratio(5), std::nullopt);
  EXPECT_EQ(result.ratio(7), std::nullopt);
  EXPECT_EQ(result.ratio(99), std::nullopt);
}

TEST(Perf, NoRatioNoMean) {
  EXPECT_EQ(summarize_perf("view", 5, 50, {with_ratio(1, 0.0)}).speedup_vs_torch, std::nullopt);
  EXPECT_EQ(summarize_perf("none", 5, 50, {}).speedup_vs_torch, std::nullopt);
}

TEST(Perf, MeansOfTimesAndOperators) {
  ShapeResult one = with_ratio(1, 1.0), two = with_ratio(2, 1.0);
  one.framework = {2.0, 10.0, {{"add", 4.0}}};
  two.framework = {4.0, std::nullopt, {{"mul", 2.0}}};
  const PerfResult result = summarize_perf("op", 1, 1, {one, two});
  EXPECT_EQ(result.framework.avg_latency_ms, 3.0);
  EXPECT_EQ(result.framework.peak_memory_mb, 10.0);
  EXPECT_EQ(result.framework.operators,
            (std::map<std::string, double>{{"add", 2.0}, {"mul", 1.0}}));
  EXPECT_EQ(result.implementation.avg_latency_ms, std::nullopt);
}

TEST(Perf, WritesThePublishedSchemaInItsOrder) {
  ShapeResult shape = with_ratio(1, 0.123456789);
  shape.input_desc = describe_inputs(sum_task().cases[0]);
  shape.framework = {0.001, 1.5, {}};
  const PerfResult result = summarize_perf("sum", 5, 50, {shape, with_ratio(2, std::nan(""))});
  EXPECT_EQ(
      to_json(result).dump(),
      R"({"op_name":"sum","warmup":5,"repeats":50,"total_cases":2,"passed_cases":2,"failed_cases":0,)"
      R"("nan_indices":[2],"inf_indices":[],"zero_indices":[],"negative_indices":[],"none_indices":[],)"
      R"("framework":{"avg_latency_ms":0.001,"peak_memory_mb":1.5,"operators":{}},)"
      R"("implementation":{"avg_latency_ms":null,"peak_memory_mb":null,"operators":{}},)"
      R"("speedup_vs_torch":0.123457,"per_shape_results":[)"
      R"({"case_idx":1,"input_desc":[{"type":"tensor","shape":[128],"dtype":"torch.float32"},)"
      R"({"type":"scalar","value":0},{"type":"scalar","value":false}],"status":"pass",)"
      R"("framework":{"avg_latency_ms":0.001,"peak_memory_mb":1.5},)"
      R"("implementation":{"avg_latency_ms":null,"peak_memory_mb":null},)"
      R"("speedup_vs_torch":0.123457,"error_type":null,"error_msg":null},)"
      R"({"case_idx":2,"input_desc":[],"status":"pass",)"
      R"("framework":{"avg_latency_ms":null,"peak_memory_mb":null},)"
      R"("implementation":{"avg_latency_ms":null,"peak_memory_mb":null},)"
      R"("speedup_vs_torch":null,"error_type":null,"error_msg":null}]})");
}

TEST(Perf, ReadsWhatItWrites) {
  ShapeResult shape = with_ratio(1, 0.5);
  shape.input_desc = describe_inputs(sum_task().cases[1]);
  shape.implementation = {0.25, 3.0, {}};
  ShapeResult failed = with_ratio(2, std::nullopt);
  failed.passed = false;
  failed.error_type = "RuntimeError";
  failed.error_msg = "out of \"memory\"";
  const auto written = to_json(summarize_perf("sum", 5, 50, {shape, failed}));
  const auto read = parse_perf(written.dump(2), "perf.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->per_shape_results[0].input_desc, shape.input_desc);
}

TEST(Perf, ToleratesNullsGapsAndPythonsFloats) {
  const auto result = parse_perf(R"({
    "op_name": null, "total_cases": 4, "framework": null, "speedup_vs_torch": 9.0, "extra": [1],
    "per_shape_results": [
      {"case_idx": 1, "speedup_vs_torch": NaN, "error_msg": "NaN, -Infinity \" stay"},
      {"speedup_vs_torch": -Infinity, "framework": {"avg_latency_ms": Infinity}},
      {"case_idx": 4, "status": "pass", "implementation": null, "speedup_vs_torch": 0.25}]})",
                                 "perf.json");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->total_cases, 4);
  EXPECT_EQ(result->nan_indices, std::vector{1});
  EXPECT_EQ(result->inf_indices, std::vector{2});
  EXPECT_EQ(result->per_shape_results[0].error_msg, "NaN, -Infinity \" stay");
  EXPECT_EQ(result->speedup_vs_torch, 0.25) << "recomputed from the cases";
}

TEST(Perf, TotalsAloneAreEnough) {
  const auto result = parse_perf(R"({"total_cases": 3, "speedup_vs_torch": 0.5})", "perf.json");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->speedup_vs_torch, 0.5);
  EXPECT_EQ(parse_perf(R"({"total_cases": 3, "speedup_vs_torch": NaN})", "f")->speedup_vs_torch,
            std::nullopt);
}

TEST(Perf, SyntaxErrorsHaveTheirPlace) {
  const Error error = error_of("{\n  \"op_name\": NaN,\n  \"warmup\": ]\n}");
  EXPECT_EQ(error.code, ErrorCode::input_malformed);
  EXPECT_EQ(error.at, (SourceSpan{"perf.json", 3, 13}));
  EXPECT_EQ(error_of("").code, ErrorCode::input_malformed);
  EXPECT_EQ(error_of("]").at, (SourceSpan{"perf.json", 1, 1}));
  EXPECT_EQ(error_of("[]").message, "the perf result is not a JSON object");
}

TEST(Perf, WrongFieldsAreNamedByPath) {
  const std::pair<const char*, const char*> table[] = {
      {R"({"warmup": -1})", "`warmup` is number `-1`, expected a count"},
      {R"({"total_cases": 1e99})", "`total_cases` is number `1e+99`, expected a count"},
      {R"({"total_cases": 99999999999})",
       "`total_cases` is number `99999999999`, expected a count"},
      {R"({"per_shape_results": {}})", "`per_shape_results` is object `{}`, expected a list"},
      {R"({"per_shape_results": [7]})", "`per_shape_results[0]` is not an object"},
      {R"({"per_shape_results": [{"speedup_vs_torch": "fast"}]})",
       "`per_shape_results[0].speedup_vs_torch` is string `\"fast\"`, expected a number or null"},
      {R"({"per_shape_results": [{"status": "maybe"}]})",
       "`per_shape_results[0].status` is string `\"maybe\"`, expected \"pass\" or \"fail\""},
      {R"({"per_shape_results": [{"framework": {"avg_latency_ms": []}}]})",
       "`per_shape_results[0].framework.avg_latency_ms` is array `[]`, expected a number or null"},
      {R"({"per_shape_results": [{"input_desc": [{"type": "tensor"}]}]})",
       "`per_shape_results[0].input_desc[0]` is not a tensor with `shape`"},
      {R"({"per_shape_results": [{"input_desc": [{"type": "blob"}]}]})",
       "`per_shape_results[0].input_desc[0]` is not of `type` \"tensor\" or \"scalar\""},
      {R"({"per_shape_results": [{"case_idx": 2}, {"case_idx": 2}]})",
       "`per_shape_results` has case 2 twice"},
  };
  for (const auto& [text, message] : table) {
    const Error error = error_of(text);
    EXPECT_EQ(error.code, ErrorCode::input_malformed) << text;
    EXPECT_EQ(error.message, message);
    EXPECT_EQ(error.at.value_or(SourceSpan{}).file, "perf.json");
  }
}

std::string mismatch(const std::string& shapes) {
  const auto perf =
      parse_perf(R"({"total_cases": 2, "per_shape_results": [)" + shapes + "]}", "perf.json");
  if (!perf) return "malformed: " + perf.error().message;
  const auto status = check_perf_belongs(*perf, sum_task(), "perf.json");
  if (status) return "";
  EXPECT_EQ(status.error().code, ErrorCode::input_mismatch);
  EXPECT_FALSE(status.error().hint.empty());
  return status.error().message;
}

TEST(PerfBelongs, AcceptsItsOwnCasesHoweverTheScalarsAreWritten) {
  EXPECT_EQ(mismatch(""), "");
  EXPECT_EQ(mismatch(R"({"case_idx": 2})"), "");
  const std::string x = R"({"type": "tensor", "shape": [4, 8], "dtype": "torch.float16"})";
  for (const char* dim : {"[0, 1]", "\"(0, 1)\"", "\"[0,1]\""}) {
    EXPECT_EQ(mismatch(R"({"case_idx": 2, "input_desc": [)" + x +
                       R"(, {"type": "scalar", "value": )" + dim + "}]}"),
              "");
  }
  EXPECT_EQ(mismatch(R"({"case_idx": 1, "input_desc": [{"type": "tensor", "shape": [128]},
                         {"type": "scalar", "value": 0.0}]})"),
            "");
}

TEST(PerfBelongs, NamesTheCaseThatDiffers) {
  EXPECT_EQ(
      mismatch(
          R"({"case_idx": 1, "input_desc": [{"type": "tensor", "shape": [256], "dtype": "torch.float32"}]})"),
      "the perf result is from other cases: in case 1, `x` is float32[256] in the file, "
      "float32[128] in the task");
  EXPECT_EQ(
      mismatch(
          R"({"case_idx": 2, "input_desc": [{"type": "tensor", "shape": [4, 8], "dtype": "float32"}]})"),
      "the perf result is from other cases: in case 2, `x` is float32[4, 8] in the file, "
      "float16[4, 8] in the task");
  EXPECT_EQ(
      mismatch(R"({"case_idx": 1, "input_desc": [{"type": "tensor", "shape": [128]},
                         {"type": "scalar", "value": 1}]})"),
      "the perf result is from other cases: in case 1, `dim` is 1 in the file, 0 in the task");
  EXPECT_EQ(mismatch(R"({"case_idx": 1, "input_desc": [{"type": "scalar", "value": null}]})"),
            "the perf result is from other cases: in case 1, `x` is None in the file, float32[128] "
            "in the task");
  EXPECT_EQ(mismatch(R"({"case_idx": 3})"), "the perf result has a case 3, the task has none");
}

TEST(PerfBelongs, CountsCases) {
  const auto perf = parse_perf(R"({"total_cases": 10})", "perf.json");
  ASSERT_TRUE(perf);
  EXPECT_EQ(check_perf_belongs(*perf, sum_task(), "perf.json").error().message,
            "the perf result is about 10 cases, the task has 2");
}

TEST(Perf, OptimizedResultComesFirst) {
  const auto folder = std::filesystem::temp_directory_path() / "ksplit_perf_test";
  std::filesystem::remove_all(folder);
  EXPECT_EQ(find_perf(folder), std::nullopt);
  ASSERT_TRUE(write_file(folder / "output" / "perf_result.json", "{}"));
  EXPECT_EQ(find_perf(folder), folder / "output" / "perf_result.json");
  ASSERT_TRUE(write_file(folder / "output" / "optimized_perf_result.json", "{}"));
  EXPECT_EQ(find_perf(folder), folder / "output" / "optimized_perf_result.json");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(read_perf(folder / "none.json").error().code, ErrorCode::input_missing);
}

TEST(VerifyResult, FileNameAndSchema) {
  EXPECT_EQ(verify_result_file("triton_ascend_impl"), "verify_result.json");
  EXPECT_EQ(verify_result_file("triton_grp_small_shape"), "verify_result_grp_small_shape.json");
  EXPECT_EQ(verify_result_file("mine"), "verify_result_mine.json");
  const VerifyResult result{
      "sum", 2, 1, 1, {{2, describe_inputs(sum_task().cases[1]), "AccuracyError", "off"}}};
  EXPECT_EQ(
      to_json(result).dump(),
      R"({"op_name":"sum","total_cases":2,"passed_cases":1,"failed_cases":1,"failures":[)"
      R"({"case_idx":2,"input_desc":[{"type":"tensor","shape":[4,8],"dtype":"torch.float16"},)"
      R"({"type":"scalar","value":[0,1]},{"type":"scalar","value":true}],)"
      R"("error_type":"AccuracyError","error_msg":"off"}]})");
}

}  // namespace
}  // namespace ksplit
