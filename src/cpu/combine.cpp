// SPDX-License-Identifier: Apache-2.0
#include "cpu/combine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "core/check.h"
#include "cpu/elementwise.h"
#include "cpu/scalar_type.h"

namespace ksplit::cpu {

using ttir::Operation;
using ttir::Type;
using ttir::Value;

namespace {

std::optional<std::string> identity_of(const Operation& op) {
  const Type type = op.result().type;
  const auto of_float = [&](double value) {
    return literal(type, ttir::encode_float(type.format(), value));
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const bool wide = type.is_float() && ttir::layout_of(type.format()).has_infinity;
  if (op.is("arith.addf")) return of_float(-0.0);
  if (op.is("arith.mulf")) return of_float(1.0);
  // NaN is the neutral element of maxnum: the lanes of an all-NaN row stay NaN.
  if (op.is("arith.maxnumf") || op.is("arith.minnumf")) {
    return of_float(std::numeric_limits<double>::quiet_NaN());
  }
  if (op.is("arith.maximumf") && wide) return of_float(-infinity);
  if (op.is("arith.minimumf") && wide) return of_float(infinity);
  if (op.is("arith.addi") || op.is("arith.ori") || op.is("arith.xori") || op.is("arith.maxui")) {
    return literal(type, 0);
  }
  if (op.is("arith.muli")) return literal(type, 1);
  if (op.is("arith.andi") || op.is("arith.minui")) return literal(type, ~std::uint64_t{0});
  if (type.is_integer() && type.bit_width() > 1) {
    const auto top = std::int64_t{1} << (type.bit_width() - 2);
    const std::int64_t smallest = -top - top;
    if (op.is("arith.maxsi")) return literal(type, static_cast<std::uint64_t>(smallest));
    if (op.is("arith.minsi")) return literal(type, static_cast<std::uint64_t>(~smallest));
  }
  return std::nullopt;
}

/// The region as a function that gives its results through references.
Result<std::string> write_function(FunctionContext& context, const Operation& op) {
  const ttir::Block& body = op.regions[0]->entry();
  const std::size_t count = op.operands.size();
  Text text;
  std::vector<std::string> parameters;
  parameters.reserve(body.arguments.size() + count);
  FunctionContext inner(context.shared, context.function);
  for (const Value* argument : body.arguments) {
    parameters.push_back(fmt::format("{} {}", c_type(argument->type), inner.name(*argument)));
  }
  std::vector<std::string> outs;
  for (std::size_t i = 0; i < count; ++i) {
    outs.push_back(inner.unique(fmt::format("out{}", i)));
    parameters.push_back(fmt::format("{}& {}", c_type(body.arguments[i]->type), outs.back()));
  }
  for (const auto& step : body.operations) {
    if (step->is("tt.reduce.return") || step->is("tt.scan.return")) {
      for (std::size_t i = 0; i < count; ++i) {
        text.line(fmt::format("{} = {};", outs[i], inner.scalar(step->operand(i))));
      }
      continue;
    }
    if (step->is("arith.constant")) continue;
    if (!is_elementwise(*step)) return unsupported(*step, "inside a reduction");
    std::vector<std::string> operands;
    for (const Value* operand : step->operands) operands.push_back(inner.scalar(*operand));
    for (const Value* result : step->results) {
      KSPLIT_TRY(const std::string expression,
                 elementwise_expression(*step, result->index, operands));
      text.line(
          fmt::format("{} const {} = {};", c_type(result->type), inner.name(*result), expression));
    }
  }
  std::string name = context.shared.unique("combine");
  Text& file = context.shared.helpers;
  file.open(fmt::format("inline __attribute__((always_inline)) void {}({})", name,
                        fmt::join(parameters, ", ")));
  file.append(text);
  file.close();
  return name;
}

}  // namespace

Result<Combine> Combine::of(FunctionContext& context, const Operation& op) {
  KSPLIT_CHECK(op.regions.size() == 1 && op.regions[0]->blocks.size() == 1,
               "a region of one block");
  const ttir::Block& body = op.regions[0]->entry();
  Combine combine;
  const Operation& first = *body.operations.front();
  const bool single = op.operands.size() == 1 && body.operations.size() == 2 &&
                      first.operands.size() == 2 && is_elementwise(first) &&
                      &body.operations.back()->operand(0) == &first.result() &&
                      first.operand(0).is_block_argument() && first.operand(1).is_block_argument();
  if (!single) {
    KSPLIT_TRY(combine.function_, write_function(context, op));
    return combine;
  }
  combine.single_ = &first;
  for (const Value* operand : first.operands) combine.operand_of_.push_back(operand->index);
  if (combine.operand_of_[0] != combine.operand_of_[1]) combine.identity_ = identity_of(first);
  const std::vector<std::string> names = {"a", "b"};
  if (auto checked = elementwise_expression(first, 0, names); !checked) {
    return tl::unexpected(std::move(checked).error());
  }
  return combine;
}

std::string Combine::statement(const std::vector<std::string>& left,
                               const std::vector<std::string>& right,
                               const std::vector<std::string>& out) const {
  if (single_ == nullptr) {
    return fmt::format("{}({}, {}, {});", function_, fmt::join(left, ", "), fmt::join(right, ", "),
                       fmt::join(out, ", "));
  }
  std::vector<std::string> operands;
  operands.reserve(operand_of_.size());
  for (const int side : operand_of_) operands.push_back(side == 0 ? left[0] : right[0]);
  return fmt::format("{} = {};", out[0], *elementwise_expression(*single_, 0, operands));
}

}  // namespace ksplit::cpu
