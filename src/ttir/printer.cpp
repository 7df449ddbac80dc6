// SPDX-License-Identifier: Apache-2.0
#include "ttir/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/check.h"
#include "ttir/op_table.h"
#include "ttir/print_words.h"
#include "ttir/type_list.h"

namespace ksplit::ttir {
namespace {

std::size_t same_name_from(const std::vector<Value*>& values, std::size_t first) {
  std::size_t last = first + 1;
  while (last < values.size() && values[last]->name == values[first]->name) ++last;
  return last - first;
}

std::string name_of(const Value& value) {
  if (!value.is_block_argument()) {
    const std::vector<Value*>& results = value.definition->results;
    const auto first = static_cast<std::size_t>(
        std::ranges::find(results, value.name, &Value::name) - results.begin());
    if (same_name_from(results, first) > 1) {
      return fmt::format("%{}#{}", value.name, static_cast<std::size_t>(value.index) - first);
    }
  }
  return "%" + value.name;
}

template <class Values>
std::string names_of(const Values& values) {
  std::string text;
  for (const Value* value : values) text += (text.empty() ? "" : ", ") + name_of(*value);
  return text;
}

std::string result_list(std::span<const Type> types) {
  const bool bare = types.size() == 1 && types[0].kind() != Type::Kind::function;
  return bare ? types[0].str() : "(" + list_of(types) + ")";
}

/// Gives locations their alias lines; equal locations share one.
class LocationNames {
 public:
  std::string name(const Location& location) {
    const auto known = by_identity_.find(location.identity());
    if (known != by_identity_.end()) return known->second;
    const std::string text = text_of(location);
    std::string& alias = by_text_[text];
    if (alias.empty()) {
      alias = lines_.empty() ? "#loc" : fmt::format("#loc{}", lines_.size());
      lines_.push_back(fmt::format("{} = loc({})\n", alias, text));
    }
    return by_identity_.emplace(location.identity(), alias).first->second;
  }

  std::string definitions() const {
    std::string text;
    for (const std::string& line : lines_) text += line;
    return text;
  }

 private:
  std::string text_of(const Location& location) {
    const Location::Form& form = location.form();
    if (const auto* file = std::get_if<Location::File>(&form)) {
      return fmt::format("\"{}\":{}:{}", escape(file->path), file->line, file->column);
    }
    if (const auto* named = std::get_if<Location::Named>(&form)) {
      if (named->child.is_unknown()) return fmt::format("\"{}\"", escape(named->name));
      return fmt::format("\"{}\"({})", escape(named->name), name(named->child));
    }
    if (const auto* site = std::get_if<Location::CallSite>(&form)) {
      const std::string callee = name(site->callee);
      return fmt::format("callsite({} at {})", callee, name(site->caller));
    }
    if (const auto* fused = std::get_if<Location::Fused>(&form)) {
      std::string parts;
      for (const Location& part : fused->parts) parts += (parts.empty() ? "" : ", ") + name(part);
      const std::string metadata =
          fused->metadata.empty() ? "" : fmt::format("<{}>", fused->metadata);
      return fmt::format("fused{}[{}]", metadata, parts);
    }
    return "unknown";
  }

  std::unordered_map<const void*, std::string> by_identity_;
  std::unordered_map<std::string, std::string> by_text_;
  std::vector<std::string> lines_;
};

class ModulePrinter {
 public:
  explicit ModulePrinter(const PrintOptions& options) : options_(options) {}

  std::string module(const Module& module);
  std::string first_line(const Operation& op) {
    options_ = {.locations = false};
    operation(op, /*with_regions=*/false);
    return std::move(out_);
  }

 private:
  void function(const Function& function);
  void region(const Region& region, bool entry_label);
  void block_label(const Block& block);
  void operation(const Operation& op, bool with_regions = true);
  void results(const Operation& op);
  void generic(const Operation& op, bool with_regions);
  void compact(const Operation& op);
  void items(const Operation& op, const std::vector<FormItem>& items, const TypeBindings& bindings,
             std::vector<std::string_view>& printed);
  void item(const Operation& op, const FormItem& item, const TypeBindings& bindings,
            std::vector<std::string_view>& printed);
  void custom(const Operation& op, bool with_regions);
  void for_header(const Operation& op);
  void while_header(const Operation& op);
  void body(const Operation& op, std::size_t index);
  std::string successor(const Successor& successor) const;

  void location(const Location& location) {
    if (!options_.locations) return;
    out_ +=
        location.is_unknown() ? " loc(unknown)" : fmt::format(" loc({})", names_.name(location));
  }
  void line() { out_ += "\n" + std::string(static_cast<std::size_t>(indent_) * 2, ' '); }
  /// A word of a compact form, with the space before it that Triton puts there.
  void word(std::string_view text) {
    const char next = text.front();
    const char last = out_.empty() ? ' ' : out_.back();
    const bool closing = next == ',' || next == ')' || next == ']';
    const bool opening = last == '(' || last == '[';
    const bool subscript = next == '[' && last != ',' && last != '=';
    const bool call = text == "(";
    if (!closing && !opening && !subscript && !call) out_ += ' ';
    out_ += text;
  }

