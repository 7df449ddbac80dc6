// SPDX-License-Identifier: Apache-2.0
#include "worker/decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace ksplit {
namespace {

using nlohmann::json;

// One answer of each operation with every field. The tests below take it apart.

json tensor() {
  return {{"dtype", "float16"},  {"shape", {2, 3}}, {"strides", {3, 1}},
          {"storage_offset", 4}, {"alignment", 8},  {"contiguous", true}};
}

json arguments() {
  return json::array({{{"name", "x"}, {"kind", "tensor"}, {"tensor", tensor()}},
                      {{"name", "dim"}, {"kind", "constant"}, {"value", -1}},
                      {{"name", "f"}, {"kind", "opaque"}, {"repr", "<function>"}}});
}

json hello_answer() {
  return {{"protocol", 1},
          {"python", "3.11.7"},
          {"torch", "2.13.0"},
          {"triton", "3.6.0"},
          {"device",
           {{"kind", "gpu"},
            {"name", "NVIDIA H200"},
            {"cores", 132},
            {"l2_bytes", 62914560},
            {"driver", "580.1"},
            {"capability", {9, 0}}}},
          {"executor", "triton"}};
}

json load_answer() {
  return {{"op_name", "sum"},
          {"parameters",
           {{{"name", "x"}, {"kind", "positional"}, {"default", nullptr}},
            {{"name", "dim"}, {"kind", "keyword_only"}, {"default", "-1"}}}},
          {"cases", {{{"index", 1}, {"inputs", arguments()}}}},
          {"reference_runs_in_float64", true}};
}

json graph_answer() {
  return {{"nodes",
           {{{"op", "aten.cat"},
             {"arguments",
              {{{"list", {{{"input", 0}}, {{"state", "weight"}}}}},
               {{"constant", {{"float", "inf"}}}}}},
             {"keywords", {{"dim", {{"constant", nullptr}}}}},
             {"outputs", {tensor()}}}}},
          {"outputs", {{{"node", 0}, {"output", 0}}}}};
}

json trace_answer() {
  return {{"launches",
           {{{"kernel", "sum_kernel"},
             {"line", 12},
             {"grid", {4, 1, 1}},
             {"arguments",
              {{{"name", "x_ptr"},
                {"constexpr", false},
                {"tensor", tensor()},
                {"input", 0},
                {"divisible_by_16", true},
                {"equals_1", false}},
               {{"name", "BLOCK"},
                {"constexpr", true},
                {"value", 1024},
                {"input", nullptr},
                {"divisible_by_16", false},
                {"equals_1", false}}}},
             {"num_warps", 8},
             {"num_stages", 2},
             {"autotuned", true}}}}};
}

json compile_answer() {
  return {{"kernels",
           {{{"name", "k"},
             {"case", 2},
             {"registers", 40},
             {"spills", nullptr},
             {"shared_bytes", 2048}}}}};
}

json ttir_answer() {
  return {{"kernels", {{{"name", "k"}, {"line", 7}, {"ttir", "module {\n}\n"}}}}};
}

json verify_answer() {
  return {{"cases",
           {{{"case", 1},
             {"error", nullptr},
             {"fault", "load out of bounds"},
             {"outputs",
              {{{"dtype", "float16"},
                {"shape", {2}},
                {"elements", 2},
                {"dtype_equal", true},
                {"shape_equal", true},
                {"nan_equal", true},
                {"inf_equal", true},
                {"strides_equal", false},
                {"violations", 1},
                {"worst", {{"index", 1}, {"actual", 0.5}, {"expected", {{"float", "nan"}}}}},
                {"mere", 0.001},
                {"mare", nullptr},
                {"golden", "float64"},
                {"rmse", 0.25},
                {"max_error", {{"float", "inf"}}},
                {"golden_rms", 1},
                {"bit_equal_native", false},
                {"changed_inputs", {"x"}},
                {"aliased_inputs", {"y"}}}}}},
            {{"case", 2},
             {"error", {{"kind", "candidate-failed"}, {"message", "raised"}}},
             {"outputs", json::array()}}}}};
}

json bench_answer() {
  return {{"device_us", {1.5, 2}}, {"overhead_us", 0.5}};
}
json latency_answer() {
  return {{"host_us", {7.5}}};
}
json route_answer() {
  return {{"router_us", 0.4}, {"route", "base"}};
}

json fuzz_answer() {
  return {{"tried", 9},
          {"accepted", 7},
          {"routes", {{"base", 4}, {"_run_g1", 3}}},
          {"failures", {{{"inputs", arguments()}, {"route", "base"}, {"message", "wrong"}}}}};
}

json parse_answer() {
  return {{"text", "x = 1\n"}, {"tree", {{"type", "Module"}}}};
}

TEST(Decode, Hello) {
  const auto info = decode_hello(hello_answer());
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->device_name, "NVIDIA H200");
  EXPECT_EQ(info->cores, 132);
  EXPECT_EQ(info->capability, (std::array{9, 0}));
  EXPECT_EQ(info->executor, WorkerInfo::Executor::triton);
  EXPECT_STREQ(name_of(info->executor), "triton");
}

