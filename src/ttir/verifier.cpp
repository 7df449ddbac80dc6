// SPDX-License-Identifier: Apache-2.0
#include "ttir/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "ttir/op_table.h"
#include "ttir/printer.h"
#include "ttir/type_list.h"

namespace ksplit::ttir {
namespace {

tl::unexpected<Error> illegal(const Operation& op, std::string_view what,
                              ErrorCode code = ErrorCode::input_malformed) {
  return fail(Error{code, fmt::format("'{}': {}", op.name, what), op.location.span()});
}

/// Which blocks of a region lie on every path from its entry to a block.
///
/// The textbook fixed point over bit sets: dom(b) = {b} + the meet of dom(p) over predecessors p.
/// Blocks that no path reaches are dominated by all, so nothing is demanded of them.
class Dominance {
 public:
  explicit Dominance(const Region& region)
      : dominators_(region.blocks.size(), std::vector<bool>(region.blocks.size(), true)) {
    const std::size_t count = region.blocks.size();
    std::vector<std::vector<std::size_t>> predecessors(count);
    for (const auto& block : region.blocks) {
      if (block->terminator() == nullptr) continue;
      for (const Successor& target : block->terminator()->successors) {
        predecessors[static_cast<std::size_t>(target.block->index)].push_back(
            static_cast<std::size_t>(block->index));
      }
    }
    dominators_[0].assign(count, false);
    dominators_[0][0] = true;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = 1; b < count; ++b) {
        std::vector<bool> meet(count, true);
        for (const std::size_t p : predecessors[b]) {
          for (std::size_t i = 0; i < count; ++i) meet[i] = meet[i] && dominators_[p][i];
        }
        meet[b] = true;
        changed = changed || meet != dominators_[b];
        dominators_[b] = std::move(meet);
      }
    }
  }

  bool dominates(const Block& above, const Block& below) const {
    return dominators_[static_cast<std::size_t>(below.index)]
                      [static_cast<std::size_t>(above.index)];
  }

 private:
  std::vector<std::vector<bool>> dominators_;
};

class Verifier {
 public:
  explicit Verifier(const Module& module)
      : module_(module), place_(static_cast<std::size_t>(module.operation_count)) {}

  Status run() {
    std::set<std::string_view> names;
    for (const auto& function : module_.functions) {
      if (!names.insert(function->name).second) {
        return bad_function(*function, "is defined twice");
      }
      KSPLIT_TRY_STATUS(check_function(*function));
    }
    return {};
  }

 private:
  static tl::unexpected<Error> bad_function(const Function& function, std::string_view what) {
    return fail(Error{ErrorCode::input_malformed,
                      fmt::format("function '{}' {}", function.name, what),
                      function.location.span()});
  }

  Status check_function(const Function& function) {
    if (function.argument_attributes.size() != function.inputs.size()) {
      return bad_function(function, "should have attributes for each argument");
    }
    if (function.body.empty()) return {};
    if (types_of(function.body.entry().arguments) != function.inputs) {
      return bad_function(function, "should have the arguments of its type");
    }
    for (const auto& block : function.body.blocks) {
      const Operation* last = block->terminator();
      if (last == nullptr) return bad_function(function, "has an empty block");
      if (!last->is("tt.return")) continue;
      if (types_of(last->operands) != function.results) {
        return illegal(*last, "should return what the function's type says");
      }
    }
    return check_region(function.body);
  }

  Status check_region(const Region& region) {
    const Dominance dominance(region);
    for (const auto& block : region.blocks) {
      for (std::size_t i = 0; i < block->operations.size(); ++i) {
        place_[static_cast<std::size_t>(block->operations[i]->id)] = i;
      }
    }
    for (const auto& block : region.blocks) {
      dominances_.push_back(&dominance);
      KSPLIT_TRY_STATUS(check_block(*block));
      dominances_.pop_back();
    }
    return {};
  }

  Status check_block(const Block& block) {
    for (const auto& owned : block.operations) {
      const Operation& op = *owned;
      if (op.info == nullptr)
        return illegal(op, "this operation is not covered", ErrorCode::unsupported);
      const bool last = &op == block.terminator();
      if (op.info->has(kTerminator) != last) {
        return illegal(op, last ? "a block can't end here" : "only a block's end may be this");
      }
      KSPLIT_TRY_STATUS(check_uses(op));
      KSPLIT_TRY_STATUS(check_operation(op));
      for (const auto& inner : op.regions) {
        if (!inner->empty()) KSPLIT_TRY_STATUS(check_region(*inner));
      }
      if (const std::string wrong = check_terminator_place(op); !wrong.empty()) {
        return illegal(op, wrong);
      }
    }
    return {};
  }

  // Terminators of inner regions are held to their places by the checks of the outer operations.
  static std::string check_terminator_place(const Operation& op) {
    const bool in_function = op.block->region->parent == nullptr;
    if (op.is("tt.return") && !in_function) return "should be in a function's own blocks";
    if (op.info->has(kTerminator) && in_function && !op.is("tt.return") && op.successors.empty()) {
      return "can't end a function's block";
    }
    for (const Successor& target : op.successors) {
      if (target.block->index == 0) return "can't branch to the entry";
      if (types_of(target.arguments) != types_of(target.block->arguments)) {
        return fmt::format("should pass block {} the values it takes", target.block->index);
      }
    }
    return {};
  }

