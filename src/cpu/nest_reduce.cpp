// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cpu/combine.h"
#include "cpu/nest_writer.h"
#include "cpu/scalar_type.h"

namespace ksplit::cpu {

using ttir::Operation;
using ttir::Type;
using ttir::Value;

namespace {

/// Partial results of a reduction along the innermost loop: enough for four vectors of 64 bytes, so
/// that the loop is not held up by the latency of one.
constexpr std::int64_t kPartialBytes = 256;

std::string indexed(const std::string& name, const std::string& index) {
  return fmt::format("{}[{}]", name, index);
}

}  // namespace

Status NestWriter::reduce(const Root& root) {
  const Operation& op = *root.op;
  const Type type = op.operand(0).type;
  const Indices at = own_indices(type);
  const auto axis = static_cast<std::size_t>(op.integer("axis"));
  std::vector<std::string> values, results;
  Indices kept = at;
  kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(axis));
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    KSPLIT_TRY(const Slot slot, value(op.operand(i), at));
    values.push_back(slot.text);
    const Type result = op.result(i).type;
    results.push_back(result.is_tensor() ? element(root.targets[i], result, kept).text
                                         : root.targets[i]);
  }
  Text& body = before_.back();
  if (at[axis].loop < 0) {  // one element
    for (std::size_t i = 0; i < values.size(); ++i) {
      body.line(fmt::format("{} = {};", results[i], values[i]));
    }
    return {};
  }
  KSPLIT_TRY(const Combine combine, Combine::of(context_, op));
  if (at[axis].loop == rank_ - 1) {
    reduce_lanes(op, values, results, combine);
    return {};
  }
  // Lanes of the inner loops are reduced side by side, in the result itself.
  const std::string first = fmt::format("i{} == 0", at[axis].loop);
  if (values.size() == 1) {
    const std::string sum = context_.unique("sum");
    body.line(fmt::format("{} {};", c_type(type.element()), sum));
    body.line(combine.statement(results, values, {sum}));
    body.line(fmt::format("{} = {} ? {} : {};", results[0], first, values[0], sum));
    return {};
  }
  body.line(fmt::format("if ({}) {{", first));
  for (std::size_t i = 0; i < values.size(); ++i) {
    body.line(fmt::format("  {} = {};", results[i], values[i]));
  }
  body.line("} else {");
  body.line("  " + combine.statement(results, values, results));
  body.line("}");
  return {};
}

/// Along the innermost loop: `lanes_` partial results, then a tree.
void NestWriter::reduce_lanes(const Operation& op, const std::vector<std::string>& values,
                              const std::vector<std::string>& results, const Combine& combine) {
  const auto inner = static_cast<std::size_t>(rank_ - 1);
  const std::int64_t length = nest_.shape[inner];
  if (lanes_ == 0) {
    std::int64_t widest = 1;
    for (const Value* operand : op.operands) {
      widest = std::max(widest, size_of(operand->type.element()));
    }
    lanes_ = static_cast<int>(std::min(length, kPartialBytes / std::max<std::int64_t>(widest, 2)));
  }
  const bool cut = lanes_ < length;
  const std::string lane = cut ? "lane" : fmt::format("i{}", rank_ - 1);
  const bool start_neutral = combine.identity().has_value();
  std::vector<std::string> partial, at_lane, at_other;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string type = c_type(op.operand(i).type.element());
    partial.push_back(context_.unique(op.result(i).name + "_part"));
    at_lane.push_back(indexed(partial[i], lane));
    at_other.push_back(indexed(partial[i], "lane + half"));
    before_[inner].line(fmt::format("{} {}[{}];", type, partial[i], lanes_));
    if (start_neutral) {
      before_[inner].line(
          fmt::format("for ({}& part : {}) part = {};", type, partial[i], *combine.identity()));
    }
  }
  Text& body = before_.back();
  if (start_neutral) {
    body.line(combine.statement(at_lane, values, at_lane));
  } else {
    if (cut) body.open("if (chunk == 0)");
    for (std::size_t i = 0; i < values.size(); ++i) {
      body.line(fmt::format("{} = {};", at_lane[i], values[i]));
    }
    if (cut) {
      body.close("} else {");
      body.deeper();
      body.line(combine.statement(at_lane, values, at_lane));
      body.close();
    }
  }
  Text& end = after_[inner];
  for (std::string& name : at_lane) name = name.substr(0, name.find('[')) + "[lane]";
  end.open(fmt::format("for (int32_t half = {}; half > 0; half /= 2)", lanes_ / 2));
  end.line("#pragma GCC ivdep");
  end.open("for (int32_t lane = 0; lane < half; ++lane)");
  end.line(combine.statement(at_lane, at_other, at_lane));
  end.close();
  end.close();
  for (std::size_t i = 0; i < values.size(); ++i) {
    end.line(fmt::format("{} = {}[0];", results[i], partial[i]));
  }
}

Status NestWriter::histogram(const Root& root) {
  const Operation& op = *root.op;
  const Indices at = own_indices(op.operand(0).type);
  const std::int64_t bins = op.result().type.element_count();
  const Type type = op.operand(0).type.element();
  before_[0].line(
      fmt::format("for (int32_t bin = 0; bin < {}; ++bin) {}[bin] = 0;", bins, root.targets[0]));
  KSPLIT_TRY(const Slot bin, value(op.operand(0), at));
  const Mask lanes = mask(op.operand_group(1), at);
  KSPLIT_TRY(const Slot active, condition(lanes));
  before_.back().line(fmt::format("if ({0} & ({1} < {2}u)) ++{3}[{4}];", active.text,
                                  as_unsigned(type, bin.text), bins, root.targets[0], bin.text));
  return {};
}

}  // namespace ksplit::cpu