TEST(Decode, Load) {
  const auto outcome = decode_load(load_answer());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->reference_runs_in_float64);
  const Task& task = outcome->task;
  EXPECT_EQ(task.op_name, "sum");
  EXPECT_EQ(task.parameters[0].default_text, "");
  EXPECT_EQ(task.parameters[1].kind, Parameter::Kind::keyword_only);
  EXPECT_EQ(task.parameters[1].default_text, "-1");
  const auto& inputs = task.cases.at(0).inputs;
  EXPECT_EQ(*inputs.at(0).tensor(), (TensorSpec{"float16", {2, 3}, {3, 1}, 4, 8, true}));
  EXPECT_EQ(*inputs.at(1).literal(), Literal(-1));
  EXPECT_EQ(std::get<Opaque>(inputs.at(2).value).repr, "<function>");
}

TEST(Decode, Graph) {
  const auto graph = decode_graph(graph_answer());
  ASSERT_TRUE(graph) << graph.error().message;
  const OperationNode& node = graph->nodes.at(0);
  const auto& list = std::get<std::vector<Operand>>(node.arguments.at(0).value);
  EXPECT_EQ(std::get<Operand::Input>(list.at(0).value).argument, 0);
  EXPECT_EQ(std::get<Operand::State>(list.at(1).value).name, "weight");
  EXPECT_EQ(std::get<Literal>(node.arguments.at(1).value), Literal(HUGE_VAL));
  EXPECT_TRUE(std::get<Literal>(node.keywords.at("dim").value).is_none());
  EXPECT_EQ(node.outputs.size(), 1U);
  EXPECT_EQ(std::get<Operand::Node>(graph->outputs.at(0).value).node, 0);
}

TEST(Decode, Trace) {
  const auto trace = decode_trace(trace_answer(), 3);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->case_index, 3);
  const Launch& launch = trace->launches.at(0);
  EXPECT_EQ(launch.grid, (std::array<std::int64_t, 3>{4, 1, 1}));
  EXPECT_TRUE(std::holds_alternative<TensorSpec>(launch.arguments.at(0).value));
  EXPECT_EQ(launch.arguments.at(0).input, 0);
  EXPECT_TRUE(launch.arguments.at(0).divisible_by_16);
  EXPECT_EQ(std::get<Literal>(launch.arguments.at(1).value), Literal(1024));
  EXPECT_EQ(launch.arguments.at(1).input, std::nullopt);
  EXPECT_EQ(launch.num_warps, 8);
  EXPECT_EQ(launch.num_stages, 2);
  EXPECT_TRUE(launch.autotuned);
}

TEST(Decode, Compile) {
  const auto outcome = decode_compile(compile_answer());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->kernels.at(0).registers, 40);
  EXPECT_EQ(outcome->kernels.at(0).spills, std::nullopt);
  EXPECT_EQ(outcome->kernels.at(0).shared_bytes, 2048);
}

TEST(Decode, Ttir) {
  const auto kernels = decode_ttir(ttir_answer());
  ASSERT_TRUE(kernels) << kernels.error().message;
  ASSERT_EQ(kernels->size(), 1U);
  EXPECT_EQ(kernels->at(0).name, "k");
  EXPECT_EQ(kernels->at(0).line, 7);
  EXPECT_EQ(kernels->at(0).text, "module {\n}\n");
}

