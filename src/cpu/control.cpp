// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "cpu/elementwise.h"
#include "cpu/function.h"
#include "cpu/scalar_type.h"

namespace ksplit::cpu {

using ttir::Operation;
using ttir::Type;
using ttir::Value;

/// A value that goes from one iteration of a loop to the next.
struct FunctionWriter::Carried {
  enum class Kind { scalar, offset, buffer };
  Kind kind = Kind::scalar;
  Type type;
  const Value* argument = nullptr;  // of the loop's body
  std::string name;  // the variable: a scalar, an element offset, or a pointer to the elements
  std::string next;  // scalar and offset: the expression it takes; buffer: the other buffer, or
                     // the same where it can be written in place
};

namespace {

/// How often a loop whose trip count is not known is thought to run.
constexpr std::int64_t kTypicalTrips = 16;

std::int64_t trips_of(const Operation& loop) {
  std::int64_t bounds[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const Operation* op = loop.operand(i).definition;
    if (op == nullptr || !op->is("arith.constant")) return kTypicalTrips;
    bounds[i] = op->integer("value");
  }
  if (bounds[2] <= 0) return kTypicalTrips;
  return std::max<std::int64_t>(0, (bounds[1] - bounds[0] + bounds[2] - 1) / bounds[2]);
}

bool has_effects(const Operation& op) {
  bool found = false;
  for (const auto& region : op.regions) {
    ttir::walk(*region, [&](const Operation& inner) {
      found |= inner.is("tt.store") || inner.is("tt.atomic_rmw") || inner.is("tt.atomic_cas") ||
               inner.is("tt.call") || inner.is("tt.print") || inner.is("tt.assert");
    });
  }
  return found;
}

bool is_inside(const ttir::Block* block, const Operation& op) {
  while (block != nullptr) {
    const Operation* parent = block->region->parent;
    if (parent == &op) return true;
    block = parent == nullptr ? nullptr : parent->block;
  }
  return false;
}

bool only_addresses(const Operation& user, const Value& pointer) {
  if (user.is("tt.store") || user.is("tt.atomic_rmw") || user.is("tt.atomic_cas")) {
    return &user.operand(0) == &pointer;
  }
  return user.is("tt.load") || user.is("tt.addptr") || user.is("tt.broadcast") ||
         user.is("tt.expand_dims") || user.is("tt.trans") || user.is("tt.reshape");
}

}  // namespace

/// Has everything that the operation's regions use from outside ready.
Status FunctionWriter::enter_regions(const Operation& op, Schedule& schedule) {
  std::vector<const Value*> used;
  for (const auto& region : op.regions) {
    ttir::walk(*region, [&](const Operation& inner) {
      for (const Value* operand : inner.operands) {
        if (operand->type.is_tensor() && !is_inside(operand->block, op)) {
          const bool as_address = operand->type.element().is_pointer() &&
                                  context_.affine.of(*operand) != nullptr &&
                                  only_addresses(inner, *operand);
          schedule.pin_addends(*operand);
          if (!as_address) used.push_back(operand);
        }
      }
    });
  }
  for (const Value* value : used) {
    if (!context_.is_virtual(*value)) schedule.keep(*value);
  }
  if (has_effects(op)) schedule.finish_loads();
  return {};
}

/// Which arguments of a loop are pointers or integers that move, in each iteration, by the same
/// amount for all lanes. Assumed of all of them first, and dropped where the loop's body
/// contradicts.
std::vector<bool> FunctionWriter::affine_arguments(const Operation& loop) {
  const ttir::Block& body = loop.regions[0]->entry();
  const auto& yielded = body.terminator()->operands;
  const std::size_t count = yielded.size();
  std::vector<bool> affine(count);
  std::vector<Affine> start(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Value& init = loop.operand(i + 3);
    const Affine* form = context_.buffer(init) == nullptr ? context_.affine.of(init) : nullptr;
    // An addend that is the value itself would say nothing.
    const bool useful = form != nullptr && std::none_of(form->addends.begin(), form->addends.end(),
                                                        [&](auto& a) { return a.value == &init; });
    affine[i] = useful;
    if (useful) start[i] = *form;
  }
  for (bool settled = false; !settled;) {
    settled = true;
    context_.affine.forget(*loop.regions[0]);
    for (std::size_t i = 0; i < count; ++i) {
      const Value& argument = *body.arguments[i + 1];
      if (!affine[i]) {
        context_.affine.assume(argument, std::nullopt);
        continue;
      }
      Affine form = start[i];
      form.offset = Uniform::of(context_.name(argument));
      context_.affine.assume(argument, form);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!affine[i]) continue;
      const Affine* form = context_.affine.of(*yielded[i]);
      if (form == nullptr || !form->same_shape_of_lanes(start[i])) {
        affine[i] = false;
        settled = false;
      }
    }
  }
  return affine;
}

