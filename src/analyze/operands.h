// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/facts.h"
#include "task/case.h"
#include "task/graph.h"

namespace ksplit {

// Reading ATen traces: what the operands of an operation are.

/// The name of an operation without namespace and overload: "aten.sum.dim_IntList" -> "sum".
std::string_view base_name(std::string_view op);

/// Whether an operation only changes how a tensor is looked at.
bool is_view(std::string_view base);

/// The tensor an operand stands for; nullptr for constants, lists, module state and inputs that are
/// no tensors.
const TensorSpec* tensor_of(const Operand& operand, const Case& sample,
                            const ReferenceGraph& graph);

/// The constant of an operand, lists of constants included; none if it is or holds a tensor.
std::optional<Literal> constant_of(const Operand& operand);

/// Axes as an operation's argument names them: an int, a list of ints, or None. None and the empty
/// list mean all axes, which is the empty vector here. No value for anything else.
std::optional<std::vector<std::int64_t>> axes_of(const Literal& argument);

/// The axes counted from 0, ascending; all of them for the empty vector. No value for an axis out
/// of range or named twice.
std::optional<std::vector<std::int64_t>> normal_axes(const std::vector<std::int64_t>& axes,
                                                     std::size_t rank);

/// Sizes before, within and after reduced axes (normal form). No value unless the axes are
/// adjacent.
std::optional<ReductionFacts::Sizes> split_shape(const std::vector<std::int64_t>& shape,
                                                 const std::vector<std::int64_t>& axes);

/// How the shape splits around the axes of a reducing operation (sum, amax, softmax, layer norm
/// ...) and nothing for any other operation or for axes that are not adjacent.
std::optional<ReductionFacts::Sizes> reduction_sizes(const OperationNode& node, const Case& sample,
                                                     const ReferenceGraph& graph);

}  // namespace ksplit
