// SPDX-License-Identifier: Apache-2.0
#include "cpu/nest_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "core/check.h"
#include "cpu/elementwise.h"
#include "cpu/scalar_type.h"

namespace ksplit::cpu {

using ttir::Operation;
using ttir::Type;
using ttir::Value;

NestWriter::NestWriter(FunctionContext& context, const Nest& nest, const Nest* next)
    : context_(context),
      nest_(nest),
      next_(next),
      rank_(static_cast<int>(nest.shape.size())),
      before_(nest.shape.size() + 1),
      after_(nest.shape.size() + 1) {
  for (const std::int64_t size : nest.shape) {
    lower_.emplace_back("0");
    upper_.push_back(fmt::format("{}", size));
  }
}

Status NestWriter::write() {
  std::vector<const Root*> roots;
  roots.reserve(nest_.roots.size());
  for (const Root& root : nest_.roots) roots.push_back(&root);
  // A lane's loads come before its store.
  std::stable_partition(roots.begin(), roots.end(),
                        [](const Root* root) { return root->kind != Root::Kind::store; });
  in_order_ = std::any_of(roots.begin(), roots.end(), [](const Root* root) {
    return root->kind == Root::Kind::atomic || root->kind == Root::Kind::histogram ||
           root->kind == Root::Kind::print || root->kind == Root::Kind::assertion;
  });
  if (nest_.stores && roots.size() == 1 && !context_.shared.options.check_access) {
    // Nothing happens in lanes that the store leaves out.
    const Operation& store = *roots[0]->op;
    const Mask limits = mask(store.operand_group(2), own_indices(store.operand(0).type));
    for (std::size_t k = 0; k < upper_.size(); ++k) {
      if (!limits.upper[k].empty()) upper_[k] = limits.upper[k];
    }
  }
  KSPLIT_TRY_STATUS(declare_rectangles());
  for (const Root* root : roots) KSPLIT_TRY_STATUS(write_root(*root));
  assemble();
  for (const std::string& copy : copies_) context_.release(copy);
  return {};
}

Status NestWriter::write_root(const Root& root) {
  switch (root.kind) {
    case Root::Kind::store: return store(root);
    case Root::Kind::reduce: return reduce(root);
    case Root::Kind::atomic: return atomic(root);
    case Root::Kind::histogram: return histogram(root);
    case Root::Kind::print: return print(root);
    case Root::Kind::assertion: return assertion(root);
    case Root::Kind::keep: break;
  }
  const Indices at = own_indices(root.value->type);
  KSPLIT_TRY(const Slot slot, value(*root.value, at));
  const Slot place = element(root.targets[0], root.value->type, at);
  before_.back().line(fmt::format("{} = {};", place.text, slot.text));
  return {};
}

/// GCC 12 turns a loop of up to 16 rounds into straight code before it makes vectors, and in
/// vectors made of straight code reads under the first vector's mask for all of them.
constexpr std::int64_t kPeeled = 16;

void NestWriter::assemble() {
  Text& out = *context_.out;
  out.open("");
  for (int k = 0; k < rank_; ++k) {
    const auto at = static_cast<std::size_t>(k);
    out.append(before_[at]);
    const bool innermost = k == rank_ - 1;
    const bool cut = innermost && lanes_ > 0 && lanes_ < nest_.shape[at];
    if (cut) {
      out.open(
          fmt::format("for (int32_t chunk = 0; chunk < {}; chunk += {})", nest_.shape[at], lanes_));
      fetch_ahead();
    }
    if (innermost && !in_order_) out.line("#pragma GCC ivdep");
    if (innermost && reads_some_ && (cut ? lanes_ : nest_.shape[at]) <= kPeeled) {
      out.line("#pragma GCC unroll 1");
    }
    if (cut) {
      out.open(fmt::format("for (int32_t lane = 0; lane < {}; ++lane)", lanes_));
      out.line(fmt::format("const int32_t i{} = chunk + lane;", k));
    } else {
      out.open(
          fmt::format("for (int32_t i{0} = {1}; i{0} < {2}; ++i{0})", k, lower_[at], upper_[at]));
    }
  }
  out.append(before_.back());
  for (int k = rank_; k-- > 0;) {
    const auto at = static_cast<std::size_t>(k);
    if (k == rank_ - 1 && lanes_ > 0 && lanes_ < nest_.shape[at]) out.close();
    out.close();
    out.append(after_[at]);
  }
  out.close();
  std::int64_t lanes = 1;
  for (const std::int64_t size : nest_.shape) lanes *= size;
  std::int64_t work = static_cast<std::int64_t>(nest_.roots.size());
  for (const Value* homed : nest_.homed) work += element_cost(*homed->definition);
  context_.cost += context_.times * lanes * work;
}

// --- indices
// --------------------------------------------------------------------------------------

NestWriter::Indices NestWriter::own_indices(const Type& type) const {
  Indices at;
  int loop = 0;
  for (const std::int64_t size : type.shape()) {
    if (size == 1) {
      at.emplace_back();
    } else {
      at.push_back({fmt::format("i{}", loop), loop + 1, loop});
      ++loop;
    }
  }
  KSPLIT_CHECK(loop == rank_, "a tensor of other lanes in a nest");
  return at;
}

int NestWriter::depth_of(const Indices& at) {
  int depth = 0;
  for (const Index& index : at) depth = std::max(depth, index.depth);
  return depth;
}

/// The place of an element in row-major order.
NestWriter::Index NestWriter::flat(const Type& type, const Indices& at) const {
  Index sum;
  sum.text.clear();
  sum.depth = depth_of(at);
  std::int64_t stride = type.element_count();
  int parts = 0;
  for (std::size_t d = 0; d < at.size(); ++d) {
    stride /= type.shape()[d];
    if (at[d].text == "0") continue;
    if (parts++ > 0) sum.text += " + ";
    sum.text += stride == 1 ? at[d].text : fmt::format("{} * {}", at[d].text, stride);
    sum.loop = parts == 1 && stride == 1 ? at[d].loop : -1;
  }
  if (sum.text.empty()) sum.text = "0";
  return sum;
}

NestWriter::Slot NestWriter::element(const std::string& buffer, const Type& type,
                                     const Indices& at) const {
  const Index index = flat(type, at);
  return {fmt::format("{}[{}]", buffer, index.text), index.depth};
}

NestWriter::Slot NestWriter::temporary(const Type& type, std::string_view name,
                                       const std::string& expression, int depth) {
  const std::string variable = context_.unique(name);
  before_[static_cast<std::size_t>(depth)].line(
      fmt::format("{} const {} = {};", c_type(type), variable, expression));
  return {variable, depth};
}

// --- values
// ---------------------------------------------------------------------------------------

Result<NestWriter::Slot> NestWriter::value(const Value& value, const Indices& at) {
  if (!value.type.is_tensor()) return Slot{context_.scalar(value), 0};
  std::string where;
  for (const Index& index : at) where += index.text + ",";
  const auto key = std::make_pair(&value, where);
  if (const auto found = computed_.find(key); found != computed_.end()) return found->second;
  KSPLIT_TRY(Slot slot, compute(value, at));
  computed_[key] = slot;
  return slot;
}

Result<NestWriter::Slot> NestWriter::compute(const Value& value, const Indices& at) {
  const Type element_type = value.type.element();
  if (const std::string* buffer = context_.buffer(value)) {
    const Slot place = element(*buffer, value.type, at);
    return temporary(element_type, value.name, place.text, place.depth);
  }
  if (value.definition == nullptr || !value.definition->regions.empty()) {
    const Affine* form = context_.affine.of(value);
    KSPLIT_CHECK(form != nullptr, "neither a buffer nor a form for " + value.name);
    return affine_value(value, *form, at);
  }
  const Operation& op = *value.definition;
  if (op.is("tt.load")) return load(op, at);
  if (op.is("arith.constant") || op.is("ub.poison")) return constant(value, at);
  if (!is_elementwise(op)) return shape_operation(op, value, at);
  std::vector<std::string> operands;
  int depth = 0;
  for (const Value* operand : op.operands) {
    KSPLIT_TRY(const Slot slot, this->value(*operand, at));
    operands.push_back(slot.text);
    depth = std::max(depth, slot.depth);
  }
  KSPLIT_TRY(const std::string expression, elementwise_expression(op, value.index, operands));
  return temporary(element_type, value.name, expression, depth);
}

NestWriter::Slot NestWriter::constant(const Value& value, const Indices& at) {
  const Type type = value.type.element();
  const Operation& op = *value.definition;
  if (op.is("ub.poison")) return {literal(type, 0), 0};
  const auto& dense = *op.attribute("value")->as<ttir::DenseElements>();
  if (dense.is_splat()) return {literal(type, dense.bits[0]), 0};
  const std::string array = context_.shared.unique(value.name);
  std::vector<std::string> items;
  items.reserve(dense.bits.size());
  for (const std::uint64_t bits : dense.bits) items.push_back(literal(type, bits));
  context_.shared.helpers.line(
      fmt::format("const {} {}[] = {{{}}};", c_type(type), array, fmt::join(items, ", ")));
  const Slot place = element(array, value.type, at);
  return temporary(type, value.name, place.text, place.depth);
}

Result<NestWriter::Slot> NestWriter::affine_value(const Value& value, const Affine& form,
                                                  const Indices& at) {
  std::string sum = form.offset.str();
  int depth = depth_of(at);
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (!form.stride[d].is(0) && at[d].text != "0") {
      sum += fmt::format(" + int64_t({}) * ({})", at[d].text, form.stride[d].str());
    }
  }
  for (const Affine::Addend& addend : form.addends) {
    Indices its;
    for (const int axis : addend.axis) {
      its.push_back(axis < 0 ? Index{} : at[static_cast<std::size_t>(axis)]);
    }
    KSPLIT_TRY(const Slot slot, this->value(*addend.value, its));
    sum += fmt::format(" + int64_t({}) * ({})", slot.text, addend.scale.str());
    depth = std::max(depth, slot.depth);
  }
  const Type type = value.type.element();
  const std::string expression = form.base.empty() ? fmt::format("{}({})", c_type(type), sum)
                                                   : fmt::format("{} + ({})", form.base, sum);
  return temporary(type, value.name, expression, depth);
}