Status FunctionWriter::for_loop(const Operation& op, Schedule& schedule) {
  const ttir::Block& body = op.regions[0]->entry();
  const std::size_t count = op.results.size();
  for (const Value* operand : op.operands) KSPLIT_TRY_STATUS(schedule.need_scalar(*operand));

  std::vector<Carried> carried(count);
  const std::vector<bool> affine = affine_arguments(op);
  for (std::size_t i = 0; i < count; ++i) {
    const Value& init = op.operand(i + 3);
    Carried& item = carried[i];
    item.type = init.type;
    item.argument = body.arguments[i + 1];
    if (!init.type.is_tensor()) continue;
    item.kind = affine[i] ? Carried::Kind::offset : Carried::Kind::buffer;
    if (affine[i]) {
      schedule.pin_addends(init);
      continue;
    }
    item.name = context_.allocate(init.type, body.arguments[i + 1]->name);
    item.next = context_.allocate(init.type, body.arguments[i + 1]->name);
    schedule.keep_in(init, item.name);
  }
  KSPLIT_TRY_STATUS(enter_regions(op, schedule));
  KSPLIT_TRY_STATUS(schedule.flush());

  Text& out = *context_.out;
  for (std::size_t i = 0; i < count; ++i) {
    const Value& init = op.operand(i + 3);
    const Value& argument = *body.arguments[i + 1];
    Carried& item = carried[i];
    const std::string variable = context_.name(argument);
    if (item.kind == Carried::Kind::scalar) {
      out.line(fmt::format("{} {} = {};", c_type(init.type), variable, context_.scalar(init)));
    } else if (item.kind == Carried::Kind::offset) {
      out.line(fmt::format("int64_t {} = {};", variable, context_.affine.of(init)->offset.str()));
      context_.set_virtual(argument);
    } else {
      const std::string element = c_type(init.type.element());
      schedule.own(op.result(i), item.name);
      schedule.own(op.result(i), item.next);
      const std::string other = context_.unique(variable + "_next");
      out.line(fmt::format("{}* {} = {};", element, variable, item.name));
      out.line(fmt::format("{}* {} = {};", element, other, item.next));
      item.next = other;
      context_.set_buffer(argument, variable);
      const Value& last = body.terminator()->operand(i);
      if (last.block == &body && !last.is_block_argument()) context_.prefer(last, other);
    }
    item.name = variable;
  }

  const Value& counter = *body.arguments[0];
  const std::string k = context_.name(counter);
  const bool is_unsigned = op.attribute("unsignedCmp") != nullptr;
  const std::string limit = context_.scalar(op.operand(1));
  out.open(fmt::format(
      "for ({0} {1} = {2}; {3} < {4}; {1} += {5})", c_type(counter.type), k,
      context_.scalar(op.operand(0)), is_unsigned ? as_unsigned(counter.type, k) : k,
      is_unsigned ? as_unsigned(counter.type, limit) : limit, context_.scalar(op.operand(2))));
  const std::int64_t outside = context_.times;
  context_.times *= trips_of(op);
  KSPLIT_TRY_STATUS(write_block(body, [&](const Operation& yield, Schedule& inner) -> Status {
    for (std::size_t i = 0; i < count; ++i) {
      KSPLIT_TRY_STATUS(carry(yield.operand(i), carried[i], inner));
    }
    inner.conclude();
    KSPLIT_TRY_STATUS(inner.flush());
    for (std::size_t i = 0; i < count; ++i) {
      if (carried[i].kind == Carried::Kind::scalar) {
        carried[i].next = context_.scalar(yield.operand(i));
      }
    }
    advance(carried);
    return {};
  }));
  out.close();
  context_.times = outside;

  for (std::size_t i = 0; i < count; ++i) leave(op.result(i), *body.arguments[i + 1], carried[i]);
  return {};
}

