// SPDX-License-Identifier: Apache-2.0
#include "worker/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "worker/fields.h"

namespace ksplit {

using nlohmann::json;

const char* name_of(WorkerInfo::Executor executor) {
  switch (executor) {
    case WorkerInfo::Executor::triton: return "triton";
    case WorkerInfo::Executor::native_cpu: return "native-cpu";
    case WorkerInfo::Executor::interpreter: return "interpreter";
  }
  return "unknown";
}

namespace {

/// The error codes a worker may give.
std::optional<ErrorCode> error_code(std::string_view name) {
  for (const ErrorCode code :
       {ErrorCode::input_missing, ErrorCode::input_malformed, ErrorCode::reference_failed,
        ErrorCode::candidate_failed, ErrorCode::environment, ErrorCode::unsupported,
        ErrorCode::worker_failed}) {
    if (name == name_of(code)) return code;
  }
  return std::nullopt;
}

/// The value of the field's word among `words`, which are in the order of the enumeration.
template <class Enum, std::size_t n>
Enum one_of(FieldReader& fields, const std::string& name,
            const std::array<std::string_view, n>& words) {
  const std::string word = fields.text(name);
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) {
    fields.reject(name, fmt::format("one of `{}`", fmt::join(words, "`, `")));
    return Enum{};
  }
  return static_cast<Enum>(found - words.begin());
}

TensorSpec tensor(FieldReader& fields) {
  TensorSpec spec;
  spec.dtype = fields.text("dtype");
  spec.shape = fields.integers("shape");
  spec.strides = fields.integers("strides");
  spec.storage_offset = fields.integer("storage_offset");
  spec.alignment = fields.small_integer("alignment");
  spec.contiguous = fields.boolean("contiguous");
  if (spec.strides.size() != spec.shape.size()) fields.reject("strides", "as long as `shape`");
  return spec;
}

Argument argument(FieldReader& fields) {
  Argument argument{fields.text("name"), {}};
  const std::string kind = fields.text("kind");
  if (kind == "tensor") {
    fields.object("tensor", [&](FieldReader& nested) { argument.value = tensor(nested); });
  } else if (kind == "constant") {
    argument.value = fields.constant("value");
  } else if (kind == "opaque") {
    argument.value = Opaque{fields.text("repr")};
  } else {
    fields.reject("kind", "one of `tensor`, `constant`, `opaque`");
  }
  return argument;
}

std::vector<Argument> arguments(FieldReader& fields, const std::string& name) {
  std::vector<Argument> all;
  fields.each(name, [&](FieldReader& nested) { all.push_back(argument(nested)); });
  return all;
}

Operand operand(FieldReader& fields) {
  if (fields.has("input")) return {Operand::Input{fields.small_integer("input")}};
  if (fields.has("node")) {
    return {Operand::Node{fields.small_integer("node"), fields.small_integer("output")}};
  }
  if (fields.has("state")) return {Operand::State{fields.text("state")}};
  if (fields.has("list")) {
    std::vector<Operand> list;
    fields.each("list", [&](FieldReader& nested) { list.push_back(operand(nested)); });
    return {std::move(list)};
  }
  return {fields.constant("constant")};
}

OperationNode operation(FieldReader& fields) {
  OperationNode node;
  node.op = fields.text("op");
  fields.each("arguments", [&](FieldReader& nested) { node.arguments.push_back(operand(nested)); });
  fields.object("keywords", [&](FieldReader& keywords) {
    for (const std::string& name : keywords.names()) {
      keywords.object(name, [&](FieldReader& nested) { node.keywords[name] = operand(nested); });
    }
  });
  fields.each("outputs", [&](FieldReader& nested) { node.outputs.push_back(tensor(nested)); });
  return node;
}

LaunchArgument launch_argument(FieldReader& fields) {
  LaunchArgument argument;
  argument.name = fields.text("name");
  argument.constexpr_parameter = fields.boolean("constexpr");
  if (fields.has("tensor")) {
    fields.object("tensor", [&](FieldReader& nested) { argument.value = tensor(nested); });
  } else {
    argument.value = fields.constant("value");
  }
  if (fields.has("input")) argument.input = fields.small_integer("input");
  argument.divisible_by_16 = fields.boolean("divisible_by_16");
  argument.equals_1 = fields.boolean("equals_1");
  return argument;
}

Launch launch(FieldReader& fields) {
  Launch launch;
  launch.kernel = fields.text("kernel");
  launch.line = fields.small_integer("line");
  const std::vector<std::int64_t> grid = fields.integers("grid");
  if (grid.size() == launch.grid.size()) {
    std::copy(grid.begin(), grid.end(), launch.grid.begin());
  } else {
    fields.reject("grid", "three numbers");
  }
  fields.each("arguments",
              [&](FieldReader& nested) { launch.arguments.push_back(launch_argument(nested)); });
  launch.num_warps = fields.small_integer("num_warps");
  launch.num_stages = fields.small_integer("num_stages");
  launch.autotuned = fields.boolean("autotuned");
  return launch;
}

OutputAccuracy accuracy(FieldReader& fields) {
  OutputAccuracy output;
  output.dtype = fields.text("dtype");
  output.shape = fields.integers("shape");
  output.elements = fields.integer("elements");
  output.dtype_equal = fields.boolean("dtype_equal");
  output.shape_equal = fields.boolean("shape_equal");
  output.nan_equal = fields.boolean("nan_equal");
  output.inf_equal = fields.boolean("inf_equal");
  output.strides_equal = fields.boolean("strides_equal");
  output.violations = fields.integer("violations");
  if (fields.has("worst")) {
    fields.object("worst", [&](FieldReader& worst) {
      output.worst = {worst.integer("index"), worst.constant("actual"), worst.constant("expected")};
    });
  }
  output.mere = fields.statistic("mere");
  output.mare = fields.statistic("mare");
  output.golden = one_of<OutputAccuracy::Golden>(
      fields, "golden", std::array<std::string_view, 2>{"float64", "native"});
  output.rmse = fields.statistic("rmse");
  output.max_error = fields.statistic("max_error");
  output.golden_rms = fields.statistic("golden_rms");
  output.bit_equal_native = fields.boolean("bit_equal_native");
  output.changed_inputs = fields.texts("changed_inputs");
  output.aliased_inputs = fields.texts("aliased_inputs");
  return output;
}

CaseVerification case_verification(FieldReader& fields) {
  CaseVerification verification;
  verification.case_index = fields.small_integer("case");
  if (fields.has("error")) {
    fields.object("error", [&](FieldReader& error) {
      const auto code = error_code(error.text("kind"));
      if (!code) error.reject("kind", "the name of an error");
      verification.error =
          CaseError{code.value_or(ErrorCode::worker_failed), error.text("message")};
    });
  }
  if (fields.has("fault")) verification.fault = fields.text("fault");
  fields.each("outputs",
              [&](FieldReader& nested) { verification.outputs.push_back(accuracy(nested)); });
  return verification;
}

CompiledKernel compiled_kernel(FieldReader& fields) {
  CompiledKernel kernel{fields.text("name"), fields.small_integer("case"), {}, {}, {}};
  if (fields.has("registers")) kernel.registers = fields.small_integer("registers");
  if (fields.has("spills")) kernel.spills = fields.small_integer("spills");
  if (fields.has("shared_bytes")) kernel.shared_bytes = fields.integer("shared_bytes");
  return kernel;
}

Parameter parameter(FieldReader& fields) {
  Parameter parameter;
  parameter.name = fields.text("name");
  parameter.kind =
      one_of<Parameter::Kind>(fields, "kind",
                              std::array<std::string_view, 4>{"positional", "keyword_only",
                                                              "var_positional", "var_keyword"});
  if (fields.has("default")) parameter.default_text = fields.text("default");
  return parameter;
}

void device(FieldReader& fields, WorkerInfo& info) {
  info.device_kind = fields.text("kind");
  info.device_name = fields.text("name");
  info.cores = fields.small_integer("cores");
  info.l2_bytes = fields.integer("l2_bytes");
  if (fields.has("driver")) info.driver = fields.text("driver");
  if (!fields.has("capability")) return;
  const std::vector<std::int64_t> capability = fields.integers("capability");
  if (capability.size() == 2) {
    info.capability = {static_cast<int>(capability[0]), static_cast<int>(capability[1])};
  } else {
    fields.reject("capability", "two numbers");
  }
}

std::vector<double> samples_of(FieldReader& fields, const std::string& name, std::size_t count) {
  std::vector<double> samples = fields.numbers(name);
  if (samples.size() != count) fields.reject(name, fmt::format("a list of {} samples", count));
  return samples;
}

/// Deeper nesting than any answer has. Recursive readers of the answer rely on it.
constexpr int kDepthCap = 4000;

bool too_deep(std::string_view line) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDepthCap) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