Result<NestWriter::Slot> NestWriter::shape_operation(const Operation& op, const Value& result,
                                                     const Indices& at) {
  const Type type = result.type;
  if (op.is("tt.make_range")) {
    const auto start = op.integer("start");
    if (start == 0 || at[0].text == "0") {
      return Slot{at[0].text == "0" ? fmt::format("{}", start) : at[0].text, at[0].depth};
    }
    return temporary(type.element(), result.name, fmt::format("{} + {}", at[0].text, start),
                     at[0].depth);
  }
  const Value& from = op.operand(0);
  if (op.is("tt.splat")) return value(from, {});
  Indices its = at;
  if (op.is("tt.expand_dims")) {
    its.erase(its.begin() + op.integer("axis"));
    return value(from, its);
  }
  if (op.is("tt.broadcast")) {
    for (std::size_t d = 0; d < its.size(); ++d) {
      if (from.type.shape()[d] == 1) its[d] = Index{};
    }
    return value(from, its);
  }
  if (op.is("tt.trans")) {
    const auto& order = op.attribute("order")->as<ttir::DenseArray>()->values;
    for (std::size_t d = 0; d < order.size(); ++d) its[static_cast<std::size_t>(order[d])] = at[d];
    return value(from, its);
  }
  if (op.is("tt.reshape")) return reshaped(from, type, at);
  if (op.is("tt.split")) {
    its.push_back({fmt::format("{}", result.index), 0, -1});
    return value(from, its);
  }
  if (op.is("tt.join") || op.is("tt.cat")) return concatenate(op, at);
  if (op.is("tt.gather")) {
    const auto axis = static_cast<std::size_t>(op.integer("axis"));
    KSPLIT_TRY(const Slot where, value(op.operand(1), at));
    its[axis] = {where.text, where.depth, -1};
    return value(from, its);
  }
  return unsupported(op);
}