TEST(Decode, Verify) {
  const auto outcome = decode_verify(verify_answer());
  ASSERT_TRUE(outcome) << outcome.error().message;
  const OutputAccuracy& output = outcome->cases.at(0).outputs.at(0);
  EXPECT_FALSE(outcome->cases[0].error);
  EXPECT_EQ(outcome->cases[0].fault, "load out of bounds");
  EXPECT_EQ(outcome->cases.at(1).fault, "");
  EXPECT_EQ(output.violations, 1);
  EXPECT_EQ(output.worst->index, 1);
  EXPECT_EQ(output.worst->actual, Literal(0.5));
  EXPECT_TRUE(std::isnan(*output.worst->expected.as_float()));
  EXPECT_EQ(output.mere, 0.001);
  EXPECT_TRUE(std::isnan(output.mare)) << "no number passes no test";
  EXPECT_TRUE(std::isinf(output.max_error));
  EXPECT_EQ(output.golden_rms, 1.0);
  EXPECT_EQ(output.golden, OutputAccuracy::Golden::float64);
  EXPECT_FALSE(output.strides_equal);
  EXPECT_EQ(output.changed_inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(output.aliased_inputs, std::vector<std::string>{"y"});
  EXPECT_EQ(outcome->cases.at(1).error->kind, ErrorCode::candidate_failed);
  EXPECT_EQ(outcome->cases.at(1).error->message, "raised");
}

TEST(Decode, Timings) {
  const auto samples = decode_bench(bench_answer(), 2);
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->device_us, (std::vector<double>{1.5, 2}));
  EXPECT_EQ(samples->overhead_us, 0.5);
  EXPECT_EQ(decode_latency(latency_answer(), 1).value(), std::vector<double>{7.5});
  EXPECT_EQ(decode_route(route_answer()).value().route, "base");
  EXPECT_EQ(decode_bench(bench_answer(), 3).error().message,
            "worker answered `bench` with `device_us` that is not a list of 3 samples");
}

TEST(Decode, Fuzz) {
  const auto outcome = decode_fuzz(fuzz_answer());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->tried, 9);
  EXPECT_EQ(outcome->accepted, 7);
  EXPECT_EQ(outcome->routes.at("_run_g1"), 3);
  EXPECT_EQ(outcome->failures.at(0).inputs.size(), 3U);
}

TEST(Decode, Parse) {
  EXPECT_EQ(decode_parse(parse_answer()).value(), "x = 1\n");
}

TEST(Decode, AnotherProtocolIsTheEnvironmentsFault) {
  json answer = hello_answer();
  answer["protocol"] = 2;
  EXPECT_EQ(decode_hello(answer).error().code, ErrorCode::environment);
}

struct Operation {
  const char* name;
  json answer;
  std::function<std::optional<Error>(const json&)> decode;
};

template <class T>
std::optional<Error> error_of(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error());
}

std::vector<Operation> operations() {
  return {
      {"hello", hello_answer(), [](const json& j) { return error_of(decode_hello(j)); }},
      {"load", load_answer(), [](const json& j) { return error_of(decode_load(j)); }},
      {"graph", graph_answer(), [](const json& j) { return error_of(decode_graph(j)); }},
      {"trace", trace_answer(), [](const json& j) { return error_of(decode_trace(j, 1)); }},
      {"compile", compile_answer(), [](const json& j) { return error_of(decode_compile(j)); }},
      {"ttir", ttir_answer(), [](const json& j) { return error_of(decode_ttir(j)); }},
      {"verify", verify_answer(), [](const json& j) { return error_of(decode_verify(j)); }},
      {"bench", bench_answer(), [](const json& j) { return error_of(decode_bench(j, 2)); }},
      {"latency", latency_answer(), [](const json& j) { return error_of(decode_latency(j, 1)); }},
      {"route", route_answer(), [](const json& j) { return error_of(decode_route(j)); }},
      {"fuzz", fuzz_answer(), [](const json& j) { return error_of(decode_fuzz(j)); }},
      {"parse", parse_answer(), [](const json& j) { return error_of(decode_parse(j)); }},
  };
}

