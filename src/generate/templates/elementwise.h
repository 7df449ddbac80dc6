// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generate/templates/candidates.h"
#include "generate/templates/elementwise_layout.h"

// What the elementwise templates share: left op (alpha * right), computed in fp32 and rounded once,
// as torch does for tensors of one floating dtype.

namespace ksplit::templates {

struct ElementwiseOperand {
  int argument = 0;
  std::string name;
  bool is_tensor = true;
  std::string passed;  // host expression
};

struct ElementwisePlan {
  Names names;
  std::string op;  // "add", "sub", "mul", "div"
  ElementwiseOperand left, right;
  std::string alpha;         // factor in the kernel: "", "alpha" or a literal
  std::string alpha_passed;  // host expression, when it is an argument

  std::set<std::string> dtypes;
  Guard numbers;  // types of the arguments that are numbers

  Broadcast broadcast;              // of two tensors
  bool equal_shapes = false;        // in every case
  Guard product_bound;              // where both operands broadcast: keeps the result in bounds
  std::vector<double> elements;     // of the result, by case
  std::vector<double> moved_bytes;  // by case

  bool two_tensors() const { return left.is_tensor && right.is_tensor; }

  /// Kernel text: the arguments in order, and the result's value from `x` and `y` in fp32.
  std::vector<std::string> kernel_arguments() const;
  std::string value() const;
  /// "x + y * alpha", in forward's names.
  std::string title() const;

  /// Host text: what is passed for the kernel's arguments, and the result's allocation.
  std::vector<std::string> passed(const std::string& out) const;
  void add_output(HostText& host, const std::string& out) const;

  /// Types, dtypes, gradient, device and numbers, without a word on shapes.
  Guard common(bool contiguous) const;
  /// With shapes: one alternative a layout.
  std::vector<Guard> with_shapes() const;
  std::vector<Subject> envelope() const;
};

/// Whether the operand has every dimension of the result, in all layouts.
bool spans_result(const ElementwisePlan& plan, bool left);

/// Expression of a dimension's size, `k` from the right, in every layout of this result rank;
/// empty if no operand has that dimension in all of them.
std::string dimension_size(const ElementwisePlan& plan, std::size_t rank, std::size_t k);

/// Reads the plan; none (a value, not an error) when the group is no elementwise operation.
/// Errors: unsupported, saying which case or attribute does not fit.
Result<std::optional<ElementwisePlan>> elementwise_plan(const GeneratorContext& context);

}  // namespace ksplit::templates
