// SPDX-License-Identifier: Apache-2.0
#include "cpu/schedule.h"

#include <algorithm>

#include "core/check.h"
#include "cpu/elementwise.h"

namespace ksplit::cpu {

using ttir::Operation;
using ttir::Value;
using Shape = std::vector<std::int64_t>;

namespace {

bool is_load(const Value& value) {
  return value.definition != nullptr && value.definition->is("tt.load");
}

bool moves_lanes(const Operation& trans) {
  const auto& order = trans.attribute("order")->as<ttir::DenseArray>()->values;
  const auto shape = trans.operand(0).type.shape();
  std::int64_t last = -1;
  for (const std::int64_t axis : order) {
    if (shape[static_cast<std::size_t>(axis)] == 1) continue;
    if (axis < last) return true;
    last = axis;
  }
  return false;
}

/// Whether lane i of the result needs another lane of operand `index`, so that the whole operand
/// has to be there first.
bool needs_whole(const Operation& op, std::size_t index) {
  if (op.is("tt.trans")) return moves_lanes(op);
  if (op.is("tt.gather")) return index == 0;
  return op.is("tt.join") || op.is("tt.split") || op.is("tt.cat");
}

bool is_index(const Value& value) {
  const ttir::Type type = value.type.element();
  return type.is_pointer() || type.is_index() || (type.is_integer() && type.bit_width() >= 32);
}

bool is_access(const Operation& op) {
  return op.is("tt.load") || op.is("tt.store") || op.is("tt.atomic_rmw") || op.is("tt.atomic_cas");
}

const Operation* ancestor_in(const Operation* op, const ttir::Block& block) {
  while (op != nullptr && op->block != &block) op = op->block->region->parent;
  return op;
}

}  // namespace

bool Schedule::is_lazy(const Operation& op) {
  return op.is("tt.load") || op.is("tt.splat") || op.is("tt.expand_dims") ||
         op.is("tt.broadcast") || op.is("tt.trans") || op.is("tt.reshape") || op.is("tt.join") ||
         op.is("tt.split") || op.is("tt.cat") || op.is("tt.gather") || op.is("tt.make_range") ||
         op.is("arith.constant") || op.is("ub.poison") || is_elementwise(op);
}

Schedule::Schedule(FunctionContext& context, const ttir::Block& block)
    : context_(context), block_(block) {
  int position = 0;
  for (const auto& op : block.operations) position_[op.get()] = position++;
}

void Schedule::arrive(const Operation& op) {
  here_ = position_.at(&op);
}

const Schedule::Place* Schedule::place_of(const Value& value) const {
  const auto found = places_.find(&value);
  return found == places_.end() ? nullptr : &found->second;
}

/// A pointer that memory is accessed through counts as what its affine form is made of.
std::vector<Schedule::Input> Schedule::inputs(const Operation& op) const {
  std::vector<Input> found;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const Value& operand = op.operand(i);
    const Affine* form = i == 0 && is_access(op) && context_.buffer(operand) == nullptr
                             ? context_.affine.of(operand)
                             : nullptr;
    if (form == nullptr) {
      found.push_back({&operand, needs_whole(op, i)});
      continue;
    }
    for (const Affine::Addend& addend : form->addends) {
      int last = -1;
      bool in_order = true;
      for (const int axis : addend.axis) {
        if (axis < 0) continue;
        in_order &= axis > last;
        last = axis;
      }
      found.push_back({addend.value, !in_order});
    }
  }
  return found;
}

/// Whether something that is neither done nor placed in an open nest still needs the value.
bool Schedule::is_live(const Value& value) const {
  for (const Operation* user : value.users) {
    const Operation* here = ancestor_in(user, block_);
    if (here == nullptr) return true;
    if (here == user && is_lazy(*user) && user->result().type.is_tensor()) {
      for (const Value* result : user->results) {
        // Affine forms look through index arithmetic, even where its result has been kept.
        const bool seen_through = is_index(*result) && !user->is("tt.load");
        const bool has_place = place_of(*result) != nullptr || context_.buffer(*result) != nullptr;
        if ((seen_through || !has_place) && is_live(*result)) return true;
      }
    } else if (position_.at(here) >= here_) {
      return true;
    }
  }
  return false;
}

/// The first open nest over `shape` that can compute the value; `whole`: that can use all of it.
int Schedule::earliest(const Value& value, const Shape& shape, bool whole) const {
  if (const Place* place = place_of(value)) {
    const bool other_lanes = whole || place->finished_only || squeezed(value.type) != shape;
    return other_lanes ? place->nest + 1 : place->nest;
  }
  if (context_.buffer(value) != nullptr || value.definition == nullptr || !value.type.is_tensor() ||
      !is_lazy(*value.definition)) {
    return 0;
  }
  const Operation& op = *value.definition;
  int first = op.is("tt.load") ? last_store_ + 1 : 0;
  for (const Input& input : inputs(op)) {
    first = std::max(first, earliest(*input.value, shape, input.whole));
  }
  return first;
}