/// Makes what a loop's variable holds in the end the loop's result.
void FunctionWriter::leave(const Value& result, const Value& argument, const Carried& carried) {
  Text& out = *context_.out;
  // In a `switch` of blocks, variables of one case don't reach the others.
  const bool one_of_many = result.block->region->blocks.size() > 1;
  if (carried.kind == Carried::Kind::scalar) {
    if (is_across(result)) {
      define(result, carried.name);
    } else {
      context_.set_name(result, carried.name);
    }
  } else if (carried.kind == Carried::Kind::offset) {
    Affine form = *context_.affine.of(argument);
    if (one_of_many) {
      const std::string name = context_.unique(carried.name + "_end");
      context_.declarations.line(fmt::format("int64_t {} = 0;", name));
      out.line(fmt::format("{} = {};", name, carried.name));
      form.offset = Uniform::of(name);
    }
    context_.affine.assume(result, form);
    context_.set_virtual(result);
  } else if (one_of_many) {
    const std::string buffer = context_.allocate(result);
    out.line(fmt::format("for (int32_t i = 0; i < {0}; ++i) {1}[i] = {2}[i];",
                         result.type.element_count(), buffer, carried.name));
    context_.set_buffer(result, buffer);
  } else {
    context_.set_buffer(result, carried.name);
  }
}

/// Has a tensor's next value written where the next iteration looks for it.
Status FunctionWriter::carry(const Value& from, Carried& to, Schedule& schedule) {
  switch (to.kind) {
    case Carried::Kind::scalar: return schedule.need_scalar(from);
    case Carried::Kind::offset: to.next = context_.affine.of(from)->offset.str(); return {};
    case Carried::Kind::buffer: break;
  }
  const std::string* buffer = context_.buffer(from);
  if (buffer != nullptr && *buffer == to.next) return {};
  if (context_.prefers(from, to.next) && schedule.is_kept(from)) return {};
  to.next = schedule.keep_next(from, *to.argument, to.name, to.next);
  return {};
}

/// All at once: a next value may be computed from any of the present ones.
void FunctionWriter::advance(std::vector<Carried>& carried) {
  Text& out = *context_.out;
  std::vector<std::pair<std::string, std::string>> assignments;
  for (const Carried& item : carried) {
    if (item.name == item.next) continue;
    if (item.kind == Carried::Kind::buffer) {
      out.line(fmt::format("exchange({}, {});", item.name, item.next));
    } else {
      assignments.emplace_back(item.name, item.next);
    }
  }
  if (assignments.size() > 1) {
    for (auto& [variable, next] : assignments) {
      const std::string copy = context_.unique(variable + "_next");
      out.line(fmt::format("auto const {} = {};", copy, next));
      next = copy;
    }
  }
  for (const auto& [variable, next] : assignments) {
    out.line(fmt::format("{} = {};", variable, next));
  }
}

/// Variables and buffers that take an operation's results in its branches.
std::vector<std::string> FunctionWriter::result_places(const Operation& op, Schedule& schedule) {
  std::vector<std::string> places;
  for (const Value* result : op.results) {
    if (result->type.is_tensor()) {
      places.push_back(context_.allocate(*result));
      context_.set_buffer(*result, places.back());
      schedule.own(*result, places.back());
    } else {
      places.push_back(declare(*result));
    }
  }
  return places;
}

/// Puts values into places, each of them before any place is read again.
Status FunctionWriter::give(std::span<Value* const> values, const std::vector<std::string>& places,
                            Schedule& schedule) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]->type.is_tensor()) schedule.keep_in(*values[i], places[i]);
  }
  schedule.conclude();
  KSPLIT_TRY_STATUS(schedule.flush());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i]->type.is_tensor()) {
      context_.out->line(fmt::format("{} = {};", places[i], context_.scalar(*values[i])));
    }
  }
  return {};
}

Status FunctionWriter::if_else(const Operation& op, Schedule& schedule) {
  KSPLIT_TRY_STATUS(schedule.need_scalar(op.operand(0)));
  KSPLIT_TRY_STATUS(enter_regions(op, schedule));
  KSPLIT_TRY_STATUS(schedule.flush());
  const std::vector<std::string> places = result_places(op, schedule);
  Text& out = *context_.out;
  const auto finish = [&](const Operation& yield, Schedule& inner) {
    return give(yield.operands, places, inner);
  };
  out.open(fmt::format("if ({})", context_.scalar(op.operand(0))));
  KSPLIT_TRY_STATUS(write_block(op.regions[0]->entry(), finish));
  if (!op.regions[1]->empty()) {
    out.close("} else {");
    out.deeper();
    KSPLIT_TRY_STATUS(write_block(op.regions[1]->entry(), finish));
  }
  out.close();
  return {};
}

