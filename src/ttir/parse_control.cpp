// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ttir/module_parser.h"

// The part of ModuleParser that reads structured control flow, whose syntax binds names.
namespace ksplit::ttir {

Region& ModuleParser::add_region(Operation& op) {
  return *op.regions.emplace_back(std::make_unique<Region>());
}

Status ModuleParser::read_custom(Operation& op, const std::vector<ResultName>& results) {
  if (op.is("scf.for")) return read_for(op, results);
  if (op.is("scf.if")) return read_if(op, results);
  return read_while(op, results);
}

// A region without results may leave its `scf.yield` out.
void ModuleParser::add_implicit_yield(Region& region) {
  if (region.empty()) region.blocks.push_back(std::make_unique<Block>());
  Block& block = *region.blocks.back();
  if (block.terminator() != nullptr && block.terminator()->info != nullptr &&
      block.terminator()->info->has(kTerminator)) {
    return;
  }
  auto yield = std::make_unique<Operation>();
  yield->id = module_.operation_count++;
  yield->name = "scf.yield";
  yield->info = find_op(yield->name);
  yield->segments = {0};
  block.operations.push_back(std::move(yield));
}

// `{attributes} loc(...)`, which come after the regions; an implied yield is where its loop is.
Status ModuleParser::read_trailing_attributes(Operation& op) {
  if (peek().is("{")) {
    KSPLIT_TRY(const Dictionary more, read_dictionary());
    for (const NamedAttribute& entry : more.entries) op.attributes.set(entry.name, entry.value);
  }
  return {};
}

// `(%a = %x, %b = %y)`
Status ModuleParser::read_assignments(std::vector<Use>& names, std::vector<Use>& initial) {
  KSPLIT_TRY_STATUS(expect("("));
  while (!peek().is(")")) {
    KSPLIT_TRY(Use name, read_use());
    KSPLIT_TRY_STATUS(expect("="));
    KSPLIT_TRY(Use value, read_use());
    names.push_back(std::move(name));
    initial.push_back(std::move(value));
    if (!take_if(",")) break;
  }
  return expect(")");
}

Status ModuleParser::append_operands(Operation& op, const std::vector<Use>& uses,
                                     const std::vector<Type>& types) {
  if (uses.size() != types.size()) {
    return malformed(
        fmt::format("'{}' carries {} values but {} types", op.name, uses.size(), types.size()),
        taken_end());
  }
  for (std::size_t i = 0; i < uses.size(); ++i) {
    KSPLIT_TRY(Value * value, resolve(uses[i], types[i]));
    op.operands.push_back(value);
  }
  op.segments.push_back(static_cast<int>(uses.size()));
  return {};
}

// A region whose entry block's arguments are named in the operation's header.
Status ModuleParser::read_region_with(Operation& op, const std::vector<Use>& names,
                                      const std::vector<Type>& types) {
  push_scope();
  std::vector<Value*> arguments;
  for (std::size_t i = 0; i < names.size(); ++i) {
    KSPLIT_TRY(Value * value, define_argument(names[i], types[i]));
    arguments.push_back(value);
  }
  KSPLIT_TRY_STATUS(read_region(add_region(op), std::move(arguments)));
  pop_scope();
  return {};
}

// scf.for [unsigned] %i = %low to %high step %step [iter_args(%a = %x) -> (types)] [: type] {...}
Status ModuleParser::read_for(Operation& op, const std::vector<ResultName>& results) {
  if (take_if("unsigned")) op.attributes.set("unsignedCmp", Attribute{UnitAttr{}});
  std::vector<Use> names;
  KSPLIT_TRY(Use counter, read_use());
  names.push_back(std::move(counter));
  KSPLIT_TRY_STATUS(expect("="));
  KSPLIT_TRY(const Use low, read_use());
  KSPLIT_TRY_STATUS(expect("to"));
  KSPLIT_TRY(const Use high, read_use());
  KSPLIT_TRY_STATUS(expect("step"));
  KSPLIT_TRY(const Use step, read_use());

  std::vector<Use> initial;
  std::vector<Type> types;
  if (take_if("iter_args")) {
    KSPLIT_TRY_STATUS(read_assignments(names, initial));
    KSPLIT_TRY_STATUS(expect("->"));
    KSPLIT_TRY(types, read_result_types());
  }
  Type counter_type = Type::index();
  if (take_if(":")) {
    KSPLIT_TRY(counter_type, read_type());
  }
  for (const Use* bound : {&low, &high, &step}) {
    KSPLIT_TRY_STATUS(append_operands(op, {*bound}, {counter_type}));
  }
  KSPLIT_TRY_STATUS(append_operands(op, initial, types));
  std::vector<Type> argument_types = {counter_type};
  argument_types.insert(argument_types.end(), types.begin(), types.end());
  KSPLIT_TRY_STATUS(read_region_with(op, names, argument_types));
  if (types.empty()) add_implicit_yield(*op.regions.back());
  KSPLIT_TRY_STATUS(read_trailing_attributes(op));
  return define_results(op, results, types);
}

// scf.if %condition [-> (types)] {...} [else {...}]
Status ModuleParser::read_if(Operation& op, const std::vector<ResultName>& results) {
  KSPLIT_TRY(const Use condition, read_use());
  KSPLIT_TRY_STATUS(append_operands(op, {condition}, {Type::integer(1)}));
  std::vector<Type> types;
  if (take_if("->")) {
    KSPLIT_TRY(types, read_result_types());
  }
  KSPLIT_TRY_STATUS(read_region(add_region(op), {}));
  if (types.empty()) add_implicit_yield(*op.regions.back());
  Region& otherwise = add_region(op);
  if (take_if("else")) {
    KSPLIT_TRY_STATUS(read_region(otherwise, {}));
    if (types.empty()) add_implicit_yield(otherwise);
  }
  KSPLIT_TRY_STATUS(read_trailing_attributes(op));
  return define_results(op, results, types);
}

// scf.while [(%a = %x)] : (types) -> types {...} do {...}
Status ModuleParser::read_while(Operation& op, const std::vector<ResultName>& results) {
  std::vector<Use> names;
  std::vector<Use> initial;
  if (peek().is("(")) {
    KSPLIT_TRY_STATUS(read_assignments(names, initial));
  }
  KSPLIT_TRY_STATUS(expect(":"));
  KSPLIT_TRY(const Type type, read_function_type());
  const std::vector<Type> inputs(type.inputs().begin(), type.inputs().end());
  KSPLIT_TRY_STATUS(append_operands(op, initial, inputs));
  KSPLIT_TRY_STATUS(read_region_with(op, names, inputs));
  KSPLIT_TRY_STATUS(expect("do"));
  KSPLIT_TRY_STATUS(read_region(add_region(op), {}));
  if (take_if("attributes")) {
    KSPLIT_TRY_STATUS(read_trailing_attributes(op));
  }
  return define_results(op, results, {type.results().begin(), type.results().end()});
}

}  // namespace ksplit::ttir
