// SPDX-License-Identifier: Apache-2.0
#include "ttir/analysis/affine.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ksplit::ttir {
namespace {

// Each loop's body is followed twice, so nests double the work; what is deeper stays unknown.
constexpr int kMaxLoopsAround = 6;

using Form = std::optional<AffineForm>;

bool is_tracked(const Type& type) {
  const Type element = type.element();
  return element.is_pointer() || element.is_index() ||
         (element.is_integer() && element.bit_width() >= 8);
}

Symbol opaque_symbol(const Value& value) {
  return {Symbol::Kind::value, 0, &value};
}

AffineForm uniform(Polynomial value, std::size_t rank) {
  return {nullptr, std::move(value), std::vector<Polynomial>(rank)};
}

Form combined(const AffineForm& a, const AffineForm& b,
              std::optional<Polynomial> (*combine)(const Polynomial&, const Polynomial&)) {
  if (a.strides.size() != b.strides.size() || (a.base != nullptr && b.base != nullptr)) return {};
  auto offset = combine(a.offset, b.offset);
  if (!offset) return {};
  AffineForm out{a.base != nullptr ? a.base : b.base, std::move(*offset), {}};
  for (std::size_t d = 0; d < a.strides.size(); ++d) {
    auto stride = combine(a.strides[d], b.strides[d]);
    if (!stride) return {};
    out.strides.push_back(std::move(*stride));
  }
  return out;
}

Form scaled(const AffineForm& form, const Polynomial& factor) {
  if (form.base != nullptr) return {};
  const AffineForm factors{nullptr, factor, std::vector<Polynomial>(form.strides.size(), factor)};
  return combined(form, factors, product);
}

Form multiplied(const AffineForm& a, const AffineForm& b) {
  if (a.base != nullptr || b.base != nullptr) return {};
  if (b.is_uniform()) return scaled(a, b.offset);
  if (a.is_uniform()) return scaled(b, a.offset);
  return {};
}

// The strides in the places that `dimension_of` gives: result dimension -> operand dimension or -1.
AffineForm rearranged(const AffineForm& form, const std::vector<int>& dimension_of) {
  AffineForm out{form.base, form.offset, {}};
  for (const int d : dimension_of) {
    out.strides.push_back(d < 0 ? Polynomial() : form.strides[static_cast<std::size_t>(d)]);
  }
  return out;
}

std::vector<int> identity(std::size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Form constant_form(const Operation& op) {
  const std::size_t rank = op.result().type.shape().size();
  const Attribute& value = *op.attribute("value");
  if (const auto* integer = value.as<IntegerAttr>()) return uniform(integer->value, rank);
  const auto* dense = value.as<DenseElements>();
  if (dense == nullptr || !dense->is_splat() || dense->type.element().is_float()) return {};
  return uniform(static_cast<std::int64_t>(dense->bits[0]), rank);
}

// Reshapes that only add or drop dimensions of size 1 move the others along.
Form reshaped(const Operation& op, const AffineForm& form) {
  const auto from = op.operand(0).type.shape();
  const auto to = op.result().type.shape();
  std::vector<int> kept;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1) kept.push_back(static_cast<int>(d));
  }
  std::vector<int> dimension_of;
  std::size_t next = 0;
  for (const std::int64_t size : to) {
    if (size == 1) {
      dimension_of.push_back(-1);
    } else if (next < kept.size() && from[static_cast<std::size_t>(kept[next])] == size) {
      dimension_of.push_back(kept[next++]);
    } else {
      return {};
    }
  }
  if (op.attribute("allow_reorder") != nullptr && kept.size() > 1) return {};
  return rearranged(form, dimension_of);
}

// Whether the region (or one inside it) defines what the polynomial is made of.
bool varies_in(const Polynomial& polynomial, const Region& region) {
  return std::ranges::any_of(polynomial.terms(), [&](const auto& term) {
    return std::ranges::any_of(term.first, [&](const Symbol& symbol) {
      if (symbol.value == nullptr) return false;
      const Region* at = symbol.value->block->region;
      while (at != &region && at->parent != nullptr) at = at->parent->block->region;
      return at == &region;
    });
  });
}

}  // namespace

bool AffineForm::is_uniform() const {
  return std::ranges::all_of(strides, [](const Polynomial& stride) { return stride.is_zero(); });
}

std::string AffineForm::str() const {
  std::string text = base != nullptr ? base->name : "";
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " + ") + part; };
  if (!offset.is_zero()) add(offset.str());
  for (std::size_t d = 0; d < strides.size(); ++d) {
    if (strides[d].is_zero()) continue;
    const bool one = strides[d] == Polynomial(1);
    const bool several = strides[d].terms().size() > 1;
    const std::string lane = fmt::format("i{}", d);
    add(one       ? lane
        : several ? fmt::format("({})*{}", strides[d].str(), lane)
                  : fmt::format("{}*{}", strides[d].str(), lane));
  }
  return text.empty() ? "0" : text;
}

