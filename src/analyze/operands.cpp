// SPDX-License-Identifier: Apache-2.0
#include "analyze/operands.h"

#include <algorithm>
#include <numeric>

namespace ksplit {
namespace {

/// Where a reducing operation names its axes.
struct ReducingOperation {
  std::string_view base;
  std::size_t axes_argument;
  bool trailing_shape = false;  // the argument is the shape of the reduced trailing axes
};

constexpr ReducingOperation kReducing[] = {
    {"sum", 1},
    {"mean", 1},
    {"prod", 1},
    {"amax", 1},
    {"amin", 1},
    {"max", 1},
    {"min", 1},
    {"argmax", 1},
    {"argmin", 1},
    {"var", 1},
    {"std", 1},
    {"var_mean", 1},
    {"std_mean", 1},
    {"logsumexp", 1},
    {"nansum", 1},
    {"all", 1},
    {"any", 1},
    {"count_nonzero", 1},
    {"_softmax", 1},
    {"_log_softmax", 1},
    {"linalg_vector_norm", 2},
    {"norm", 2},
    {"native_layer_norm", 1, true},
    {"_fused_rms_norm", 1, true},
};

constexpr std::string_view kViews[] = {
    "detach",           "alias",          "lift",   "lift_fresh", "view",       "_unsafe_view",
    "reshape",          "_reshape_alias", "expand", "permute",    "transpose",  "t",
    "unsqueeze",        "squeeze",        "slice",  "select",     "as_strided", "split",
    "split_with_sizes", "chunk",          "unbind", "diagonal",   "unfold",
};

std::int64_t product(std::vector<std::int64_t>::const_iterator begin,
                     std::vector<std::int64_t>::const_iterator end) {
  return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
}

/// The last axes of a tensor, as many as the shape in the argument has.
std::optional<std::vector<std::int64_t>> trailing_axes(const Literal& argument, std::size_t rank) {
  const Literal::List* shape = argument.as_list();
  if (!shape || shape->empty() || shape->size() > rank) return std::nullopt;
  std::vector<std::int64_t> axes(shape->size());
  std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(rank - shape->size()));
  return axes;
}

}  // namespace

std::string_view base_name(std::string_view op) {
  if (const auto space = op.find('.'); space != std::string_view::npos) op.remove_prefix(space + 1);
  return op.substr(0, op.find('.'));
}

bool is_view(std::string_view base) {
  return std::find(std::begin(kViews), std::end(kViews), base) != std::end(kViews);
}

const TensorSpec* tensor_of(const Operand& operand, const Case& sample,
                            const ReferenceGraph& graph) {
  if (const auto* input = std::get_if<Operand::Input>(&operand.value)) {
    const auto position = static_cast<std::size_t>(input->argument);
    return position < sample.inputs.size() ? sample.inputs[position].tensor() : nullptr;
  }
  if (const auto* node = std::get_if<Operand::Node>(&operand.value)) {
    const auto position = static_cast<std::size_t>(node->node);
    if (position >= graph.nodes.size()) return nullptr;
    const auto& outputs = graph.nodes[position].outputs;
    const auto output = static_cast<std::size_t>(node->output);
    return output < outputs.size() ? &outputs[output] : nullptr;
  }
  return nullptr;
}

std::optional<Literal> constant_of(const Operand& operand) {
  if (const auto* literal = std::get_if<Literal>(&operand.value)) return *literal;
  const auto* list = std::get_if<std::vector<Operand>>(&operand.value);
  if (!list) return std::nullopt;
  Literal::List items;
  for (const Operand& item : *list) {
    const auto literal = constant_of(item);
    if (!literal) return std::nullopt;
    items.push_back(*literal);
  }
  return Literal{std::move(items)};
}

std::optional<std::vector<std::int64_t>> axes_of(const Literal& argument) {
  if (argument.is_none()) return std::vector<std::int64_t>{};
  if (const std::int64_t* axis = argument.as_int()) return std::vector{*axis};
  const Literal::List* list = argument.as_list();
  if (!list) return std::nullopt;
  std::vector<std::int64_t> axes;
  for (const Literal& item : *list) {
    if (!item.as_int()) return std::nullopt;
    axes.push_back(*item.as_int());
  }
  return axes;
}

std::optional<std::vector<std::int64_t>> normal_axes(const std::vector<std::int64_t>& axes,
                                                     std::size_t rank) {
  const auto limit = static_cast<std::int64_t>(rank);
  std::vector<std::int64_t> normal;
  if (axes.empty()) {
    normal.resize(rank);
    std::iota(normal.begin(), normal.end(), 0);
    return normal;
  }
  // torch takes axis 0 and -1 of a tensor without axes.
  if (rank == 0) {
    const bool scalar_axis = axes.size() == 1 && (axes[0] == 0 || axes[0] == -1);
    return scalar_axis ? std::optional(normal) : std::nullopt;
  }
  for (const std::int64_t axis : axes) {
    if (axis < -limit || axis >= limit) return std::nullopt;
    normal.push_back(axis < 0 ? axis + limit : axis);
  }
  std::sort(normal.begin(), normal.end());
  if (std::adjacent_find(normal.begin(), normal.end()) != normal.end()) return std::nullopt;
  return normal;
}

std::optional<ReductionFacts::Sizes> split_shape(const std::vector<std::int64_t>& shape,
                                                 const std::vector<std::int64_t>& axes) {
  if (axes.empty()) return ReductionFacts::Sizes{1, product(shape.begin(), shape.end()), 1};
  const std::int64_t first = axes.front();
  const std::int64_t last = axes.back();
  if (last - first + 1 != static_cast<std::int64_t>(axes.size())) return std::nullopt;
  const auto begin = shape.begin() + first;
  const auto end = shape.begin() + last + 1;
  return ReductionFacts::Sizes{product(shape.begin(), begin), product(begin, end),
                               product(end, shape.end())};
}

std::optional<ReductionFacts::Sizes> reduction_sizes(const OperationNode& node, const Case& sample,
                                                     const ReferenceGraph& graph) {
  const std::string_view base = base_name(node.op);
  const auto known =
      std::find_if(std::begin(kReducing), std::end(kReducing),
                   [&](const ReducingOperation& operation) { return operation.base == base; });
  if (known == std::end(kReducing) || node.arguments.empty()) return std::nullopt;
  const TensorSpec* input = tensor_of(node.arguments[0], sample, graph);
  if (!input) return std::nullopt;

  Literal argument;  // None: all axes
  if (node.arguments.size() > known->axes_argument) {
    // "max" and "min" of two tensors have a tensor here and reduce nothing.
    const auto constant = constant_of(node.arguments[known->axes_argument]);
    if (!constant) return std::nullopt;
    argument = *constant;
  }
  const std::size_t rank = input->shape.size();
  const auto axes = known->trailing_shape ? trailing_axes(argument, rank) : axes_of(argument);
  if (!axes) return std::nullopt;
  const auto normal = normal_axes(*axes, rank);
  return normal ? split_shape(input->shape, *normal) : std::nullopt;
}

}  // namespace ksplit
