// SPDX-License-Identifier: Apache-2.0
#include "cpu/affine.h"

#include <fmt/format.h>

#include <algorithm>

#include "cpu/scalar_type.h"

namespace ksplit::cpu {

using ttir::Operation;
using ttir::Type;
using ttir::Value;

std::string Uniform::str() const {
  std::string out;
  for (const auto& [expression, factor] : terms) {
    const bool minus = factor < 0;
    if (out.empty()) {
      out = minus ? "-" : "";
    } else {
      out += minus ? " - " : " + ";
    }
    const std::int64_t size = minus ? -factor : factor;
    out += size == 1 ? expression : fmt::format("{} * {}", expression, size);
  }
  if (out.empty()) return fmt::format("{}", constant);
  if (constant != 0) out += fmt::format(" {} {}", constant < 0 ? '-' : '+', std::abs(constant));
  return out;
}

Uniform operator+(const Uniform& a, const Uniform& b) {
  Uniform sum = a;
  sum.constant += b.constant;
  for (const auto& [expression, factor] : b.terms) {
    std::int64_t& total = sum.terms[expression];
    total += factor;
    if (total == 0) sum.terms.erase(expression);
  }
  return sum;
}

Uniform operator*(const Uniform& a, const Uniform& b) {
  if (!a.is_constant() && !b.is_constant()) {
    return Uniform::of(fmt::format("(({}) * ({}))", a.str(), b.str()));
  }
  const Uniform& sum = a.is_constant() ? b : a;
  const std::int64_t factor = a.is_constant() ? a.constant : b.constant;
  Uniform product = Uniform::of(sum.constant * factor);
  if (factor == 0) return product;
  for (const auto& [expression, times] : sum.terms) product.terms[expression] = times * factor;
  return product;
}

Uniform operator-(const Uniform& a, const Uniform& b) {
  return a + b * Uniform::of(-1);
}

bool Affine::Addend::follows(int index) const {
  return std::find(axis.begin(), axis.end(), index) != axis.end();
}

bool Affine::follows(int i) const {
  return !stride[static_cast<std::size_t>(i)].is(0) ||
         std::any_of(addends.begin(), addends.end(),
                     [i](const Addend& addend) { return addend.follows(i); });
}

namespace {

bool is_wide_integer(const Type& type) {
  return type.is_index() || (type.is_integer() && type.bit_width() >= 32);
}

/// Expressions longer than this are not worth carrying along.
constexpr std::size_t kLongest = 400;

Affine opaque(const Value& value) {
  Affine form;
  const auto shape = value.type.shape();
  form.stride.resize(shape.size());
  Affine::Addend addend{&value, {}, Uniform::of(1)};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    addend.axis.push_back(shape[d] == 1 ? -1 : static_cast<int>(d));
  }
  form.addends.push_back(std::move(addend));
  return form;
}

Affine sum(const Affine& a, const Affine& b, const Uniform& times) {
  Affine out = a;
  out.offset = a.offset + b.offset * times;
  for (std::size_t d = 0; d < out.stride.size(); ++d) {
    out.stride[d] = a.stride[d] + b.stride[d] * times;
  }
  for (Affine::Addend addend : b.addends) {
    addend.scale = addend.scale * times;
    out.addends.push_back(std::move(addend));
  }
  return out;
}

std::optional<Uniform> as_uniform(const Affine& form) {
  const bool varies = !form.addends.empty() || std::any_of(form.stride.begin(), form.stride.end(),
                                                           [](auto& s) { return !s.is(0); });
  if (varies) return std::nullopt;
  return form.offset;
}

/// The same lanes under other axes: `axis[d]` is where axis d of the old shape went, or -1.
Affine moved(const Affine& form, std::size_t rank, const std::vector<int>& axis) {
  Affine out;
  out.base = form.base;
  out.offset = form.offset;
  out.stride.resize(rank);
  for (std::size_t d = 0; d < axis.size(); ++d) {
    if (axis[d] >= 0) out.stride[static_cast<std::size_t>(axis[d])] = form.stride[d];
  }
  for (Affine::Addend addend : form.addends) {
    for (int& at : addend.axis) at = at < 0 ? -1 : axis[static_cast<std::size_t>(at)];
    out.addends.push_back(std::move(addend));
  }
  return out;
}

/// Where each axis goes in a reshape that only adds or removes axes of length 1.
std::optional<std::vector<int>> unit_reshape(std::span<const std::int64_t> from,
                                             std::span<const std::int64_t> to) {
  std::vector<int> axis(from.size(), -1);
  std::size_t next = 0;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (from[d] == 1) continue;
    while (next < to.size() && to[next] == 1) ++next;
    if (next == to.size() || to[next] != from[d]) return std::nullopt;
    axis[d] = static_cast<int>(next++);
  }
  while (next < to.size() && to[next] == 1) ++next;
  if (next != to.size()) return std::nullopt;
  return axis;
}