/// Has what the value is made of kept where a nest over `shape` can't compute it lane by lane.
void Schedule::prepare(const Value& value, const Shape& shape, bool whole) {
  if (!value.type.is_tensor() || context_.buffer(value) != nullptr || context_.is_virtual(value)) {
    return;
  }
  const bool same_lanes = !whole && squeezed(value.type) == shape;
  if (const Place* place = place_of(value)) {
    if (!same_lanes && !place->finished_only) keep(value);
    return;
  }
  if (!same_lanes) {
    keep(value);
    return;
  }
  KSPLIT_CHECK(value.definition != nullptr && is_lazy(*value.definition),
               "no buffer for " + value.name);
  const Operation& op = *value.definition;
  for (const Input& input : inputs(op)) prepare(*input.value, shape, input.whole);
}

/// Makes the nest the home of all that the value needs and that has none.
void Schedule::assign(const Value& value, const Shape& shape, int nest) {
  if (!value.type.is_tensor() || context_.buffer(value) != nullptr || context_.is_virtual(value)) {
    return;
  }
  if (const Place* place = place_of(value)) {
    if (place->nest < nest && !place->finished_only) keep(value);
    return;
  }
  if (squeezed(value.type) != shape) return;  // prepare() has had it kept
  const Operation& op = *value.definition;
  for (const Value* result : op.results) {
    places_[result] = {nest, false};
    open_[static_cast<std::size_t>(nest)].homed.push_back(result);
  }
  std::erase(loads_, &op);
  for (const Input& input : inputs(op)) {
    if (!input.whole) assign(*input.value, shape, nest);
  }
}

/// The first nest from `first` on that a root over `shape` may join, a new one if there is none.
int Schedule::choose(int first, const Shape& shape, const Operation* store) {
  for (int k = first; k < static_cast<int>(open_.size()); ++k) {
    const Nest& nest = open_[static_cast<std::size_t>(k)];
    if (nest.shape != shape) continue;
    if (store == nullptr) return k;
    const bool fits =
        !nest.stores && std::all_of(nest.homed.begin(), nest.homed.end(), [&](auto* v) {
          return !is_load(*v) || can_load_beside(context_, *v->definition, *store);
        });
    if (fits) return k;
  }
  open_.push_back({shape, {}, {}, false});
  return static_cast<int>(open_.size()) - 1;
}

int Schedule::add_root(Root root, const std::vector<Input>& needed, const Shape& shape, int first) {
  for (const Input& input : needed) prepare(*input.value, shape, input.whole);
  for (const Input& input : needed) {
    first = std::max(first, earliest(*input.value, shape, input.whole));
  }
  const Operation* store = root.kind == Root::Kind::store ? root.op : nullptr;
  const int nest = choose(first, shape, store);
  for (const Input& input : needed) assign(*input.value, shape, nest);
  open_[static_cast<std::size_t>(nest)].roots.push_back(std::move(root));
  return nest;
}

void Schedule::add_load(const Operation& load) {
  loads_.push_back(&load);
}

/// Loads without a home that the store needs for its own lanes.
std::vector<const Operation*> Schedule::loads_beside(const Operation& store) const {
  std::vector<const Operation*> found;
  std::unordered_set<const Value*> seen;
  const Shape shape = squeezed(store.operand(0).type);
  std::vector<const Value*> stack;
  for (const Input& input : inputs(store)) stack.push_back(input.value);
  while (!stack.empty()) {
    const Value* value = stack.back();
    stack.pop_back();
    if (!seen.insert(value).second || value->definition == nullptr ||
        squeezed(value->type) != shape || place_of(*value) != nullptr ||
        context_.buffer(*value) != nullptr || !is_lazy(*value->definition)) {
      continue;
    }
    const Operation& op = *value->definition;
    if (op.is("tt.load")) found.push_back(&op);
    for (const Input& input : inputs(op)) {
      if (!input.whole) stack.push_back(input.value);
    }
  }
  return found;
}

void Schedule::add_store(const Operation& store) {
  const auto beside = loads_beside(store);
  const auto waits = [&](const Operation* load) {
    const bool own = std::find(beside.begin(), beside.end(), load) != beside.end();
    return own ? !can_load_beside(context_, *load, store) : is_live(load->result());
  };
  for (const Operation* load : std::vector(loads_)) {
    if (std::find(loads_.begin(), loads_.end(), load) != loads_.end() && waits(load)) {
      keep(load->result());
    }
  }
  int first = last_store_ + 1;
  for (const auto& [value, place] : places_) {
    if (is_load(*value)) first = std::max(first, place.nest);
  }
  const int nest = add_root({Root::Kind::store, &store, nullptr, {}}, inputs(store),
                            squeezed(store.operand(0).type), first);
  open_[static_cast<std::size_t>(nest)].stores = true;
  last_store_ = nest;
}