  Status check_uses(const Operation& op) {
    for (const Value* operand : op.operands) {
      KSPLIT_TRY_STATUS(check_use(op, *operand));
    }
    for (const Successor& target : op.successors) {
      for (const Value* argument : target.arguments) {
        KSPLIT_TRY_STATUS(check_use(op, *argument));
      }
    }
    return {};
  }

  // Climbs from the use to the region that defines the value, then asks which comes first there.
  Status check_use(const Operation& op, const Value& value) {
    const auto hidden = [&] {
      return illegal(op, fmt::format("'%{}' is not defined on every path to here", value.name));
    };
    const Operation* at = &op;
    std::size_t level = dominances_.size();
    while (at->block->region != value.block->region) {
      at = at->block->region->parent;
      if (at == nullptr || level < 2) return hidden();
      --level;
    }
    if (at->block != value.block) {
      return dominances_[level - 1]->dominates(*value.block, *at->block) ? Status() : hidden();
    }
    const bool before =
        value.is_block_argument() || place_[static_cast<std::size_t>(value.definition->id)] <
                                         place_[static_cast<std::size_t>(at->id)];
    return before ? Status() : hidden();
  }

  Status check_operation(const Operation& op) {
    const OpInfo& info = *op.info;
    if (op.segments.size() != info.signature.operands.size()) {
      return illegal(op, "the operands don't fit its groups");
    }
    if (op.regions.size() != static_cast<std::size_t>(info.regions) ||
        op.successors.size() != static_cast<std::size_t>(info.successors)) {
      return illegal(op, fmt::format("should have {} regions and {} successors", info.regions,
                                     info.successors));
    }
    KSPLIT_TRY_STATUS(check_attributes(op));
    KSPLIT_TRY_STATUS(check_signature(op));
    if (op.is("tt.call")) KSPLIT_TRY_STATUS(check_call(op));
    if (info.check == nullptr) return {};
    const std::string wrong = info.check(op);
    return wrong.empty() ? Status() : illegal(op, wrong);
  }

  static Status check_attributes(const Operation& op) {
    for (const AttributeSpec& spec : op.info->attributes) {
      const Attribute* attribute = op.attribute(spec.name);
      if (attribute == nullptr) {
        if (spec.optional) continue;
        return illegal(op, fmt::format("attribute '{}' is missing", spec.name));
      }
      if (spec.enumeration == nullptr) continue;
      const auto* word = attribute->as<Keyword>();
      const bool known =
          word != nullptr && std::ranges::any_of(spec.enumeration->cases, [&](const EnumCase& c) {
            return c.word == word->value;
          });
      if (!known) {
        return illegal(
            op, fmt::format("attribute '{}' has no meaning: {}", spec.name, print(*attribute)));
      }
    }
    return {};
  }

  static Status check_signature(const Operation& op) {
    const Signature& signature = op.info->signature;
    std::vector<std::optional<std::vector<Type>>> operands;
    operands.reserve(signature.operands.size());
    for (std::size_t g = 0; g < signature.operands.size(); ++g) {
      operands.emplace_back(types_of(op.operand_group(g)));
    }
    std::vector<std::optional<std::vector<Type>>> results;
    const bool listed = signature.results.size() == 1 && signature.results[0].count == Count::many;
    if (listed) {
      results.emplace_back(types_of(op.results));
    } else if (op.results.size() != signature.results.size()) {
      return illegal(op, fmt::format("should have {} results but has {}", signature.results.size(),
                                     op.results.size()));
    } else {
      for (const Value* result : op.results) results.emplace_back(std::vector{result->type});
    }
    TypeBindings bindings;
    auto wrong = bind_types(signature.operands, operands, bindings, "operand");
    if (!wrong) wrong = bind_types(signature.results, results, bindings, "result");
    if (!wrong) wrong = check_types(signature.operands, operands, bindings, "operand");
    if (!wrong) wrong = check_types(signature.results, results, bindings, "result");
    return wrong ? illegal(op, *wrong) : Status();
  }

  Status check_call(const Operation& op) const {
    const auto* callee = op.attribute("callee")->as<SymbolRef>();
    const Function* function = callee != nullptr ? module_.find(callee->name) : nullptr;
    if (function == nullptr) return illegal(op, "calls a function that is not there");
    if (types_of(op.operands) == function->inputs && types_of(op.results) == function->results) {
      return {};
    }
    return illegal(op, fmt::format("doesn't fit the type of '{}'", function->name));
  }

  const Module& module_;
  std::vector<std::size_t> place_;            // by operation id: its position in its block
  std::vector<const Dominance*> dominances_;  // of the regions around the current block
};

}  // namespace

Status verify(const Module& module) {
  return Verifier(module).run();
}

}  // namespace ksplit::ttir