AffineForms::AffineForms(const Module& module, const Function& function)
    : forms_(module.values.size()) {
  if (!function.body.empty()) follow(function.body);
}

const AffineForm* AffineForms::of(const Value& value) const {
  const Form& form = forms_[static_cast<std::size_t>(value.id)];
  return form ? &*form : nullptr;
}

void AffineForms::set(const Value& value, Form form) {
  if (form) {
    const auto shape = value.type.shape();
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) form->strides[d] = Polynomial();
    }
  }
  forms_[static_cast<std::size_t>(value.id)] = std::move(form);
}

// A scalar integer stands for itself; a scalar pointer is a base of its own.
void AffineForms::set_opaque(const Value& value) {
  if (value.type.is_tensor() || !is_tracked(value.type)) return set(value, std::nullopt);
  if (value.type.is_pointer()) return set(value, AffineForm{&value, {}, {}});
  set(value, uniform(opaque_symbol(value), 0));
}

void AffineForms::follow(const Region& region) {
  for (const auto& block : region.blocks) {
    const bool loop_body = region.parent != nullptr && region.parent->is("scf.for");
    for (const Value* argument : block->arguments) {
      if (!loop_body) set_opaque(*argument);
    }
    for (const auto& op : block->operations) follow(*op);
  }
}

void AffineForms::follow(const Operation& op) {
  if (op.is("scf.for")) return follow_loop(op);
  for (const auto& region : op.regions) follow(*region);
  if (op.is("scf.if")) return follow_branches(op);
  for (const Value* result : op.results) set_opaque(*result);
  if (op.results.size() != 1 || !is_tracked(op.result().type)) return;
  if (Form form = derive(op)) set(op.result(), std::move(form));
}

void AffineForms::follow_branches(const Operation& op) {
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const AffineForm* a = of(op.regions[0]->entry().terminator()->operand(i));
    const AffineForm* b = of(op.regions[1]->entry().terminator()->operand(i));
    const bool same =
        a != nullptr && b != nullptr && *a == *b && !varies_in(a->offset, *op.regions[0]);
    set_opaque(*op.results[i]);
    if (same) set(*op.results[i], *a);
  }
}

Form AffineForms::derive(const Operation& op) const {
  const std::size_t rank = op.result().type.shape().size();
  if (op.is("arith.constant")) return constant_form(op);
  if (op.is("tt.get_program_id")) {
    const std::string_view axis = op.keyword("axis");
    const int number = axis == "x" ? 0 : axis == "y" ? 1 : 2;
    return uniform(Symbol{Symbol::Kind::program_id, number, nullptr}, 0);
  }
  if (op.is("tt.make_range")) return AffineForm{nullptr, op.integer("start"), {Polynomial(1)}};
  if (op.operands.empty()) return {};

  const AffineForm* a = of(op.operand(0));
  const AffineForm* b = op.operands.size() > 1 ? of(op.operand(1)) : nullptr;
  if (a == nullptr) return {};
  if (op.is("arith.extsi") || op.is("arith.index_cast") || op.is("tt.broadcast")) return *a;
  if (op.is("tt.splat")) return rearranged(*a, std::vector<int>(rank, -1));
  if (op.is("tt.reshape")) return reshaped(op, *a);
  if (op.is("tt.expand_dims")) {
    std::vector<int> order = identity(rank - 1);
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(op.integer("axis")), -1);
    return rearranged(*a, order);
  }
  if (op.is("tt.trans")) {
    std::vector<int> order;
    for (const std::int64_t d : op.attribute("order")->as<DenseArray>()->values) {
      order.push_back(static_cast<int>(d));
    }
    return rearranged(*a, order);
  }
  if (b == nullptr) return {};
  if (op.is("arith.addi") || op.is("tt.addptr")) return combined(*a, *b, sum);
  if (op.is("arith.subi") && b->base == nullptr) return combined(*a, *b, difference);
  if (op.is("arith.muli")) return multiplied(*a, *b);
  if (op.is("arith.shli") && b->is_uniform()) {
    const auto bits = b->offset.constant();
    if (bits && *bits >= 0 && *bits < 32) return scaled(*a, Polynomial(std::int64_t{1} << *bits));
  }
  return {};
}

