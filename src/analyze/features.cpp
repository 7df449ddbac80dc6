// SPDX-License-Identifier: Apache-2.0
#include "analyze/features.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "analyze/operands.h"

namespace ksplit {
namespace {

using Kind = FeatureInfo::Kind;

constexpr FeatureInfo kFeatures[] = {
    {"element_count", Kind::integer}, {"dtype", Kind::text},
    {"rank", Kind::integer},          {"contiguous", Kind::boolean},
    {"power_of_two", Kind::boolean},  {"aligned", Kind::boolean},
    {"strided", Kind::boolean},       {"low_precision", Kind::boolean},
    {"outer_size", Kind::integer},    {"reduce_size", Kind::integer},
    {"inner_size", Kind::integer},    {"out_ndim", Kind::integer},
    {"broadcast_dims", Kind::list},   {"equal_shapes", Kind::boolean},
    {"operand_shapes", Kind::list},   {"unit_dims", Kind::list},
    {"repeated_operand", Kind::text}, {"broadcast_levels", Kind::text},
};

std::vector<const TensorSpec*> tensors_of(const Case& sample) {
  std::vector<const TensorSpec*> tensors;
  for (const Argument& input : sample.inputs) {
    if (input.tensor()) tensors.push_back(input.tensor());
  }
  return tensors;
}

bool has_only_powers_of_two(const TensorSpec& tensor) {
  return std::all_of(tensor.shape.begin(), tensor.shape.end(), [](std::int64_t size) {
    return size > 0 && std::has_single_bit(static_cast<std::uint64_t>(size));
  });
}

bool is_strided(const TensorSpec& tensor) {
  return !tensor.contiguous && std::any_of(tensor.strides.begin(), tensor.strides.end(),
                                           [](std::int64_t stride) { return stride > 1; });
}

bool is_low_precision(const TensorSpec& tensor) {
  return tensor.dtype == "bfloat16" || tensor.dtype == "int8" || tensor.dtype == "uint8" ||
         tensor.dtype.starts_with("float8") || tensor.dtype.starts_with("float4");
}

void add_tensor_features(Features& features, const std::vector<const TensorSpec*>& tensors) {
  const auto any = [&](bool (*test)(const TensorSpec&)) {
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](const TensorSpec* tensor) { return test(*tensor); });
  };
  const TensorSpec& largest = **std::max_element(
      tensors.begin(), tensors.end(),
      [](const TensorSpec* a, const TensorSpec* b) { return a->numel() < b->numel(); });
  features["element_count"] = largest.numel();
  features["dtype"] = largest.dtype;
  features["rank"] = static_cast<std::int64_t>(largest.shape.size());
  features["contiguous"] = !any([](const TensorSpec& tensor) { return !tensor.contiguous; });
  features["power_of_two"] =
      !any([](const TensorSpec& tensor) { return !has_only_powers_of_two(tensor); });
  features["aligned"] = !any([](const TensorSpec& tensor) { return tensor.alignment < 16; });
  features["strided"] = any(is_strided);
  features["low_precision"] = any(is_low_precision);
}

void add_reduction_features(Features& features, const Case& sample, const ReferenceGraph& graph) {
  for (const OperationNode& node : graph.nodes) {
    const auto sizes = reduction_sizes(node, sample, graph);
    if (!sizes) continue;
    features["outer_size"] = sizes->outer;
    features["reduce_size"] = sizes->reduce;
    features["inner_size"] = sizes->inner;
    return;
  }
}

/// The size of a dimension after padding the shape on the left with 1.
std::int64_t padded_size(const TensorSpec& tensor, std::size_t dimension, std::size_t rank) {
  const std::size_t missing = rank - tensor.shape.size();
  return dimension < missing ? 1 : tensor.shape[dimension - missing];
}

/// Dimensions of `result` along which some operand is repeated; none if the operands do not
/// broadcast to it.
std::optional<Literal::List> repeated_dimensions(const std::vector<const TensorSpec*>& operands,
                                                 const std::vector<std::int64_t>& result) {
  Literal::List repeated;
  for (const TensorSpec* operand : operands) {
    if (operand->shape.size() > result.size()) return std::nullopt;
  }
  for (std::size_t d = 0; d < result.size(); ++d) {
    bool reached = false;
    bool repeats = false;
    for (const TensorSpec* operand : operands) {
      const std::int64_t size = padded_size(*operand, d, result.size());
      if (size != result[d] && size != 1) return std::nullopt;
      reached |= size == result[d];
      repeats |= size != result[d];
    }
    if (!reached) return std::nullopt;
    if (repeats) repeated.emplace_back(static_cast<std::int64_t>(d));
  }
  return repeated;
}

/// What spans the result's dimensions, in runs (see broadcast_levels).
std::string levels_of(const TensorSpec& left, const TensorSpec& right,
                      const std::vector<std::int64_t>& result) {
  std::string levels;
  for (std::size_t d = 0; d < result.size(); ++d) {
    if (result[d] == 1) continue;
    const bool left_spans = padded_size(left, d, result.size()) != 1;
    const bool right_spans = padded_size(right, d, result.size()) != 1;
    const char level = !right_spans ? 'L' : !left_spans ? 'R' : 'B';
    if (levels.empty() || levels.back() != level) levels += level;
  }
  return levels;
}

void add_repetition_features(Features& features, const std::vector<const TensorSpec*>& operands,
                             const std::vector<std::int64_t>& result) {
  if (operands.size() != 2) {
    features["repeated_operand"] = "several";
    return;
  }
  std::string levels = levels_of(*operands[0], *operands[1], result);
  const bool right = levels.find('L') != std::string::npos;
  const bool left = levels.find('R') != std::string::npos;
  features["repeated_operand"] = left && right ? "both" : left ? "left" : "right";
  features["broadcast_levels"] = std::move(levels);
}

void add_broadcast_features(Features& features, const std::vector<const TensorSpec*>& operands,
                            const Case& sample, const ReferenceGraph& graph) {
  if (graph.outputs.size() != 1) return;
  const TensorSpec* result = tensor_of(graph.outputs[0], sample, graph);
  if (!result) return;
  auto repeated = repeated_dimensions(operands, result->shape);
  if (!repeated) return;
  Literal::List shapes;
  for (const TensorSpec* operand : operands) {
    shapes.emplace_back(Literal::List(operand->shape.begin(), operand->shape.end()));
  }
  Literal::List units;
  for (std::size_t d = 0; d < result->shape.size(); ++d) {
    if (result->shape[d] == 1) units.emplace_back(static_cast<std::int64_t>(d));
  }
  if (!repeated->empty()) add_repetition_features(features, operands, result->shape);
  features["unit_dims"] = std::move(units);
  features["out_ndim"] = static_cast<std::int64_t>(result->shape.size());
  features["equal_shapes"] = repeated->empty();
  features["broadcast_dims"] = std::move(*repeated);
  features["operand_shapes"] = std::move(shapes);
}

}  // namespace

Features case_features(const Case& sample, const ReferenceGraph& graph) {
  Features features;
  const std::vector<const TensorSpec*> tensors = tensors_of(sample);
  if (tensors.empty()) return features;
  add_tensor_features(features, tensors);
  add_reduction_features(features, sample, graph);
  add_broadcast_features(features, tensors, sample, graph);
  return features;
}

std::span<const FeatureInfo> feature_table() {
  return kFeatures;
}

}  // namespace ksplit
