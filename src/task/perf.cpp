// SPDX-License-Identifier: Apache-2.0
#include "task/perf.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace ksplit {
namespace {

/// Means over the cases that have the figure; an operator's time counts as zero where it did not
/// run, so that the operators add up to the latency.
class MeanMeasurement {
 public:
  void add(const Measurement& one) {
    ++cases_;
    if (one.avg_latency_ms) latency_.push_back(*one.avg_latency_ms);
    if (one.peak_memory_mb) memory_.push_back(*one.peak_memory_mb);
    for (const auto& [name, time] : one.operators) operators_[name] += time;
  }

  Measurement mean() const {
    Measurement result{mean_of(latency_), mean_of(memory_), operators_};
    for (auto& [name, time] : result.operators) time /= cases_;
    return result;
  }

 private:
  static std::optional<double> mean_of(const std::vector<double>& values) {
    if (values.empty()) return std::nullopt;
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }

  int cases_ = 0;
  std::vector<double> latency_, memory_;
  std::map<std::string, double> operators_;
};

std::vector<int>& irregular_list(PerfResult& result, const std::optional<double>& ratio) {
  if (!ratio) return result.none_indices;
  if (std::isnan(*ratio)) return result.nan_indices;
  if (std::isinf(*ratio)) return result.inf_indices;
  return *ratio == 0 ? result.zero_indices : result.negative_indices;
}

/// `what` of an implementation as the workflow names its files.
std::string result_file(const std::string& what, const std::string& implementation_name) {
  if (implementation_name == "triton_ascend_impl") return what + ".json";
  const std::string prefix = "triton_";
  const bool prefixed = implementation_name.starts_with(prefix);
  return what + "_" + implementation_name.substr(prefixed ? prefix.size() : 0) + ".json";
}

}  // namespace

std::vector<InputDescription> describe_inputs(const Case& sample) {
  std::vector<InputDescription> descriptions;
  for (const Argument& input : sample.inputs) {
    InputDescription& description = descriptions.emplace_back();
    if (const TensorSpec* tensor = input.tensor()) {
      description = {true, tensor->shape, tensor->dtype, {}};
    } else if (const Literal* literal = input.literal()) {
      description.value = *literal;
    } else {
      description.value = std::get<Opaque>(input.value).repr;
    }
  }
  return descriptions;
}

const ShapeResult* PerfResult::find(int case_index) const {
  const auto found =
      std::find_if(per_shape_results.begin(), per_shape_results.end(),
                   [&](const ShapeResult& shape) { return shape.case_idx == case_index; });
  return found == per_shape_results.end() ? nullptr : &*found;
}

std::optional<double> PerfResult::ratio(int case_index) const {
  const ShapeResult* shape = find(case_index);
  return shape ? usable_ratio(*shape) : std::nullopt;
}

std::optional<double> usable_ratio(const ShapeResult& shape) {
  const std::optional<double>& ratio = shape.speedup_vs_torch;
  if (!shape.passed || !ratio || !std::isfinite(*ratio) || *ratio <= 0) return std::nullopt;
  return ratio;
}

std::optional<double> geometric_mean(const std::vector<double>& ratios) {
  if (ratios.empty()) return std::nullopt;
  double sum = 0;
  for (const double ratio : ratios) {
    KSPLIT_CHECK(std::isfinite(ratio) && ratio > 0, "a ratio without a logarithm");
    sum += std::log(ratio);
  }
  return std::exp(sum / static_cast<double>(ratios.size()));
}

PerfResult summarize_perf(std::string op_name, int warmup, int repeats,
                          std::vector<ShapeResult> shapes) {
  PerfResult result;
  result.op_name = std::move(op_name);
  result.warmup = warmup;
  result.repeats = repeats;
  result.total_cases = static_cast<int>(shapes.size());

  MeanMeasurement framework, implementation;
  std::vector<double> ratios;
  for (const ShapeResult& shape : shapes) {
    if (!shape.passed) {
      ++result.failed_cases;
      continue;
    }
    ++result.passed_cases;
    framework.add(shape.framework);
    implementation.add(shape.implementation);
    if (const auto ratio = usable_ratio(shape)) {
      ratios.push_back(*ratio);
    } else {
      irregular_list(result, shape.speedup_vs_torch).push_back(shape.case_idx);
    }
  }
  result.framework = framework.mean();
  result.implementation = implementation.mean();
  result.speedup_vs_torch = geometric_mean(ratios);
  result.per_shape_results = std::move(shapes);
  return result;
}

std::string verify_result_file(const std::string& implementation_name) {
  return result_file("verify_result", implementation_name);
}

std::string perf_result_file(const std::string& implementation_name) {
  return result_file("perf_result", implementation_name);
}

}  // namespace ksplit
