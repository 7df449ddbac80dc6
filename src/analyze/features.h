// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts.h"
#include "core/literal.h"
#include "task/case.h"
#include "task/graph.h"

namespace ksplit {

/// What rules and bottleneck tests may ask of a case, by name. The largest tensor input (the first
/// of several) stands for the case where one tensor is meant.
///
///   element_count    int     elements of the largest tensor input
///   dtype            string  its dtype, "float16"
///   rank             int     its rank
///   contiguous       bool    every tensor input is contiguous
///   power_of_two     bool    every size of every tensor input is a power of two
///   aligned          bool    every tensor input starts on 16 bytes
///   strided          bool    some tensor input is not contiguous and has a stride above 1
///   low_precision    bool    some tensor input is bfloat16, float8 or an 8-bit integer
///
/// Where the reference contains a reduction over adjacent axes (the first one in its trace):
///
///   outer_size, reduce_size, inner_size   int
///
/// Where the result has the shape to which the tensor inputs broadcast (left-padded with 1):
///
///   out_ndim         int     rank of the result
///   broadcast_dims   list    dimensions along which some operand is repeated, ascending
///   unit_dims        list    dimensions of one element, along which nothing tells whether an
///   operand
///                            is repeated
///   equal_shapes     bool    no operand is repeated; a Python number is no operand
///   operand_shapes   list    the operands' shapes
///
/// and if some operand is repeated:
///
///   repeated_operand  string  of two operands "left", "right" or "both"; else "several"
///   broadcast_levels  string  of two operands: what spans the result's dimensions, outermost
///   first,
///                             in runs: B both operands, L and R only the left or right one. A
///                             dimension of one element makes no run. [2, 64, 56, 56] + [64, 1, 1]
///                             has "LBL"
///
/// A feature that does not apply to a case is absent.
using Features = std::map<std::string, Literal, std::less<>>;

/// Features of one case.
Features case_features(const Case& sample, const ReferenceGraph& graph);

struct FeatureInfo {
  enum class Kind { integer, boolean, text, list };
  std::string_view name;
  Kind kind;
};

/// Every feature, for the checks of rule files.
std::span<const FeatureInfo> feature_table();

}  // namespace ksplit