Status FunctionWriter::while_loop(const Operation& op, Schedule& schedule) {
  const ttir::Block& before = op.regions[0]->entry();
  const ttir::Block& after = op.regions[1]->entry();
  std::vector<Carried> carried(op.operands.size());
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const Value& init = op.operand(i);
    KSPLIT_TRY_STATUS(schedule.need_scalar(init));
    carried[i].type = init.type;
    carried[i].argument = before.arguments[i];
    if (!init.type.is_tensor()) continue;
    carried[i].kind = Carried::Kind::buffer;
    carried[i].name = context_.allocate(init.type, before.arguments[i]->name);
    carried[i].next = context_.allocate(init.type, before.arguments[i]->name);
    schedule.keep_in(init, carried[i].name);
  }
  KSPLIT_TRY_STATUS(enter_regions(op, schedule));
  KSPLIT_TRY_STATUS(schedule.flush());
  Text& out = *context_.out;
  std::vector<std::string> scratch;
  for (std::size_t i = 0; i < carried.size(); ++i) {
    Carried& item = carried[i];
    const Value& argument = *before.arguments[i];
    const std::string variable = context_.name(argument);
    if (item.kind == Carried::Kind::scalar) {
      out.line(
          fmt::format("{} {} = {};", c_type(item.type), variable, context_.scalar(op.operand(i))));
    } else {
      scratch.push_back(item.name);
      scratch.push_back(item.next);
      const std::string other = context_.unique(variable + "_next");
      const std::string element = c_type(item.type.element());
      out.line(fmt::format("{}* {} = {};", element, variable, item.name));
      out.line(fmt::format("{}* {} = {};", element, other, item.next));
      item.next = other;
      context_.set_buffer(argument, variable);
    }
    item.name = variable;
  }
  const std::vector<std::string> places = result_places(op, schedule);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (op.result(i).type.is_tensor()) {
      context_.set_buffer(*after.arguments[i], places[i]);
    } else {
      context_.set_name(*after.arguments[i], places[i]);
    }
  }
  const std::int64_t outside = context_.times;
  context_.times *= kTypicalTrips;
  out.open("for (;;)");
  KSPLIT_TRY_STATUS(write_block(before, [&](const Operation& condition, Schedule& inner) -> Status {
    KSPLIT_TRY_STATUS(inner.need_scalar(condition.operand(0)));
    const std::span<Value* const> forwarded(condition.operands.begin() + 1,
                                            condition.operands.end());
    KSPLIT_TRY_STATUS(give(forwarded, places, inner));
    out.line(fmt::format("if (!({})) break;", context_.scalar(condition.operand(0))));
    return {};
  }));
  KSPLIT_TRY_STATUS(write_block(after, [&](const Operation& yield, Schedule& inner) -> Status {
    for (std::size_t i = 0; i < carried.size(); ++i) {
      KSPLIT_TRY_STATUS(carry(yield.operand(i), carried[i], inner));
    }
    inner.conclude();
    KSPLIT_TRY_STATUS(inner.flush());
    for (std::size_t i = 0; i < carried.size(); ++i) {
      if (carried[i].kind == Carried::Kind::scalar) {
        carried[i].next = context_.scalar(yield.operand(i));
      }
    }
    advance(carried);
    return {};
  }));
  out.close();
  context_.times = outside;
  for (const std::string& buffer : scratch) context_.release(buffer);
  return {};
}

/// cf.br and cf.cond_br between the blocks of a function.
Status FunctionWriter::branch(const Operation& op, Schedule& schedule) {
  for (const auto& step : op.block->operations) {
    for (const Value* result : step->results) {
      const bool leaves =
          std::any_of(result->users.begin(), result->users.end(), [&](const Operation* user) {
            while (user->block->region->parent != nullptr) user = user->block->region->parent;
            return user->block != op.block;
          });
      if (leaves && result->type.is_tensor() && !context_.is_virtual(*result)) {
        schedule.pin_addends(*result);
        schedule.keep(*result);
      }
    }
  }
  schedule.finish_loads();
  KSPLIT_TRY_STATUS(schedule.flush());
  Text& out = *context_.out;
  for (std::size_t s = 0; s < op.successors.size(); ++s) {
    const ttir::Successor& to = op.successors[s];
    const bool conditional = op.successors.size() == 2 && s == 0;
    if (conditional) out.open(fmt::format("if ({})", context_.scalar(op.operand(0))));
    std::vector<Carried> passed;
    for (std::size_t i = 0; i < to.arguments.size(); ++i) {
      const Value& parameter = *to.block->arguments[i];
      const Value& argument = *to.arguments[i];
      if (parameter.type.is_tensor()) {
        schedule.keep_in(argument, *context_.buffer(parameter));
        continue;
      }
      Carried item;
      item.name = context_.name(parameter);
      item.next = context_.scalar(argument);
      passed.push_back(item);
    }
    KSPLIT_TRY_STATUS(schedule.flush());
    advance(passed);
    out.line(fmt::format("next_block = {};", to.block->index));
    out.line("continue;");
    if (conditional) out.close();
  }
  return {};
}

}  // namespace ksplit::cpu
