// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cpu/combine.h"
#include "cpu/elementwise.h"
#include "cpu/function.h"
#include "cpu/scalar_type.h"

namespace ksplit::cpu {

using ttir::FloatFormat;
using ttir::Operation;
using ttir::Type;
using ttir::Value;

Status FunctionWriter::unsplat(const Operation& op, Schedule& schedule) {
  schedule.keep(op.operand(0));
  KSPLIT_TRY_STATUS(schedule.flush());
  define(op.result(), fmt::format("{}[0]", *context_.buffer(op.operand(0))));
  return {};
}

/// The tensor's elements as values of another type, in a buffer.
std::string FunctionWriter::converted(const Value& value, const Type& element) {
  const Type from = value.type.element();
  const std::string& buffer = *context_.buffer(value);
  if (from == element) return buffer;
  const std::string wide = context_.allocate(value.type.with_element(element), value.name);
  Text& out = *context_.out;
  out.line("#pragma GCC ivdep");
  out.open(fmt::format("for (int32_t i = 0; i < {}; ++i)", value.type.element_count()));
  out.line(fmt::format("{}[i] = {};", wide, widen(from, buffer + "[i]")));
  out.close();
  return wide;
}

Status FunctionWriter::dot(const Operation& op, Schedule& schedule) {
  for (const Value* operand : op.operands) schedule.keep(*operand);
  KSPLIT_TRY_STATUS(schedule.flush());
  const Type type = op.result().type;
  // Sums are kept in 32 bits or more.
  Type sum = type.element();
  if (sum.is_float() && sum.bit_width() < 32) sum = Type::floating(FloatFormat::f32);
  std::string buffers[3];
  for (std::size_t i = 0; i < 3; ++i) buffers[i] = converted(op.operand(i), sum);
  const std::string result = context_.allocate(op.result());
  context_.set_buffer(op.result(), result);
  schedule.own(op.result(), result);
  const bool exact = sum == type.element();
  const std::string out_buffer = exact ? result : context_.allocate(type.with_element(sum), "wide");

  const auto shape = type.shape();
  const auto rank = shape.size();
  const std::int64_t m = shape[rank - 2], n = shape[rank - 1];
  const std::int64_t k = op.operand(0).type.shape()[rank - 1];
  Text& out = *context_.out;
  if (rank == 3) {
    out.open(fmt::format("for (int32_t batch = 0; batch < {}; ++batch)", shape[0]));
    out.line(
        fmt::format("dot<{0}, {1}, {2}>({3} + batch * {7}, {4} + batch * {8}, "
                    "{5} + batch * {9}, {6} + batch * {9});",
                    m, n, k, buffers[0], buffers[1], buffers[2], out_buffer, m * k, k * n, m * n));
    out.close();
  } else {
    out.line(fmt::format("dot<{}, {}, {}>({}, {}, {}, {});", m, n, k, buffers[0], buffers[1],
                         buffers[2], out_buffer));
  }
  if (!exact) {
    out.open(fmt::format("for (int32_t i = 0; i < {}; ++i)", type.element_count()));
    out.line(fmt::format("{}[i] = {};", result, narrow(type.element(), out_buffer + "[i]")));
    out.close();
    context_.release(out_buffer);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (buffers[i] != *context_.buffer(op.operand(i))) context_.release(buffers[i]);
  }
  context_.cost += context_.times * type.element_count() * k / 4;
  return {};
}

/// Element after element along the axis; the lanes behind the axis go side by side.
Status FunctionWriter::scan(const Operation& op, Schedule& schedule) {
  for (const Value* operand : op.operands) schedule.keep(*operand);
  KSPLIT_TRY_STATUS(schedule.flush());
  KSPLIT_TRY(const Combine combine, Combine::of(context_, op));
  const Type type = op.operand(0).type;
  const auto shape = type.shape();
  const auto axis = static_cast<std::size_t>(op.integer("axis"));
  const bool reverse = op.integer("reverse") != 0;
  std::int64_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d < axis) outer *= shape[d];
    if (d > axis) inner *= shape[d];
  }
  const std::int64_t length = shape[axis];
  std::vector<std::string> before, here, there;
  Text& out = *context_.out;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const std::string result = context_.allocate(op.result(i));
    context_.set_buffer(op.result(i), result);
    schedule.own(op.result(i), result);
    const std::string source = *context_.buffer(op.operand(i));
    here.push_back(fmt::format("{}[at]", source));
    there.push_back(fmt::format("{}[at]", result));
    before.push_back(fmt::format("{}[at {} {}]", result, reverse ? '+' : '-', inner));
  }
  out.open(fmt::format("for (int32_t row = 0; row < {}; ++row)", outer));
  out.open(fmt::format("for (int32_t step = 0; step < {}; ++step)", length));
  if (inner > 1) out.line("#pragma GCC ivdep");
  out.open(fmt::format("for (int32_t lane = 0; lane < {}; ++lane)", inner));
  const std::string along = reverse ? fmt::format("({} - step)", length - 1) : "step";
  out.line(fmt::format("const int32_t at = (row * {} + {}) * {} + lane;", length, along, inner));
  out.open("if (step == 0)");
  for (std::size_t i = 0; i < here.size(); ++i) {
    out.line(fmt::format("{} = {};", there[i], here[i]));
  }
  out.close("} else {");
  out.deeper();
  out.line(combine.statement(before, here, there));
  out.close();
  for (int k = 0; k < 3; ++k) out.close();
  context_.cost += context_.times * type.element_count() * 2;
  return {};
}

}  // namespace ksplit::cpu
