// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "task/perf.h"

namespace ksplit {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(published(value)) : Json(nullptr);
}

Json number(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json times(const Measurement& side) {
  return {{"avg_latency_ms", number(side.avg_latency_ms)},
          {"peak_memory_mb", number(side.peak_memory_mb)}};
}

Json times_and_operators(const Measurement& side) {
  Json json = times(side);
  json["operators"] = Json::object();
  for (const auto& [name, time] : side.operators) json["operators"][name] = number(time);
  return json;
}

Json shape_json(const ShapeResult& shape) {
  Json json;
  json["case_idx"] = shape.case_idx;
  json["input_desc"] = to_json(shape.input_desc);
  json["status"] = shape.passed ? "pass" : "fail";
  json["framework"] = times(shape.framework);
  json["implementation"] = times(shape.implementation);
  json["speedup_vs_torch"] = number(shape.speedup_vs_torch);
  json["error_type"] = text_or_null(shape.error_type);
  json["error_msg"] = text_or_null(shape.error_msg);
  return json;
}

}  // namespace

double published(double value) {
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

Json to_json(const std::vector<InputDescription>& inputs) {
  Json list = Json::array();
  for (const InputDescription& input : inputs) {
    if (input.is_tensor) {
      list.push_back(
          {{"type", "tensor"}, {"shape", input.shape}, {"dtype", "torch." + input.dtype}});
    } else {
      list.push_back({{"type", "scalar"}, {"value", to_json(input.value)}});
    }
  }
  return list;
}

Json to_json(const PerfResult& result) {
  Json json;
  json["op_name"] = result.op_name;
  json["warmup"] = result.warmup;
  json["repeats"] = result.repeats;
  json["total_cases"] = result.total_cases;
  json["passed_cases"] = result.passed_cases;
  json["failed_cases"] = result.failed_cases;
  json["nan_indices"] = result.nan_indices;
  json["inf_indices"] = result.inf_indices;
  json["zero_indices"] = result.zero_indices;
  json["negative_indices"] = result.negative_indices;
  json["none_indices"] = result.none_indices;
  json["framework"] = times_and_operators(result.framework);
  json["implementation"] = times_and_operators(result.implementation);
  json["speedup_vs_torch"] = number(result.speedup_vs_torch);
  json["per_shape_results"] = Json::array();
  for (const ShapeResult& shape : result.per_shape_results) {
    json["per_shape_results"].push_back(shape_json(shape));
  }
  return json;
}

Json to_json(const VerifyResult& result) {
  Json json;
  json["op_name"] = result.op_name;
  json["total_cases"] = result.total_cases;
  json["passed_cases"] = result.passed_cases;
  json["failed_cases"] = result.failed_cases;
  json["failures"] = Json::array();
  for (const VerifyFailure& failure : result.failures) {
    json["failures"].push_back({{"case_idx", failure.case_idx},
                                {"input_desc", to_json(failure.input_desc)},
                                {"error_type", failure.error_type},
                                {"error_msg", failure.error_msg}});
  }
  return json;
}

}  // namespace ksplit
