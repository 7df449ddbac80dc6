// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/literal.h"
#include "task/case.h"
#include "task/graph.h"

namespace ksplit {

/// Where an attribute of the operator comes from: a forward argument that equals it on every case,
/// or one constant on all cases.
struct AttributeSource {
  std::optional<int> argument;  // position among forward's parameters
  Literal constant;             // meaningful when there is no argument
};

/// The reference reduces one tensor over adjacent axes and does nothing else.
/// The shape splits around the reduced axes into outer x reduce x inner.
struct ReductionFacts {
  struct Sizes {
    std::int64_t outer, reduce, inner;
  };
  std::string op;              // "sum", "mean", "max", "min", "prod"
  int input = 0;               // position of the tensor among forward's parameters
  AttributeSource dim;         // int, list of ints, or None (all axes)
  AttributeSource keepdim;     // bool
  std::map<int, Sizes> sizes;  // by case index
};

/// The reference combines two operands elementwise with broadcasting and does nothing else:
/// lhs op (alpha * rhs). An operand is a forward argument (tensor or number).
struct BroadcastFacts {
  std::string op;  // "add", "sub", "mul", "div"
  int lhs = 0, rhs = 0;
  AttributeSource alpha;  // 1 when the operation has none
};

/// What the reference computes, as far as the experience rules and templates understand it.
/// monostate: something else.
using OperatorFacts = std::variant<std::monostate, ReductionFacts, BroadcastFacts>;

/// Reads the facts off the reference's traces (one a case; same order as `task.cases`).
/// Pure: never fails, answers monostate when any case does not fit.
OperatorFacts operator_facts(const Task& task, const std::vector<ReferenceGraph>& graphs);

}  // namespace ksplit