/// Splits one axis into several: [1024] -> [32, 32]. Only for forms without addends.
std::optional<Affine> split_reshape(const Affine& form, std::span<const std::int64_t> from,
                                    std::span<const std::int64_t> to) {
  if (!form.addends.empty()) return std::nullopt;
  Affine out;
  out.base = form.base;
  out.offset = form.offset;
  out.stride.resize(to.size());
  std::size_t next = to.size();
  for (std::size_t d = from.size(); d-- > 0;) {
    std::int64_t covered = 1;
    while (covered < from[d]) {
      if (next == 0) return std::nullopt;
      --next;
      if (to[next] != 1) out.stride[next] = form.stride[d] * Uniform::of(covered);
      covered *= to[next];
    }
    if (covered != from[d]) return std::nullopt;
  }
  return out;
}

}  // namespace

Uniform AffineAnalysis::uniform(const Value& scalar) const {
  if (scalar.definition != nullptr && scalar.definition->is("arith.constant")) {
    return Uniform::of(scalar.definition->integer("value"));
  }
  const std::string name = name_(scalar);
  return Uniform::of(scalar.type.bit_width() == 64 ? name : fmt::format("int64_t({})", name));
}

const Affine* AffineAnalysis::of(const Value& value) {
  const Type element = value.type.element();
  if (!value.type.is_tensor() || (!is_wide_integer(element) && !element.is_pointer())) {
    return nullptr;
  }
  auto found = known_.find(&value);
  if (found == known_.end()) {
    std::optional<Affine> form = derive(value);
    if (form) {
      for (std::size_t d = 0; d < form->stride.size(); ++d) {
        if (value.type.shape()[d] == 1) form->stride[d] = {};
      }
    }
    if (!form || form->offset.str().size() > kLongest) {
      form = element.is_pointer() ? std::nullopt : std::optional<Affine>(opaque(value));
    }
    found = known_.insert_or_assign(&value, std::move(form)).first;
  }
  return found->second ? &*found->second : nullptr;
}

void AffineAnalysis::assume(const Value& value, std::optional<Affine> form) {
  if (!form && !value.type.element().is_pointer()) form = opaque(value);
  known_.insert_or_assign(&value, std::move(form));
}

void AffineAnalysis::forget(const ttir::Region& region) {
  for (const auto& block : region.blocks) {
    for (const Value* argument : block->arguments) known_.erase(argument);
  }
  ttir::walk(region, [&](const Operation& op) {
    for (const Value* result : op.results) known_.erase(result);
    for (const auto& inner : op.regions) {
      for (const auto& block : inner->blocks) {
        for (const Value* argument : block->arguments) known_.erase(argument);
      }
    }
  });
}

std::optional<Affine> AffineAnalysis::derive(const Value& value) {
  if (value.definition == nullptr) return std::nullopt;
  const Operation& op = *value.definition;
  if (auto form = derive_shape(op)) return form;
  return value.type.element().is_pointer() ? derive_pointer(op) : derive_integer(op);
}