  PrintOptions options_;
  LocationNames names_;
  std::string out_;
  int indent_ = 0;
};

bool knows_a_location(const Module& module) {
  if (!module.location.is_unknown()) return true;
  bool known = false;
  for (const auto& function : module.functions) {
    known = known || !function->location.is_unknown();
    walk(function->body, [&](const Operation& op) { known = known || !op.location.is_unknown(); });
  }
  for (const Value& value : module.values) known = known || !value.location.is_unknown();
  return known;
}

std::string ModulePrinter::module(const Module& module) {
  options_.locations = options_.locations && knows_a_location(module);
  out_ += "module";
  if (!module.attributes.empty()) {
    out_ += " attributes " + print_dictionary(module.attributes, nullptr);
  }
  out_ += " {";
  ++indent_;
  for (const auto& one : module.functions) {
    line();
    function(*one);
  }
  --indent_;
  line();
  out_ += '}';
  location(module.location);
  return out_ + "\n" + names_.definitions();
}

void ModulePrinter::function(const Function& function) {
  out_ += "tt.func ";
  if (!function.visibility.empty()) out_ += function.visibility + " ";
  out_ += print_symbol(function.name) + "(";
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    if (i > 0) out_ += ", ";
    const Value* argument = function.body.empty() ? nullptr : function.body.entry().arguments[i];
    if (argument != nullptr) out_ += "%" + argument->name + ": ";
    out_ += function.inputs[i].str();
    const Dictionary& attributes = function.argument_attributes[i];
    if (!attributes.empty()) out_ += " " + print_dictionary(attributes, nullptr);
    if (argument != nullptr) location(argument->location);
  }
  out_ += ')';
  if (!function.results.empty()) out_ += " -> " + result_list(function.results);
  if (!function.attributes.empty()) {
    out_ += " attributes " + print_dictionary(function.attributes, nullptr);
  }
  if (!function.body.empty()) {
    out_ += " {";
    region(function.body, /*entry_label=*/false);
    out_ += '}';
  }
  location(function.location);
}

// From after the opening brace to before the closing one.
void ModulePrinter::region(const Region& region, bool entry_label) {
  ++indent_;
  for (const auto& block : region.blocks) {
    if (block->index > 0 || (entry_label && !block->arguments.empty())) block_label(*block);
    for (const auto& op : block->operations) {
      // Without results the last yield says nothing, and these operations leave it out.
      const bool implied = op->is("scf.yield") && op->operands.empty() && !options_.generic &&
                           region.parent != nullptr && !region.parent->is("scf.while") &&
                           op == block->operations.back();
      if (implied) continue;
      line();
      operation(*op);
    }
  }
  --indent_;
  line();
}

void ModulePrinter::block_label(const Block& block) {
  --indent_;
  line();
  ++indent_;
  out_ += fmt::format("^bb{}", block.index);
  if (!block.arguments.empty()) {
    out_ += '(';
    for (const Value* argument : block.arguments) {
      if (argument->index > 0) out_ += ", ";
      out_ += fmt::format("%{}: {}", argument->name, argument->type.str());
      location(argument->location);
    }
    out_ += ')';
  }
  out_ += ':';
  if (block.index == 0) return;
  std::vector<std::string> from;
  for (const auto& other : block.region->blocks) {
    if (other->terminator() == nullptr) continue;
    for (const Successor& target : other->terminator()->successors) {
      if (target.block == &block) from.push_back(fmt::format("^bb{}", other->index));
    }
  }
  if (from.empty()) {
    out_ += "  // no predecessors";
  } else if (from.size() == 1) {
    out_ += "  // pred: " + from[0];
  } else {
    out_ += fmt::format("  // {} preds: {}", from.size(), fmt::join(from, ", "));
  }
}

void ModulePrinter::results(const Operation& op) {
  if (op.results.empty() || op.results[0]->name.empty()) return;
  for (std::size_t i = 0; i < op.results.size();) {
    const std::size_t count = same_name_from(op.results, i);
    out_ += (i > 0 ? ", %" : "%") + op.results[i]->name;
    if (count > 1) out_ += fmt::format(":{}", count);
    i += count;
  }
  out_ += " = ";
}

void ModulePrinter::operation(const Operation& op, bool with_regions) {
  results(op);
  if (op.info == nullptr || options_.generic || (op.info->form.empty() && !op.info->custom)) {
    generic(op, with_regions);
  } else if (op.info->custom) {
    custom(op, with_regions);
  } else {
    compact(op);
  }
  location(op.location);
}

void ModulePrinter::generic(const Operation& op, bool with_regions) {
  out_ += fmt::format("\"{}\"({})", op.name, names_of(op.operands));
  std::vector<Type> operand_types = types_of(op.operands);
  std::vector<std::int64_t> segments(op.segments.begin(), op.segments.end());
  std::vector<std::string> targets;
  std::string passed;
  for (const Successor& target : op.successors) {
    targets.push_back(fmt::format("^bb{}", target.block->index));
    segments.push_back(static_cast<std::int64_t>(target.arguments.size()));
    for (const Value* argument : target.arguments) {
      passed += (passed.empty() && op.operands.empty() ? "" : ", ") + name_of(*argument);
      operand_types.push_back(argument->type);
    }
  }
  out_.insert(out_.size() - 1, passed);
  if (!targets.empty()) out_ += fmt::format("[{}]", fmt::join(targets, ", "));

  Dictionary inherent;
  Dictionary discardable;
  for (const NamedAttribute& entry : op.attributes.entries) {
    const bool own = op.info != nullptr && op.info->attribute(entry.name) != nullptr;
    (own ? inherent : discardable).set(entry.name, entry.value);
  }
  const auto specs = op.info != nullptr ? std::span<const AttributeSpec>(op.info->attributes)
                                        : std::span<const AttributeSpec>();
  for (const AttributeSpec& spec : specs) {  // empty lists, which the generic syntax must spell
    if (spec.default_text != "[]" || op.attribute(spec.name) != nullptr) continue;
    inherent.set(spec.name, Attribute{DenseArray{Type::integer(32), {}}});
  }
  if (op.info != nullptr && op.info->has(kSegmented)) {
    inherent.set("operandSegmentSizes", Attribute{DenseArray{Type::integer(32), segments}});
  }
  if (!inherent.empty()) out_ += fmt::format(" <{}>", print_dictionary(inherent, op.info));
  if (with_regions && !op.regions.empty()) {
    out_ += " (";
    for (const auto& inner : op.regions) {
      if (inner != op.regions.front()) out_ += ", ";
      out_ += '{';
      if (!inner->empty()) region(*inner, /*entry_label=*/true);
      out_ += '}';
    }
    out_ += ')';
  }
  if (!discardable.empty()) out_ += " " + print_dictionary(discardable, op.info);
  out_ += fmt::format(" : ({}) -> {}", list_of(operand_types), result_list(types_of(op.results)));
}

void ModulePrinter::compact(const Operation& op) {
  const Signature& signature = op.info->signature;
  std::vector<std::optional<std::vector<Type>>> operands;
  operands.reserve(signature.operands.size());
  for (std::size_t g = 0; g < signature.operands.size(); ++g) {
    operands.emplace_back(types_of(op.operand_group(g)));
  }
  TypeBindings bindings;
  bind_types(signature.operands, operands, bindings, "operand");
  if (signature.results.size() == 1 && signature.results[0].count == Count::many) {
    const std::optional<std::vector<Type>> all = types_of(op.results);
    bind_types(signature.results, {&all, 1}, bindings, "result");
  } else {
    std::vector<std::optional<std::vector<Type>>> results;
    results.reserve(op.results.size());
    for (const Value* result : op.results) results.emplace_back(std::vector{result->type});
    results.resize(signature.results.size());
    bind_types(signature.results, results, bindings, "result");
  }
  out_ += op.name;
  std::vector<std::string_view> printed;
  items(op, op.info->form, bindings, printed);
}

void ModulePrinter::items(const Operation& op, const std::vector<FormItem>& form,
                          const TypeBindings& bindings, std::vector<std::string_view>& printed) {
  for (const FormItem& one : form) item(op, one, bindings, printed);
}

void ModulePrinter::item(const Operation& op, const FormItem& item, const TypeBindings& bindings,
                         std::vector<std::string_view>& printed) {
  using Kind = FormItem::Kind;
  const Attribute* attribute = item.name.empty() ? nullptr : op.attribute(item.name);
  if (!item.name.empty()) printed.push_back(item.name);
  switch (item.kind) {
    case Kind::literal: return word(item.text);
    case Kind::operands: {
      const std::string names = names_of(op.operand_group(item.index));
      if (!names.empty()) word(names);
      return;
    }
    case Kind::successor: return word(successor(op.successors[item.index]));
    case Kind::attribute:
    case Kind::bare:
      if (attribute != nullptr) word(print(*attribute));
      return;
    case Kind::unit:
      if (attribute != nullptr) word(item.name);
      return;
    case Kind::keyed:
      if (attribute == nullptr) return;
      if (item.comma) word(",");
      return word(fmt::format("{} = {}", item.text, print(*attribute)));
    case Kind::bracketed: {
      if (attribute == nullptr) return;
      std::string flags = print(*attribute);
      if (item.name == "fastmath") std::erase(flags, ' ');
      return word(fmt::format("{}<{}>", item.text, flags));
    }
    case Kind::dictionary: {
      Dictionary rest = op.attributes;
      for (const std::string_view name : printed) rest.erase(name);
      if (!rest.empty()) word(print_dictionary(rest, op.info));
      return;
    }
    case Kind::type: {
      const std::vector<Type>* types = bindings.find(item.variable);
      if (types != nullptr && !types->empty()) word(list_of(*types));
      return;
    }
    case Kind::short_type: {
      const std::string text = bindings.find(item.variable)->front().str();
      return word(text.substr(text.find('<')));
    }
    case Kind::select_type: {
      const Type& condition = op.operand(0).type;
      if (condition.is_tensor()) word(condition.str() + ",");
      return word(op.result().type.str());
    }
    case Kind::function_type:
      return word(fmt::format("({}) -> {}", list_of(types_of(op.operands)),
                              result_list(types_of(op.results))));
    case Kind::constant: {
      Dictionary rest = op.attributes;
      rest.erase("value");
      if (!rest.empty()) word(print_dictionary(rest, op.info));
      return word(print(*op.attribute("value")));
    }
    case Kind::group: {
      const bool present = std::ranges::any_of(item.items, [&](const FormItem& inner) {
        if (inner.kind == Kind::operands) return !op.operand_group(inner.index).empty();
        return inner.kind == Kind::type && bindings.find(inner.variable) != nullptr &&
               !bindings.find(inner.variable)->empty();
      });
      if (present) items(op, item.items, bindings, printed);
      return;
    }
  }
}

std::string ModulePrinter::successor(const Successor& target) const {
  std::string text = fmt::format("^bb{}", target.block->index);
  if (target.arguments.empty()) return text;
  return text +
         fmt::format("({} : {})", names_of(target.arguments), list_of(types_of(target.arguments)));
}

// ---- Structured control flow
// ---------------------------------------------------------------------

void ModulePrinter::custom(const Operation& op, bool with_regions) {
  out_ += op.name;
  if (op.is("scf.for")) {
    for_header(op);
  } else if (op.is("scf.while")) {
    while_header(op);
  } else {
    word(name_of(op.operand(0)));
    if (!op.results.empty()) out_ += fmt::format(" -> ({})", list_of(types_of(op.results)));
  }
  if (!with_regions) return;
  body(op, 0);
  if (op.is("scf.while")) out_ += " do";
  if (op.is("scf.if") && !op.regions[1]->empty()) out_ += " else";
  if (op.regions.size() > 1 && !op.regions[1]->empty()) body(op, 1);

  Dictionary rest = op.attributes;
  rest.erase("unsignedCmp");
  if (rest.empty()) return;
  if (op.is("scf.while")) out_ += " attributes";
  out_ += " " + print_dictionary(rest, op.info);
}

void ModulePrinter::body(const Operation& op, std::size_t index) {
  out_ += " {";
  region(*op.regions[index], op.is("scf.while") && index == 1);
  out_ += '}';
}

std::string assignments(const std::vector<Value*>& arguments, std::size_t first,
                        std::span<Value* const> initial) {
  std::string text;
  for (std::size_t i = 0; i < initial.size(); ++i) {
    if (i > 0) text += ", ";
    text += fmt::format("%{} = {}", arguments[first + i]->name, name_of(*initial[i]));
  }
  return text;
}

void ModulePrinter::for_header(const Operation& op) {
  const std::vector<Value*>& arguments = op.regions[0]->entry().arguments;
  if (op.attribute("unsignedCmp") != nullptr) word("unsigned");
  out_ += fmt::format(" %{} = {} to {} step {}", arguments[0]->name, name_of(op.operand(0)),
                      name_of(op.operand(1)), name_of(op.operand(2)));
  const auto carried = op.operand_group(3);
  if (!carried.empty()) {
    out_ += fmt::format(" iter_args({}) -> ({})", assignments(arguments, 1, carried),
                        list_of(types_of(carried)));
  }
  const Type& type = op.operand(0).type;
  if (!type.is_index()) out_ += "  : " + type.str();
}

void ModulePrinter::while_header(const Operation& op) {
  const std::vector<Value*>& arguments = op.regions[0]->entry().arguments;
  if (!op.operands.empty()) out_ += fmt::format(" ({})", assignments(arguments, 0, op.operands));
  out_ += fmt::format(" : ({}) -> {}", list_of(types_of(op.operands)),
                      result_list(types_of(op.results)));
}

}  // namespace

std::string print(const Module& module, const PrintOptions& options) {
  return ModulePrinter(options).module(module);
}

std::string print(const Operation& operation) {
  return ModulePrinter({}).first_line(operation);
}

}  // namespace ksplit::ttir