/// Every value nested in `value`, by its place.
void collect_places(const json& value, const json::json_pointer& at,
                    std::vector<json::json_pointer>& places) {
  places.push_back(at);
  if (value.is_object()) {
    for (const auto& [name, item] : value.items()) collect_places(item, at / name, places);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) collect_places(value[i], at / i, places);
  }
}

// Whatever stands in whatever place, decoding ends in a value or an error that names the
// operation, never in an exception.
TEST(Decode, EveryPlaceTakesEveryKindOfValue) {
  const std::vector<json> intruders = {nullptr,
                                       true,
                                       -1,
                                       18446744073709551615U,
                                       4294967296,
                                       1.5,
                                       "text",
                                       json::array(),
                                       json::array({1}),
                                       json::object(),
                                       json::object({{"float", "none"}})};
  for (const Operation& operation : operations()) {
    ASSERT_FALSE(operation.decode(operation.answer));
    std::vector<json::json_pointer> places;
    collect_places(operation.answer, json::json_pointer(), places);
    std::size_t refused = 0;
    for (const auto& place : places) {
      for (const json& intruder : intruders) {
        json answer = operation.answer;
        answer[place] = intruder;
        if (const auto error = operation.decode(answer)) {
          ++refused;
          if (error->code == ErrorCode::environment) continue;  // hello's protocol
          EXPECT_EQ(error->code, ErrorCode::worker_failed);
          EXPECT_NE(error->message.find(std::string("worker answered `") + operation.name + "`"),
                    std::string::npos)
              << error->message;
        }
      }
    }
    EXPECT_GT(refused, 3 * places.size()) << operation.name;
  }
}

TEST(Decode, AbsentFieldsAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"/cases/0/outputs/0/mere", "worker answered `verify` without `cases[0].outputs[0].mere`"},
      {"/cases/1/case", "worker answered `verify` without `cases[1].case`"},
      {"/cases/1/error/kind", "worker answered `verify` without `cases[1].error.kind`"},
      {"/cases", "worker answered `verify` without `cases`"},
  };
  for (const auto& [place, message] : cases) {
    json answer = verify_answer();
    const json::json_pointer pointer(place);
    answer[pointer.parent_pointer()].erase(pointer.back());
    EXPECT_EQ(decode_verify(answer).error().message, message);
  }
}

TEST(DecodeAnswer, TakesALineApart) {
  const auto good = decode_answer("verify", 3, R"({"id": 3, "ok": true, "result": {"a": 1}})");
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(*good->result, json({{"a", 1}}));

  const auto bad = decode_answer(
      "verify", 3,
      R"({"id": 3, "ok": false, "error": {"kind": "reference-failed", "message": "raised",
          "case": null, "file": null, "line": null, "traceback": "trace"}})");
  ASSERT_TRUE(bad) << bad.error().message;
  EXPECT_FALSE(bad->result);
  EXPECT_EQ(bad->error->code, ErrorCode::reference_failed);
  EXPECT_EQ(bad->error->message, "raised");
  EXPECT_EQ(bad->traceback, "trace");
}

TEST(DecodeAnswer, RefusesWhatIsNoAnswer) {
  for (const char* line :
       {"", "[]", "{}", "{\"id\": 3}", R"({"id": 4, "ok": true, "result": {}})",
        R"({"id": 3, "ok": true})", R"({"id": 3, "ok": true, "result": []})",
        R"({"id": 3, "ok": false, "error": "x"})", R"({"id": 3, "ok": false, "error": {}})",
        R"({"id": 3, "ok": true, "result": {"a": NaN}})", "{\"id\": 3, \"ok\": true\xff"}) {
    const auto answer = decode_answer("verify", 3, line);
    ASSERT_FALSE(answer) << line;
    EXPECT_EQ(answer.error().code, ErrorCode::worker_failed);
    EXPECT_NE(answer.error().message.find("`verify`"), std::string::npos);
  }
}

}  // namespace
}  // namespace ksplit