void Schedule::add_reduce(const Operation& reduce, std::vector<std::string> targets) {
  const std::vector<std::string> names = targets;
  const int nest = add_root({Root::Kind::reduce, &reduce, nullptr, std::move(targets)},
                            inputs(reduce), squeezed(reduce.operand(0).type), 0);
  for (std::size_t i = 0; i < reduce.results.size(); ++i) {
    const Value& result = reduce.result(i);
    places_[&result] = {nest, true};
    if (result.type.is_tensor()) {
      targets_[&result] = {names[i], nest};
      own(result, names[i]);
    }
  }
}

void Schedule::keep(const Value& value) {
  if (context_.buffer(value) != nullptr || targets_.contains(&value)) return;
  const std::string target = context_.allocate(value);
  own(value, target);
  // Entered first: placing it may ask for it again.
  targets_[&value] = {target, 0};
  targets_[&value].nest = place_keep(value, target);
}

int Schedule::place_keep(const Value& value, const std::string& target) {
  Root root{Root::Kind::keep, nullptr, &value, {target}};
  const Place* place = place_of(value);
  if (place != nullptr && !place->finished_only) {
    open_[static_cast<std::size_t>(place->nest)].roots.push_back(std::move(root));
    return place->nest;
  }
  return add_root(std::move(root), {{&value, false}}, squeezed(value.type), 0);
}

Status Schedule::need_scalar(const Value& scalar) {
  return place_of(scalar) != nullptr ? flush() : Status{};
}

void Schedule::finish_loads() {
  for (const Operation* load : std::vector(loads_)) {
    if (place_of(load->result()) == nullptr && is_live(load->result())) keep(load->result());
  }
}

/// Whether computing the value reads the argument in that very nest. What else the nest computes
/// from the argument then finds it read already, before it is overwritten.
bool Schedule::reads_in(int nest, const Value& value, const Value& argument) const {
  if (&value == &argument) return true;
  const Place* place = place_of(value);
  if (place == nullptr || place->finished_only || place->nest != nest) return false;
  const std::vector<Input> needed = inputs(*value.definition);
  return std::any_of(needed.begin(), needed.end(), [&](const Input& input) {
    return !input.whole && reads_in(nest, *input.value, argument);
  });
}

bool Schedule::is_read_after(const Value& argument, int nest) const {
  return std::any_of(argument.users.begin(), argument.users.end(), [&](const Operation* user) {
    if (user->block != &block_ || !is_elementwise(*user)) return true;
    return std::any_of(user->results.begin(), user->results.end(), [&](const Value* result) {
      const Place* place = place_of(*result);
      return place != nullptr ? place->nest > nest : is_live(*result);
    });
  });
}

std::string Schedule::keep_next(const Value& value, const Value& argument,
                                const std::string& present, const std::string& other) {
  const int nest = place_keep(value, other);
  std::string& target = open_[static_cast<std::size_t>(nest)].roots.back().targets[0];
  if (!value.is_block_argument() && !targets_.contains(&value) && reads_in(nest, value, argument) &&
      !is_read_after(argument, nest)) {
    target = present;
  }
  return target;
}

void Schedule::pin_addends(const Value& value) {
  const Affine* form = context_.affine.of(value);
  if (form == nullptr) return;
  for (const Affine::Addend& addend : form->addends) {
    pinned_.insert(addend.value);
    if (!context_.is_virtual(*addend.value)) keep(*addend.value);
  }
}

Status Schedule::run_alone(Root root) {
  finish_loads();
  std::vector<Input> needed = inputs(*root.op);
  if (root.value != nullptr) needed = {{root.value, false}};
  const Shape shape = squeezed(root.value != nullptr ? root.value->type : root.op->operand(0).type);
  for (const Input& input : needed) prepare(*input.value, shape, input.whole);
  KSPLIT_TRY_STATUS(flush());
  open_.push_back({shape, {}, {}, false});
  for (const Input& input : needed) assign(*input.value, shape, 0);
  open_[0].roots.push_back(std::move(root));
  return flush();
}

Status Schedule::flush() {
  for (std::size_t k = 0; k < open_.size(); ++k) {
    for (const Value* value : std::vector(open_[k].homed)) {
      if (is_live(*value)) keep(*value);
    }
  }
  for (std::size_t k = 0; k < open_.size(); ++k) {
    const Nest* next = k + 1 < open_.size() ? &open_[k + 1] : nullptr;
    KSPLIT_TRY_STATUS(write_nest(context_, open_[k], next));
    for (const auto& [value, target] : targets_) {
      if (target.nest == static_cast<int>(k)) context_.set_buffer(*value, target.buffer);
    }
  }
  open_.clear();
  places_.clear();
  targets_.clear();
  last_store_ = -1;
  std::erase_if(own_, [&](const auto& entry) {
    const bool dead = !pinned_.contains(entry.first) && !is_live(*entry.first);
    if (dead) context_.release(entry.second);
    return dead;
  });
  return {};
}

void Schedule::release_all() {
  for (const auto& [value, buffer] : own_) context_.release(buffer);
  own_.clear();
}

}  // namespace ksplit::cpu