// The induction variable is low + step * round. A carried value starts at its operand; first it is
// taken to have an unknown amount added, to see what a round adds.
void AffineForms::follow_loop(const Operation& op) {
  const std::vector<Value*>& arguments = op.regions[0]->entry().arguments;
  const Value& counter = *arguments[0];
  for (const Value* argument : arguments) set_opaque(*argument);
  for (const Value* result : op.results) set_opaque(*result);
  if (loops_around_ >= kMaxLoopsAround) return follow(*op.regions[0]);
  ++loops_around_;
  const Symbol round{Symbol::Kind::iteration, 0, &counter};
  const AffineForm* low = of(op.operand(0));
  const AffineForm* step = of(op.operand(2));
  if (low != nullptr && step != nullptr) {
    const auto moved = product(step->offset, round);
    auto now = moved ? sum(low->offset, *moved) : std::nullopt;
    if (now) set(counter, uniform(std::move(*now), 0));
  }

  std::vector<Form> starts;
  for (const Value* start : op.operand_group(3)) {
    const AffineForm* form = of(*start);
    starts.push_back(form != nullptr ? Form(*form) : std::nullopt);
    if (form != nullptr)
      carry(*arguments[starts.size()], *form, opaque_symbol(*arguments[starts.size()]));
  }
  follow(*op.regions[0]);
  std::vector<std::optional<Polynomial>> steps;
  steps.reserve(starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    steps.push_back(starts[i] ? step_of(op, i) : std::nullopt);
  }
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const Value& argument = *arguments[i + 1];
    const Form& start = starts[i];
    const std::optional<Polynomial>& change = steps[i];
    const auto added = change ? product(*change, round) : std::nullopt;
    if (!start || !added || !carry(argument, *start, *added)) set_opaque(argument);
    if (change && change->is_zero()) set(*op.results[i], start);
  }
  follow(*op.regions[0]);
  --loops_around_;
}

// What a round adds to the carried value, if that is the same in all lanes and rounds. Where the
// first assumption about some value was wrong, its symbol is left in the difference of all values
// that depend on it, so those are given up with it.
std::optional<Polynomial> AffineForms::step_of(const Operation& loop, std::size_t index) const {
  const Region& body = *loop.regions[0];
  const AffineForm* before = of(*body.entry().arguments[index + 1]);
  const AffineForm* after = of(body.entry().terminator()->operand(index));
  if (before == nullptr || after == nullptr || before->base != after->base ||
      before->strides != after->strides) {
    return std::nullopt;
  }
  auto step = difference(after->offset, before->offset);
  if (step && varies_in(*step, body)) return std::nullopt;
  return step;
}

bool AffineForms::carry(const Value& argument, const AffineForm& start, const Polynomial& added) {
  auto offset = sum(start.offset, added);
  if (!offset) return false;
  set(argument, AffineForm{start.base, std::move(*offset), start.strides});
  return true;
}

// ---- What follows from a form
// --------------------------------------------------------------------

namespace {

std::int64_t divisibility_attribute(const Value& value, const Function& function) {
  const bool argument =
      !function.body.empty() && value.block == &function.body.entry() && value.is_block_argument();
  if (!argument) return 1;
  const Dictionary& attributes =
      function.argument_attributes[static_cast<std::size_t>(value.index)];
  const Attribute* found = attributes.find("tt.divisibility");
  const auto* number = found != nullptr ? found->as<IntegerAttr>() : nullptr;
  return number != nullptr && number->value > 0 ? number->value : 1;
}

}  // namespace

std::int64_t divisor_of(const Polynomial& polynomial, const Function& function) {
  std::int64_t divisor = 0;
  for (const auto& [symbols, factor] : polynomial.terms()) {
    std::int64_t of_term = factor;
    for (const Symbol& symbol : symbols) {
      if (symbol.kind != Symbol::Kind::value) continue;
      std::int64_t times = 0;
      const std::int64_t known = divisibility_attribute(*symbol.value, function);
      if (!__builtin_mul_overflow(of_term, known, &times)) of_term = times;
    }
    divisor = std::gcd(divisor, of_term);
  }
  return divisor;
}

LaneRun lane_run(const AffineForm& form, const Type& type, std::size_t axis,
                 const Function& function) {
  LaneRun run;
  const std::int64_t size = type.shape()[axis];
  if (form.strides[axis] == Polynomial(1)) run.contiguity = size;
  if (form.strides[axis].is_zero()) run.constancy = size;
  std::int64_t divisor = divisor_of(form.offset, function);
  for (std::size_t d = 0; d < form.strides.size(); ++d) {
    if (d != axis) divisor = std::gcd(divisor, divisor_of(form.strides[d], function));
  }
  if (form.base != nullptr) {
    const Type pointee = type.element().pointee();
    const std::int64_t bytes = pointee.is_tensor() ? 1 : (pointee.bit_width() + 7) / 8;
    std::int64_t offset = 0;
    if (__builtin_mul_overflow(divisor, bytes, &offset)) offset = bytes;
    divisor = std::gcd(offset, divisibility_attribute(*form.base, function));
  }
  run.divisibility = divisor;
  return run;
}

}  // namespace ksplit::ttir