std::optional<Affine> AffineAnalysis::derive_shape(const Operation& op) {
  if (op.operands.empty()) return std::nullopt;
  const Value& from = op.operand(0);
  const auto shape = op.result().type.shape();
  if (op.is("tt.splat")) {
    Affine form;
    form.stride.resize(shape.size());
    if (from.type.is_pointer()) {
      form.base = name_(from);
    } else {
      form.offset = uniform(from);
    }
    return form;
  }
  if (!op.is("tt.expand_dims") && !op.is("tt.broadcast") && !op.is("tt.trans") &&
      !op.is("tt.reshape")) {
    return std::nullopt;
  }
  const Affine* source = of(from);
  if (source == nullptr) return std::nullopt;
  std::vector<int> axis(from.type.shape().size());
  for (std::size_t d = 0; d < axis.size(); ++d) axis[d] = static_cast<int>(d);
  if (op.is("tt.expand_dims")) {
    const auto at = op.integer("axis");
    for (int& d : axis) d += d >= at ? 1 : 0;
  } else if (op.is("tt.trans")) {
    const auto& order = op.attribute("order")->as<ttir::DenseArray>()->values;
    for (std::size_t d = 0; d < order.size(); ++d) {
      axis[static_cast<std::size_t>(order[d])] = static_cast<int>(d);
    }
  } else if (op.is("tt.reshape")) {
    const auto same = unit_reshape(from.type.shape(), shape);
    if (!same) return split_reshape(*source, from.type.shape(), shape);
    axis = *same;
  }
  return moved(*source, shape.size(), axis);
}

std::optional<Affine> AffineAnalysis::derive_pointer(const Operation& op) {
  if (op.is("tt.addptr")) {
    const Affine* pointer = of(op.operand(0));
    const Affine* offset = of(op.operand(1));
    if (pointer == nullptr || offset == nullptr) return std::nullopt;
    return sum(*pointer, *offset, Uniform::of(1));
  }
  if (op.is("tt.bitcast")) {
    const Affine* pointer = of(op.operand(0));
    const Type from = op.operand(0).type.element().pointee();
    const Type to = op.result().type.element().pointee();
    if (pointer == nullptr || size_of(from) != size_of(to)) return std::nullopt;
    Affine form = *pointer;
    form.base = fmt::format("reinterpret_cast<{}*>({})", c_type(to), pointer->base);
    return form;
  }
  return std::nullopt;
}

std::optional<Affine> AffineAnalysis::derive_integer(const Operation& op) {
  const Type type = op.result().type;
  if (op.is("tt.make_range")) {
    Affine form;
    form.offset = Uniform::of(op.integer("start"));
    form.stride = {Uniform::of(1)};
    return form;
  }
  if (op.is("arith.constant")) {
    const auto* dense = op.attribute("value")->as<ttir::DenseElements>();
    if (dense == nullptr || !dense->is_splat()) return std::nullopt;
    Affine form;
    form.stride.resize(type.shape().size());
    form.offset = Uniform::of(static_cast<std::int64_t>(dense->bits[0]));
    return form;
  }
  if (op.is("arith.extsi") || op.is("arith.index_cast")) {
    const Affine* from = of(op.operand(0));
    return from == nullptr ? std::nullopt : std::optional<Affine>(*from);
  }
  if (op.operands.size() != 2) return std::nullopt;
  const Affine* a = of(op.operand(0));
  const Affine* b = of(op.operand(1));
  if (a == nullptr || b == nullptr) return std::nullopt;
  if (op.is("arith.addi")) return sum(*a, *b, Uniform::of(1));
  if (op.is("arith.subi")) return sum(*a, *b, Uniform::of(-1));
  Affine zero;
  zero.stride.resize(type.shape().size());
  if (op.is("arith.muli")) {
    if (const auto factor = as_uniform(*b)) return sum(zero, *a, *factor);
    if (const auto factor = as_uniform(*a)) return sum(zero, *b, *factor);
  }
  if (op.is("arith.shli")) {
    const auto by = as_uniform(*b);
    if (by && by->is_constant() && by->constant >= 0 && by->constant < 31) {
      return sum(zero, *a, Uniform::of(std::int64_t{1} << by->constant));
    }
  }
  return std::nullopt;
}

}  // namespace ksplit::cpu