/// The error that a worker's `error` object describes.
Error reported_error(FieldReader& fields) {
  Error error{error_code(fields.text("kind")).value_or(ErrorCode::worker_failed),
              fields.text("message")};
  if (fields.has("file")) {
    error.at =
        SourceSpan{fields.text("file"), fields.has("line") ? fields.small_integer("line") : 0, 0};
  }
  if (fields.has("case")) {
    error.causes.push_back(fmt::format("on case {}", fields.integer("case")));
  }
  return error;
}

}  // namespace

Result<WorkerInfo> decode_hello(const json& result) {
  FieldReader fields("hello", result);
  WorkerInfo info;
  KSPLIT_TRY(const std::int64_t protocol, fields.finish(fields.integer("protocol")));
  if (protocol != kProtocolVersion) {
    return fail(ErrorCode::environment,
                fmt::format("the worker package speaks protocol {}, this ksplit speaks {}",
                            protocol, kProtocolVersion),
                "install the Python package and the ksplit command of one version");
  }
  info.python = fields.text("python");
  info.torch = fields.text("torch");
  info.triton = fields.text("triton");
  fields.object("device", [&](FieldReader& nested) { device(nested, info); });
  info.executor = one_of<WorkerInfo::Executor>(
      fields, "executor", std::array<std::string_view, 3>{"triton", "native-cpu", "interpreter"});
  return fields.finish(std::move(info));
}

