// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/check.h"
#include "ttir/module_parser.h"

// The part of ModuleParser that reads compact operations by the form in their line of the op table.
namespace ksplit::ttir {

using Kind = FormItem::Kind;

Status ModuleParser::read_items(Operation& op, const std::vector<FormItem>& items,
                                Reading& reading) {
  for (const FormItem& item : items) {
    KSPLIT_TRY_STATUS(read_item(op, item, reading));
  }
  return {};
}

Status ModuleParser::read_item(Operation& op, const FormItem& item, Reading& reading) {
  switch (item.kind) {
    case Kind::literal: return expect(item.text);
    case Kind::operands: {
      std::vector<Use>& group = reading.groups[item.index];
      if (reading.info->signature.operands[item.index].count == Count::many) {
        return read_uses().map([&](std::vector<Use> uses) { group = std::move(uses); });
      }
      return read_use().map([&](Use use) { group.push_back(std::move(use)); });
    }
    case Kind::successor:
      return read_branch().map(
          [&](BranchUse branch) { reading.branches[item.index] = std::move(branch); });
    case Kind::attribute: return read_word_attribute(op, item.name, reading);
    case Kind::unit:
      if (take_if(item.name)) op.attributes.set(item.name, Attribute{UnitAttr{}});
      return {};
    case Kind::keyed:
      if (!(item.comma ? peek().is(",") && peek_second().is(item.text) : peek().is(item.text))) {
        return {};
      }
      if (item.comma) take();
      take();
      KSPLIT_TRY_STATUS(expect("="));
      return read_word_attribute(op, item.name, reading);
    case Kind::bracketed: return read_flags(op, item);
    case Kind::bare:
      if (!peek().is(Token::Kind::word) || peek_second().is("<")) return {};
      return read_word_attribute(op, item.name, reading);
    case Kind::dictionary:
      if (!peek().is("{")) return {};
      return read_dictionary().map([&](const Dictionary& more) {
        for (const NamedAttribute& entry : more.entries) {
          op.attributes.set(entry.name, entry.value);
        }
      });
    case Kind::type: return read_type_list_for(item.variable, reading);
    case Kind::short_type:
      return (item.text == "ptr" ? read_pointer_body() : read_descriptor_body())
          .map([&](Type type) { reading.bindings.bind(item.variable, {std::move(type)}); });
    case Kind::select_type: return read_select_type(reading);
    case Kind::function_type:
      return read_function_type().map([&](Type type) { reading.function_type = std::move(type); });
    case Kind::constant: return read_constant(op, reading);
    case Kind::group: return read_group(op, item, reading);
  }
  return {};
}

// A group is there if the text goes on as its first item does: with its literal, or a value.
Status ModuleParser::read_group(Operation& op, const FormItem& item, Reading& reading) {
  const FormItem& first = item.items.front();
  const bool present =
      first.kind == Kind::literal ? peek().is(first.text) : peek().is(Token::Kind::value);
  if (present) return read_items(op, item.items, reading);
  for (const FormItem& inner : item.items) {
    if (inner.kind == Kind::type) reading.bindings.bind(inner.variable, {});
  }
  return {};
}

// One type, or as many as the signature's variable stands for.
Status ModuleParser::read_type_list_for(char variable, Reading& reading) {
  bool many = false;
  for (const auto* terms : {&reading.info->signature.operands, &reading.info->signature.results}) {
    for (const TypeTerm& term : *terms) {
      many = many || (term.variable == variable && term.count == Count::many);
    }
  }
  if (many) {
    return read_type_list().map(
        [&](std::vector<Type> types) { reading.bindings.bind(variable, std::move(types)); });
  }
  return read_type().map([&](Type type) { reading.bindings.bind(variable, {std::move(type)}); });
}

// `: i1, T`-style selections name the condition's type only where it is a tensor.
Status ModuleParser::read_select_type(Reading& reading) {
  KSPLIT_TRY(Type first, read_type());
  if (take_if(",")) {
    KSPLIT_TRY(Type second, read_type());
    reading.bindings.bind('C', {std::move(first)});
    reading.bindings.bind('T', {std::move(second)});
  } else {
    reading.bindings.bind('C', {Type::integer(1)});
    reading.bindings.bind('T', {std::move(first)});
  }
  return {};
}

Status ModuleParser::read_word_attribute(Operation& op, const std::string& name, Reading& reading) {
  const AttributeSpec* spec = reading.info->attribute(name);
  KSPLIT_CHECK(spec != nullptr, "op table: attribute " + name);
  if (spec->enumeration == nullptr) {
    return read_attribute().map(
        [&](Attribute value) { op.attributes.set(name, std::move(value)); });
  }
  for (const EnumCase& enum_case : spec->enumeration->cases) {
    if (!peek().is(enum_case.word)) continue;
    take();
    op.attributes.set(name, Attribute{Keyword{std::string(enum_case.word)}});
    return {};
  }
  if (peek().is(Token::Kind::word)) {
    return unsupported(fmt::format("{} '{}' of '{}' is not covered", name, peek().text, op.name),
                       peek().begin);
  }
  return unexpected(fmt::format("the {} of '{}'", name, op.name));
}

Status ModuleParser::read_flags(Operation& op, const FormItem& item) {
  if (!peek().is(item.text) || !peek_second().is("<")) return {};
  take();
  return read_balanced().map([&](const std::string& body) {
    const std::string_view inside = std::string_view(body).substr(1, body.size() - 2);
    op.attributes.set(item.name, Attribute{Keyword{canonical_flags(inside)}});
  });
}

Status ModuleParser::read_constant(Operation& op, Reading& reading) {
  if (peek().is("{")) {
    KSPLIT_TRY(op.attributes, read_dictionary());
  }
  const std::size_t begin = peek().begin;
  KSPLIT_TRY(Attribute value, read_attribute());
  Type type;
  if (value.as<bool>() != nullptr) {
    type = Type::integer(1);
  } else if (const auto* integer = value.as<IntegerAttr>()) {
    type = integer->type;
  } else if (const auto* number = value.as<FloatAttr>()) {
    type = number->type;
  } else if (const auto* dense = value.as<DenseElements>()) {
    type = dense->type;
  } else {
    return malformed("a constant must be a number or a tensor of numbers", begin);
  }
  op.attributes.set("value", std::move(value));
  reading.bindings.bind('R', {std::move(type)});
  return {};
}

// `^bb1(%a, %b : i32, f32)`
Result<ModuleParser::BranchUse> ModuleParser::read_branch() {
  KSPLIT_TRY(const Token label, expect(Token::Kind::block, "a block"));
  BranchUse branch;
  branch.block = block_named(label);
  if (!take_if("(")) return branch;
  KSPLIT_TRY(branch.arguments, read_uses());
  KSPLIT_TRY_STATUS(expect(":"));
  KSPLIT_TRY(branch.types, read_type_list());
  KSPLIT_TRY_STATUS(expect(")"));
  if (branch.types.size() != branch.arguments.size()) {
    return malformed(fmt::format("{} values but {} types for '^{}'", branch.arguments.size(),
                                 branch.types.size(), label.text),
                     label.begin);
  }
  return branch;
}

namespace {

// The type that the signature gives to value `index` of a group, from what is bound.
std::optional<Type> type_in_group(const TypeTerm& term, std::size_t index,
                                  const TypeBindings& bindings) {
  if (term.function == TypeFunction::variable) {
    const std::vector<Type>* bound = bindings.find(term.variable);
    return bound != nullptr && index < bound->size() ? std::optional((*bound)[index])
                                                     : std::nullopt;
  }
  return bindings.evaluate(term);
}

}  // namespace

// Types come from three sources, in this order: the types the form spells out, the types of the
// operands that are defined already, and what the signature computes from those.
Status ModuleParser::resolve_form(Operation& op, const std::vector<ResultName>& results,
                                  Reading& reading) {
  const Signature& signature = reading.info->signature;
  std::size_t count = 0;
  for (const auto& group : reading.groups) count += group.size();
  if (reading.function_type && reading.function_type->inputs().size() != count) {
    return malformed(fmt::format("'{}' has {} operands but {} types", op.name, count,
                                 reading.function_type->inputs().size()),
                     reading.begin);
  }

  std::vector<std::optional<std::vector<Type>>> types;
  std::size_t position = 0;
  for (const auto& group : reading.groups) {
    std::vector<Type> known;
    for (const Use& use : group) {
      if (reading.function_type) {
        known.push_back(reading.function_type->inputs()[position++]);
      } else if (const Value* value = lookup(use)) {
        known.push_back(value->type);
      }
    }
    const bool complete = known.size() == group.size();
    types.push_back(complete ? std::optional(std::move(known)) : std::nullopt);
  }
  if (auto wrong = bind_types(signature.operands, types, reading.bindings, "operand")) {
    return malformed(fmt::format("'{}': {}", op.name, *wrong), reading.begin);
  }

  for (std::size_t g = 0; g < reading.groups.size(); ++g) {
    const std::vector<Use>& group = reading.groups[g];
    const std::optional<std::vector<Type>>& known = types[g];
    op.segments.push_back(static_cast<int>(group.size()));
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto type = known ? std::optional((*known)[i])
                              : type_in_group(signature.operands[g], i, reading.bindings);
      KSPLIT_TRY(Value * value, resolve(group[i], type));
      op.operands.push_back(value);
    }
  }
  for (const BranchUse& branch : reading.branches) {
    Successor successor{branch.block, {}};
    for (std::size_t i = 0; i < branch.arguments.size(); ++i) {
      KSPLIT_TRY(Value * value, resolve(branch.arguments[i], branch.types[i]));
      successor.arguments.push_back(value);
    }
    op.successors.push_back(std::move(successor));
  }
  return result_types(op, reading).and_then([&](const std::vector<Type>& result_types) {
    return define_results(op, results, result_types);
  });
}

Result<std::vector<Type>> ModuleParser::result_types(const Operation& op, const Reading& reading) {
  if (reading.function_type) {
    const auto given = reading.function_type->results();
    return std::vector<Type>(given.begin(), given.end());
  }
  std::vector<Type> types;
  for (const TypeTerm& term : reading.info->signature.results) {
    if (term.count == Count::many) {
      const std::vector<Type>* bound = reading.bindings.find(term.variable);
      if (bound != nullptr) types.insert(types.end(), bound->begin(), bound->end());
      continue;
    }
    const std::optional<Type> type = reading.bindings.evaluate(term);
    if (!type) {
      return malformed(
          fmt::format("the result type of '{}' can't be told from its operands", op.name),
          reading.begin);
    }
    types.push_back(*type);
  }
  return types;
}

}  // namespace ksplit::ttir
