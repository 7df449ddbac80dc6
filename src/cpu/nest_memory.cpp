// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "cpu/elementwise.h"
#include "cpu/nest_writer.h"
#include "cpu/scalar_type.h"

namespace ksplit::cpu {

using ttir::Operation;
using ttir::Type;
using ttir::Value;

// --- masks
// ----------------------------------------------------------------------------------------

NestWriter::Mask NestWriter::mask(std::span<Value* const> group, const Indices& at) {
  Mask mask;
  mask.upper.resize(static_cast<std::size_t>(rank_));
  if (!group.empty()) add_conditions(*group[0], at, mask);
  return mask;
}

/// Takes `condition` apart at its conjunctions, through changes of shape.
void NestWriter::add_conditions(const Value& condition, const Indices& at, Mask& mask) {
  const Operation* op = condition.definition;
  if (op != nullptr && condition.type.is_tensor() && context_.buffer(condition) == nullptr) {
    Indices its = at;
    if (op->is("arith.andi")) {
      add_conditions(op->operand(0), at, mask);
      return add_conditions(op->operand(1), at, mask);
    }
    if (op->is("tt.broadcast")) {
      for (std::size_t d = 0; d < its.size(); ++d) {
        if (op->operand(0).type.shape()[d] == 1) its[d] = Index{};
      }
      return add_conditions(op->operand(0), its, mask);
    }
    if (op->is("tt.expand_dims")) {
      its.erase(its.begin() + op->integer("axis"));
      return add_conditions(op->operand(0), its, mask);
    }
    if (op->is("arith.cmpi") && add_comparison(*op, at, mask)) return;
  }
  mask.others.emplace_back(&condition, at);
}

/// `lane + a < b` becomes a bound of the lane's loop. False for every other comparison.
bool NestWriter::add_comparison(const Operation& op, const Indices& at, Mask& mask) {
  const std::string_view predicate = op.keyword("predicate");
  const Affine* left = context_.affine.of(op.operand(0));
  const Affine* right = context_.affine.of(op.operand(1));
  if (left == nullptr || right == nullptr || !left->addends.empty() || !right->addends.empty() ||
      predicate[0] != 's') {
    return false;
  }
  const bool greater = predicate == "sgt" || predicate == "sge";
  const Affine& low = greater ? *right : *left;
  const Affine& high = greater ? *left : *right;
  int loop = -1;
  for (std::size_t d = 0; d < at.size(); ++d) {
    const Uniform step = low.stride[d] - high.stride[d];
    if (step.is(0) || at[d].text == "0") continue;
    if (loop >= 0 || !step.is(1) || at[d].loop < 0) return false;
    loop = at[d].loop;
  }
  if (loop < 0) return false;
  const Uniform equal = Uniform::of(predicate == "sle" || predicate == "sge" ? 1 : 0);
  const std::string name = bound(high.offset - low.offset + equal, loop);
  std::string& upper = mask.upper[static_cast<std::size_t>(loop)];
  if (upper.empty() || upper == name) {
    upper = name;
  } else {
    mask.ranges.push_back({fmt::format("(i{} < {})", loop, name), loop + 1});
  }
  mask.depth = std::max(mask.depth, loop + 1);
  return true;
}

std::string NestWriter::bound(const Uniform& limit, int loop) {
  const std::int64_t size = nest_.shape[static_cast<std::size_t>(loop)];
  std::string& name = bounds_[fmt::format("{} {}", loop, limit.str())];
  if (name.empty()) {
    name = context_.unique(fmt::format("bound_{}", loop));
    before_[0].line(
        fmt::format("const int32_t {} = clamp_bound({}, {});", name, limit.str(), size));
  }
  return name;
}

namespace {
const std::string kNone;
}

/// The mask as one expression; "true" where nothing is left to test within the loops' bounds.
Result<NestWriter::Slot> NestWriter::condition(const Mask& mask) {
  std::map<int, std::vector<std::string>> by_depth;
  for (int k = 0; k < rank_; ++k) {
    const std::string& upper = mask.upper[static_cast<std::size_t>(k)];
    if (!upper.empty() && upper != upper_[static_cast<std::size_t>(k)]) {
      by_depth[k + 1].push_back(fmt::format("(i{} < {})", k, upper));
    }
  }
  for (const Slot& range : mask.ranges) by_depth[range.depth].push_back(range.text);
  for (const auto& [other, at] : mask.others) {
    KSPLIT_TRY(const Slot slot, value(*other, at));
    if (slot.text != "true") by_depth[slot.depth].push_back(slot.text);
  }
  Slot all{"true", 0};
  for (auto& [depth, parts] : by_depth) {
    // What outer loops decide is decided there, once; best as another bound of the inner loop.
    const bool last = depth == by_depth.rbegin()->first;
    const std::string& upper = depth > 0 ? mask.upper[static_cast<std::size_t>(depth) - 1] : kNone;
    if (all.text != "true" && last && !upper.empty()) {
      const std::string test = fmt::format("(i{} < {})", depth - 1, upper);
      const auto at = std::find(parts.begin(), parts.end(), test);
      if (at != parts.end()) {
        *at = fmt::format("(i{} < {})", depth - 1,
                          temporary(Type::integer(32), upper,
                                    fmt::format("{} ? {} : 0", all.text, upper), all.depth)
                              .text);
        all.text = "true";
      }
    }
    std::string text = all.text == "true" ? "" : all.text;
    for (const std::string& part : parts) text += (text.empty() ? "" : " & ") + part;
    if (last && text.find(" & ") == text.npos) {
      all = {text, depth};
    } else {
      all = temporary(Type::integer(1), "active", text, depth);
    }
  }
  return all;
}

// --- addresses
// ------------------------------------------------------------------------------------

Result<NestWriter::Address> NestWriter::address(const Value& pointer, const Indices& at,
                                                std::string_view name) {
  const Affine* form = pointer.type.is_tensor() && context_.buffer(pointer) == nullptr
                           ? context_.affine.of(pointer)
                           : nullptr;
  if (form != nullptr) return affine_address(pointer, *form, at, name);
  KSPLIT_TRY(const Slot slot, value(pointer, at));
  return Address{slot.text, "0", slot.depth};
}

/// Adds up the address from the outside in: a pointer for each loop that moves it, the innermost
/// part as index.
Result<NestWriter::Address> NestWriter::affine_address(const Value& pointer, const Affine& form,
                                                       const Indices& at, std::string_view name) {
  std::map<int, std::string> parts;  // by depth
  const auto add = [&](int depth, const std::string& text) {
    std::string& sum = parts[depth];
    sum += (sum.empty() ? "" : " + ") + text;
  };
  if (!form.offset.is(0)) add(0, form.offset.str());
  for (std::size_t d = 0; d < at.size(); ++d) {
    const Uniform& stride = form.stride[d];
    if (stride.is(0) || at[d].text == "0") continue;
    add(at[d].depth,
        stride.is(1) ? at[d].text : fmt::format("int64_t({}) * ({})", at[d].text, stride.str()));
  }
  for (const Affine::Addend& addend : form.addends) {
    Indices its;
    for (const int axis : addend.axis) {
      its.push_back(axis < 0 ? Index{} : at[static_cast<std::size_t>(axis)]);
    }
    KSPLIT_TRY(const Slot slot, value(*addend.value, its));
    add(slot.depth, addend.scale.is(1)
                        ? fmt::format("int64_t({})", slot.text)
                        : fmt::format("int64_t({}) * ({})", slot.text, addend.scale.str()));
  }
  Address address{form.base, "0", 0};
  const int innermost = parts.empty() ? 0 : parts.rbegin()->first;
  for (const auto& [depth, sum] : parts) {
    if (depth == innermost && depth > 0) {
      address.index = sum;
    } else {
      address.pointer = temporary(pointer.type.element(), fmt::format("{}_at", name),
                                  fmt::format("{} + ({})", address.pointer, sum), depth)
                            .text;
    }
    address.depth = depth;
  }
  return address;
}

/// The lvalue of one lane's element.
Result<std::string> NestWriter::place(const Operation& op, const Value& pointer,
                                      const Address& address) {
  if (!context_.shared.options.check_access) {
    return fmt::format("{}[{}]", address.pointer, address.index);
  }
  const char* what = op.is("tt.load") ? "load" : op.is("tt.store") ? "store" : "atomic";
  return fmt::format("*checked(p, &{}, {}, {} + ({}))", context_.shared.site(op, what),
                     context_.argument_behind(pointer), address.pointer, address.index);
}

// --- rectangles
// -----------------------------------------------------------------------------------

namespace {

/// Whether a mask is made of nothing but `lane + a < b`.
bool only_upper_bounds(FunctionContext& context, const Value& condition) {
  const Operation* op = condition.definition;
  if (op == nullptr || context.buffer(condition) != nullptr) return false;
  if (op->is("arith.andi")) {
    return only_upper_bounds(context, op->operand(0)) && only_upper_bounds(context, op->operand(1));
  }
  if (op->is("tt.broadcast") || op->is("tt.expand_dims")) {
    return only_upper_bounds(context, op->operand(0));
  }
  if (op->is("arith.constant")) {
    const auto* dense = op->attribute("value")->as<ttir::DenseElements>();
    return dense != nullptr && dense->is_splat() && dense->bits[0] != 0;
  }
  if (!op->is("arith.cmpi") || op->keyword("predicate")[0] != 's') return false;
  const Affine* left = context.affine.of(op->operand(0));
  const Affine* right = context.affine.of(op->operand(1));
  if (left == nullptr || right == nullptr || !left->addends.empty() || !right->addends.empty()) {
    return false;
  }
  const bool greater = op->keyword("predicate") == "sgt" || op->keyword("predicate") == "sge";
  int moving = 0;
  for (std::size_t d = 0; d < left->stride.size(); ++d) {
    const Uniform step =
        greater ? right->stride[d] - left->stride[d] : left->stride[d] - right->stride[d];
    if (step.is(0)) continue;
    if (!step.is(1)) return false;
    ++moving;
  }
  return moving == 1;
}

const Affine* plain_form(FunctionContext& context, const Value& pointer) {
  if (!pointer.type.is_tensor() || context.buffer(pointer) != nullptr) return nullptr;
  const Affine* form = context.affine.of(pointer);
  return form != nullptr && form->addends.empty() ? form : nullptr;
}

/// The stride of the last axis that is longer than 1.
Uniform inner_stride(const Type& type, const Affine& form) {
  for (std::size_t d = form.stride.size(); d-- > 0;) {
    if (type.shape()[d] != 1) return form.stride[d];
  }
  return Uniform::of(1);
}

}  // namespace

bool can_load_beside(FunctionContext& context, const Operation& load, const Operation& store) {
  if (context.shared.options.check_access) return false;
  const Value& from = load.operand(0);
  const Affine* read = plain_form(context, from);
  const Affine* written = plain_form(context, store.operand(0));
  if (read == nullptr || written == nullptr) return false;
  if (squeezed(from.type).empty()) return true;
  const auto condition = load.operand_group(1);
  return inner_stride(from.type, *read).is(1) &&
         (condition.empty() || only_upper_bounds(context, *condition[0]));
}

std::optional<NestWriter::Rectangle> NestWriter::rectangle(const Operation& op) {
  const Value& pointer = op.operand(0);
  const Affine* form = plain_form(context_, pointer);
  if (form == nullptr) return std::nullopt;
  Rectangle out;
  out.identity = form->base + "+" + form->offset.str();
  std::vector<std::string> sizes, strides;
  const Mask limits = mask(op.operand_group(op.is("tt.load") ? 1 : 2), own_indices(pointer.type));
  int loop = 0;
  for (std::size_t d = 0; d < form->stride.size(); ++d) {
    if (pointer.type.shape()[d] == 1) continue;
    const auto at = static_cast<std::size_t>(loop++);
    sizes.push_back(limits.upper[at].empty() ? fmt::format("{}", nest_.shape[at])
                                             : limits.upper[at]);
    strides.push_back(form->stride[d].str());
    out.identity += "," + strides.back();
  }
  const std::string name = op.is("tt.load") ? op.result().name : pointer.name;
  out.pointer = context_.unique(name + "_at");
  out.tile = context_.unique(name + "_tile");
  before_[0].line(fmt::format("{} {} = {} + ({});", c_type(pointer.type.element()), out.pointer,
                              form->base, form->offset.str()));
  before_[0].line(fmt::format("Tile<{}> {} = {{{{{}}}, {{{}}}}};", rank_, out.tile,
                              fmt::join(sizes, ", "), fmt::join(strides, ", ")));
  return out;
}

/// Before a store may run in the same loop as loads: whatever it would overwrite too early is
/// copied.
Status NestWriter::declare_rectangles() {
  const auto store = std::find_if(nest_.roots.begin(), nest_.roots.end(),
                                  [](const Root& root) { return root.kind == Root::Kind::store; });
  if (store == nest_.roots.end() || rank_ == 0) return {};
  std::optional<Rectangle> to;
  for (const Value* homed : nest_.homed) {
    const Operation& load = *homed->definition;
    if (!load.is("tt.load")) continue;
    if (!to) {
      to = rectangle(*store->op);
      KSPLIT_CHECK(to.has_value(), "a store that loads can't run beside");
      rectangles_[store->op] = *to;
    }
    const auto from = rectangle(load);
    KSPLIT_CHECK(from.has_value(), "a load that can't run beside a store");
    rectangles_[&load] = *from;
    if (from->identity == to->identity) continue;
    const std::string copy = context_.allocate(homed->type, fmt::format("{}_copy", homed->name));
    before_[0].line(fmt::format("keep_ahead({}, {}, {}, {}, {});", from->pointer, from->tile,
                                to->pointer, to->tile, copy));
    copies_.push_back(copy);
  }
  return {};
}

Result<NestWriter::Address> NestWriter::rectangle_address(const Rectangle& rectangle,
                                                          const Value& pointer) {
  Address address{rectangle.pointer, "0", 0};
  for (int k = 0; k < rank_; ++k) {
    const bool unit =
        k == rank_ - 1 && inner_stride(pointer.type, *context_.affine.of(pointer)).is(1);
    const std::string step =
        unit ? fmt::format("i{}", k) : fmt::format("i{} * {}.stride[{}]", k, rectangle.tile, k);
    if (k == rank_ - 1) {
      address.index = step;
    } else {
      address.pointer = temporary(pointer.type.element(), rectangle.pointer + "_row",
                                  fmt::format("{} + {}", address.pointer, step), k + 1)
                            .text;
    }
    address.depth = k + 1;
  }
  return address;
}

// --- fetching ahead
// -------------------------------------------------------------------------------

void NestWriter::note_stream(const Address& address) {
  if (address.depth == rank_ && address.index == fmt::format("i{}", rank_ - 1)) {
    streams_.push_back(address.pointer);
  }
}

/// Before each piece of the innermost loop. Processors fetch ahead by themselves, but within a page
/// only, and rows of matrices are about a page long. And while this nest computes, memory has time
/// to make ready the lines that the next one stores to.
void NestWriter::fetch_ahead() {
  if (context_.shared.options.check_access) return;
  Text& out = *context_.out;
  for (const std::string& pointer : streams_) {
    out.line(fmt::format("fetch_next_page<{}>({} + chunk);", lanes_, pointer));
  }
  if (next_ == nullptr || rank_ != 1 || next_->shape != nest_.shape) return;
  for (const Root& root : next_->roots) {
    if (root.kind != Root::Kind::store) continue;
    const Value& pointer = root.op->operand(0);
    const Affine* form = plain_form(context_, pointer);
    if (form == nullptr || !inner_stride(pointer.type, *form).is(1)) continue;
    const std::string offset = form->offset.is(0) ? "" : form->offset.str() + " + ";
    out.line(fmt::format("fetch_to_write<{}>({} + {}chunk);", lanes_, form->base, offset));
  }
}

// --- access
// ---------------------------------------------------------------------------------------

Result<NestWriter::Slot> NestWriter::load(const Operation& op, const Indices& at) {
  const Value& pointer = op.operand(0);
  const Type type = op.result().type.element();
  const std::string& name = op.result().name;
  const auto known = rectangles_.find(&op);
  KSPLIT_TRY(const Address where, known != rectangles_.end()
                                      ? rectangle_address(known->second, pointer)
                                      : address(pointer, at, name));
  const Mask lanes = mask(op.operand_group(1), at);
  KSPLIT_TRY(const Slot active, condition(lanes));
  KSPLIT_TRY(const std::string from, place(op, pointer, where));
  note_stream(where);
  const int depth = std::max({where.depth, active.depth, lanes.depth});
  if (active.text == "true") return temporary(type, name, from, depth);
  reads_some_ = true;
  Slot other{literal(type, 0), 0};
  if (const auto group = op.operand_group(2); !group.empty()) {
    KSPLIT_TRY(other, value(*group[0], at));
  }
  return temporary(type, name, fmt::format("{} ? {} : {}", active.text, from, other.text),
                   std::max(depth, other.depth));
}

Status NestWriter::store(const Root& root) {
  const Operation& op = *root.op;
  const Value& pointer = op.operand(0);
  const Indices at = own_indices(pointer.type);
  KSPLIT_TRY(const Slot stored, value(op.operand(1), at));
  const auto known = rectangles_.find(&op);
  KSPLIT_TRY(const Address where, known != rectangles_.end()
                                      ? rectangle_address(known->second, pointer)
                                      : address(pointer, at, pointer.name));
  const Mask lanes = mask(op.operand_group(2), at);
  KSPLIT_TRY(const Slot active, condition(lanes));
  KSPLIT_TRY(const std::string to, place(op, pointer, where));
  const std::string test = active.text == "true" ? "" : fmt::format("if ({}) ", active.text);
  before_.back().line(fmt::format("{}{} = {};", test, to, stored.text));
  return {};
}

namespace {

/// The new value, for atomic_update: `old` combined with `operand`.
Result<std::string> updated(const Operation& op, const Type& type, const std::string& operand) {
  const std::string_view kind = op.keyword("atomic_rmw_op");
  const auto as_float = [&](const char* form) {
    return narrow(type, fmt::format(fmt::runtime(form), widen(type, "old"), widen(type, operand)));
  };
  if (kind == "exch") return operand;
  if (kind == "fadd") return as_float("{} + {}");
  if (kind == "max" && type.is_float()) return as_float("maxnum({}, {})");
  if (kind == "min" && type.is_float()) return as_float("minnum({}, {})");
  if (kind == "add") return fmt::format("old + {}", operand);
  if (kind == "and") return fmt::format("old & {}", operand);
  if (kind == "or") return fmt::format("old | {}", operand);
  if (kind == "xor") return fmt::format("old ^ {}", operand);
  if (kind == "max") return fmt::format("larger(old, {})", operand);
  if (kind == "min") return fmt::format("smaller(old, {})", operand);
  if (kind == "umax") {
    return fmt::format("larger({}, {})", as_unsigned(type, "old"), as_unsigned(type, operand));
  }
  if (kind == "umin") {
    return fmt::format("smaller({}, {})", as_unsigned(type, "old"), as_unsigned(type, operand));
  }
  return unsupported(op, kind);
}

}  // namespace

Status NestWriter::atomic(const Root& root) {
  const Operation& op = *root.op;
  const Value& pointer = op.operand(0);
  const Type type = pointer.type.element().pointee();
  const Indices at = own_indices(pointer.type);
  std::vector<std::string> operands;
  const bool exchange_if = op.is("tt.atomic_cas");
  for (std::size_t i = 1; i < (exchange_if ? 3u : 2u); ++i) {
    KSPLIT_TRY(const Slot slot, value(op.operand(i), at));
    operands.push_back(slot.text);
  }
  KSPLIT_TRY(const Address where, address(pointer, at, pointer.name));
  Slot active{"true", 0};
  if (!exchange_if) {
    const Mask lanes = mask(op.operand_group(2), at);
    KSPLIT_TRY(active, condition(lanes));
  }
  KSPLIT_TRY(const std::string lvalue, place(op, pointer, where));
  std::string call = fmt::format("atomic_exchange_if(&{}, {})", lvalue, fmt::join(operands, ", "));
  if (!exchange_if) {
    KSPLIT_TRY(const std::string next, updated(op, type, operands[0]));
    call = fmt::format("atomic_update(&{0}, [&]({1} old) -> {1} {{ return {2}; }})", lvalue,
                       c_type(type), next);
  }
  Text& body = before_.back();
  if (root.targets.empty()) {
    const std::string test = active.text == "true" ? "" : fmt::format("if ({}) ", active.text);
    body.line(fmt::format("{}{};", test, call));
    return {};
  }
  const std::string to = op.result().type.is_tensor()
                             ? element(root.targets[0], op.result().type, at).text
                             : root.targets[0];
  const std::string otherwise = active.text == "true" ? "" : fmt::format("{} ? ", active.text);
  const std::string none = active.text == "true" ? "" : " : " + literal(type, 0);
  body.line(fmt::format("{} = {}{}{};", to, otherwise, call, none));
  return {};
}

}  // namespace ksplit::cpu