Result<NestWriter::Slot> NestWriter::concatenate(const Operation& op, const Indices& at) {
  const bool join = op.is("tt.join");
  // Which of the two, and the index within it. The other one's buffer must not be touched there.
  const std::size_t axis = join ? at.size() - 1 : 0;
  const std::int64_t length = join ? 1 : op.operand(0).type.shape()[0];
  std::vector<std::string> parts;
  int depth = at[axis].depth;
  for (int side = 0; side < 2; ++side) {
    const Value& part = op.operand(static_cast<std::size_t>(side));
    Indices its = at;
    if (join) {
      its.pop_back();
    } else if (side == 1) {
      its[0] = {fmt::format("({} - {})", at[0].text, length), at[0].depth, -1};
    }
    Slot slot;
    if (const std::string* buffer = context_.buffer(part)) {
      reads_some_ = true;
      slot = element(*buffer, part.type, its);
    } else {
      KSPLIT_TRY(slot, value(part, its));
    }
    parts.push_back(slot.text);
    depth = std::max(depth, slot.depth);
  }
  return temporary(op.result().type.element(), op.result().name,
                   fmt::format("{} < {} ? {} : {}", at[axis].text, length, parts[0], parts[1]),
                   depth);
}

Result<NestWriter::Slot> NestWriter::reshaped(const Value& from, const Type& to,
                                              const Indices& at) {
  Index place = flat(to, at);
  if (const std::string* buffer = context_.buffer(from)) {
    return temporary(to.element(), from.name, fmt::format("{}[{}]", *buffer, place.text),
                     place.depth);
  }
  Indices its;
  if (squeezed(from.type) == squeezed(to)) {
    Indices wide;
    for (const Index& index : at) {
      if (to.shape()[static_cast<std::size_t>(&index - at.data())] != 1) wide.push_back(index);
    }
    auto next = wide.begin();
    for (const std::int64_t size : from.type.shape()) its.push_back(size == 1 ? Index{} : *next++);
    return value(from, its);
  }
  // Row-major order is kept; all lengths are powers of two.
  std::int64_t stride = from.type.element_count();
  for (const std::int64_t size : from.type.shape()) {
    stride /= size;
    if (size == 1) {
      its.emplace_back();
    } else {
      its.push_back({fmt::format("(({}) / {} % {})", place.text, stride, size), place.depth, -1});
    }
  }
  return value(from, its);
}

Status write_nest(FunctionContext& context, const Nest& nest, const Nest* next) {
  return NestWriter(context, nest, next).write();
}

}  // namespace ksplit::cpu