Result<LoadOutcome> decode_load(const json& result) {
  FieldReader fields("load", result);
  LoadOutcome outcome;
  outcome.task.op_name = fields.text("op_name");
  fields.each("parameters",
              [&](FieldReader& nested) { outcome.task.parameters.push_back(parameter(nested)); });
  fields.each("cases", [&](FieldReader& nested) {
    outcome.task.cases.push_back({nested.small_integer("index"), arguments(nested, "inputs")});
  });
  outcome.reference_runs_in_float64 = fields.boolean("reference_runs_in_float64");
  return fields.finish(std::move(outcome));
}

Result<ReferenceGraph> decode_graph(const json& result) {
  FieldReader fields("graph", result);
  ReferenceGraph graph;
  fields.each("nodes", [&](FieldReader& nested) { graph.nodes.push_back(operation(nested)); });
  fields.each("outputs", [&](FieldReader& nested) { graph.outputs.push_back(operand(nested)); });
  return fields.finish(std::move(graph));
}

Result<LaunchTrace> decode_trace(const json& result, int case_index) {
  FieldReader fields("trace", result);
  LaunchTrace trace{case_index, {}};
  fields.each("launches", [&](FieldReader& nested) { trace.launches.push_back(launch(nested)); });
  return fields.finish(std::move(trace));
}

Result<CompileOutcome> decode_compile(const json& result) {
  FieldReader fields("compile", result);
  CompileOutcome outcome;
  fields.each("kernels",
              [&](FieldReader& nested) { outcome.kernels.push_back(compiled_kernel(nested)); });
  return fields.finish(std::move(outcome));
}

Result<std::vector<KernelIr>> decode_ttir(const json& result) {
  FieldReader fields("ttir", result);
  std::vector<KernelIr> kernels;
  fields.each("kernels", [&](FieldReader& nested) {
    kernels.push_back({nested.text("name"), nested.small_integer("line"), nested.text("ttir")});
  });
  return fields.finish(std::move(kernels));
}

Result<VerifyOutcome> decode_verify(const json& result) {
  FieldReader fields("verify", result);
  VerifyOutcome outcome;
  fields.each("cases",
              [&](FieldReader& nested) { outcome.cases.push_back(case_verification(nested)); });
  return fields.finish(std::move(outcome));
}

Result<BenchSamples> decode_bench(const json& result, std::size_t samples) {
  FieldReader fields("bench", result);
  BenchSamples outcome{samples_of(fields, "device_us", samples), fields.number("overhead_us")};
  return fields.finish(std::move(outcome));
}

Result<std::vector<double>> decode_latency(const json& result, std::size_t samples) {
  FieldReader fields("latency", result);
  std::vector<double> host_us = samples_of(fields, "host_us", samples);
  return fields.finish(std::move(host_us));
}

Result<RouteCost> decode_route(const json& result) {
  FieldReader fields("route", result);
  RouteCost cost{fields.number("router_us"), fields.text("route")};
  return fields.finish(std::move(cost));
}

Result<FuzzOutcome> decode_fuzz(const json& result) {
  FieldReader fields("fuzz", result);
  FuzzOutcome outcome;
  outcome.tried = fields.small_integer("tried");
  outcome.accepted = fields.small_integer("accepted");
  fields.object("routes", [&](FieldReader& routes) {
    for (const std::string& name : routes.names()) {
      outcome.routes[name] = routes.small_integer(name);
    }
  });
  fields.each("failures", [&](FieldReader& nested) {
    outcome.failures.push_back(
        {arguments(nested, "inputs"), nested.text("route"), nested.text("message")});
  });
  return fields.finish(std::move(outcome));
}

Result<std::string> decode_parse(const json& result) {
  FieldReader fields("parse", result);
  std::string text = fields.text("text");
  fields.object("tree", [](FieldReader&) {});
  return fields.finish(std::move(text));
}

Result<Answer> decode_answer(std::string_view op, std::int64_t id, std::string_view line) {
  json parsed;
  if (!too_deep(line)) parsed = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) {
    return fail(ErrorCode::worker_failed,
                fmt::format("worker answered `{}` with a line that is not a JSON object: `{}`", op,
                            line.substr(0, 80)));
  }
  FieldReader fields(op, parsed);
  if (fields.integer("id") != id) fields.reject("id", fmt::format("{}, the request's", id));
  Answer answer;
  if (fields.boolean("ok")) {
    fields.object("result", [](FieldReader&) {});
    if (fields.has("result")) answer.result = std::make_shared<json>(std::move(parsed["result"]));
  } else {
    fields.object("error", [&](FieldReader& error) {
      answer.error = reported_error(error);
      if (error.has("traceback")) answer.traceback = error.text("traceback");
    });
  }
  return fields.finish(std::move(answer));
}

}  // namespace ksplit
