// SPDX-License-Identifier: Apache-2.0
#include "ttir/parser.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "ttir/module_parser.h"

namespace ksplit::ttir {

Result<Module> parse(std::string_view text, std::string_view name) {
  return ModuleParser(text, name).read_module();
}

// ---- Modules and functions
// -----------------------------------------------------------------------

Result<Module> ModuleParser::read_module() {
  KSPLIT_TRY_STATUS(skip_aliases());
  if (peek().is(Token::Kind::string) && peek().text == "builtin.module") {
    KSPLIT_TRY_STATUS(read_generic_module());
  } else {
    KSPLIT_TRY_STATUS(expect("module"));
    if (peek().is(Token::Kind::symbol)) take();
    if (take_if("attributes")) {
      KSPLIT_TRY(module_.attributes, read_dictionary());
    }
    KSPLIT_TRY_STATUS(read_module_body());
  }
  KSPLIT_TRY(module_.location, read_trailing_location());
  KSPLIT_TRY_STATUS(skip_aliases());
  if (!peek().is(Token::Kind::end)) return unexpected("the end of the text");
  connect(module_);
  return std::move(module_);
}

// Aliases were found before; here they are read for their errors.
Status ModuleParser::skip_aliases() {
  while (peek().is(Token::Kind::hash) || peek().is(Token::Kind::exclamation)) {
    const Token name = take();
    KSPLIT_TRY_STATUS(expect("="));
    if (peek().is("loc")) {
      KSPLIT_TRY_STATUS(read_location().map([](const Location&) {}));
    } else {
      return unsupported(fmt::format("alias '{}' is not covered", name.text), name.begin);
    }
  }
  return {};
}

Status ModuleParser::read_module_body() {
  KSPLIT_TRY_STATUS(expect("{"));
  while (!peek().is("}")) {
    if (peek().is(Token::Kind::string)) {
      KSPLIT_TRY_STATUS(read_generic_function());
    } else if (peek().is("tt.func")) {
      KSPLIT_TRY_STATUS(read_function());
    } else if (peek().is(Token::Kind::word)) {
      return unsupported(fmt::format("'{}' is not covered in a module", peek().text), peek().begin);
    } else {
      return unexpected("a function");
    }
  }
  return expect("}");
}

Status ModuleParser::read_generic_module() {
  take();
  KSPLIT_TRY_STATUS(expect("("));
  KSPLIT_TRY_STATUS(expect(")"));
  if (take_if("<")) {
    KSPLIT_TRY_STATUS(read_dictionary().map([](const Dictionary&) {}));
    KSPLIT_TRY_STATUS(expect(">"));
  }
  KSPLIT_TRY_STATUS(expect("("));
  KSPLIT_TRY_STATUS(read_module_body());
  KSPLIT_TRY_STATUS(expect(")"));
  if (peek().is("{")) {
    KSPLIT_TRY(module_.attributes, read_dictionary());
  }
  KSPLIT_TRY_STATUS(expect(":"));
  return read_function_type().map([](const Type&) {});
}

Status ModuleParser::read_function() {
  take();
  auto function = std::make_unique<Function>();
  if (peek().is("public") || peek().is("private") || peek().is("nested")) {
    function->visibility = take().text;
  }
  KSPLIT_TRY(const Token name, expect(Token::Kind::symbol, "the function's name"));
  function->name = unescape(name.text);

  push_scope();
  std::vector<Value*> arguments;
  KSPLIT_TRY_STATUS(read_arguments(*function, arguments));
  if (take_if("->")) {
    KSPLIT_TRY(function->results, read_result_types());
  }
  if (take_if("attributes")) {
    KSPLIT_TRY(function->attributes, read_dictionary());
  }
  if (peek().is("{")) {
    KSPLIT_TRY_STATUS(read_region(function->body, std::move(arguments)));
    KSPLIT_TRY_STATUS(check_all_defined());
  }
  pop_scope();
  KSPLIT_TRY(function->location, read_trailing_location());
  module_.functions.push_back(std::move(function));
  return {};
}

// `(%a: type {attributes} loc(...), ...)`; a declaration has types only.
Status ModuleParser::read_arguments(Function& function, std::vector<Value*>& values) {
  KSPLIT_TRY_STATUS(expect("("));
  while (!peek().is(")")) {
    std::optional<Use> name;
    if (peek().is(Token::Kind::value)) {
      KSPLIT_TRY(name, read_use());
      KSPLIT_TRY_STATUS(expect(":"));
    }
    KSPLIT_TRY(Type type, read_type());
    function.inputs.push_back(type);
    Dictionary attributes;
    if (peek().is("{")) {
      KSPLIT_TRY(attributes, read_dictionary());
    }
    function.argument_attributes.push_back(std::move(attributes));
    KSPLIT_TRY(Location location, read_trailing_location());
    if (name) {
      KSPLIT_TRY(Value * value, define_argument(*name, std::move(type)));
      value->location = std::move(location);
      values.push_back(value);
    }
    if (!take_if(",")) break;
  }
  return expect(")");
}

Status ModuleParser::read_generic_function() {
  const Token op = take();
  if (op.text != "tt.func") {
    return unsupported(fmt::format("operation '{}' is not covered in a module", op.text), op.begin);
  }
  KSPLIT_TRY_STATUS(expect("("));
  KSPLIT_TRY_STATUS(expect(")"));
  KSPLIT_TRY_STATUS(expect("<"));
  KSPLIT_TRY(Dictionary properties, read_dictionary());
  KSPLIT_TRY_STATUS(expect(">"));

  auto function = std::make_unique<Function>();
  const Attribute* name = properties.find("sym_name");
  const Attribute* type = properties.find("function_type");
  if (name == nullptr || name->as<StringAttr>() == nullptr || type == nullptr ||
      type->as<Type>() == nullptr || type->as<Type>()->kind() != Type::Kind::function) {
    return malformed("a function needs sym_name and function_type", op.begin);
  }
  function->name = name->as<StringAttr>()->value;
  const Type& signature = *type->as<Type>();
  function->inputs.assign(signature.inputs().begin(), signature.inputs().end());
  function->results.assign(signature.results().begin(), signature.results().end());
  function->argument_attributes.resize(function->inputs.size());
  if (const Attribute* visibility = properties.find("sym_visibility")) {
    if (const auto* text = visibility->as<StringAttr>()) function->visibility = text->value;
  }
  if (const Attribute* all = properties.find("arg_attrs")) {
    const auto* list = all->as<ArrayAttr>();
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      const auto* entries = list->items[i].as<Dictionary>();
      if (entries != nullptr && i < function->inputs.size()) {
        function->argument_attributes[i] = *entries;
      }
    }
  }

  push_scope();
  KSPLIT_TRY_STATUS(expect("("));
  KSPLIT_TRY_STATUS(read_region(function->body, {}));
  KSPLIT_TRY_STATUS(expect(")"));
  KSPLIT_TRY_STATUS(check_all_defined());
  pop_scope();
  if (peek().is("{")) {
    KSPLIT_TRY(function->attributes, read_dictionary());
  }
  KSPLIT_TRY_STATUS(expect(":"));
  KSPLIT_TRY_STATUS(read_function_type().map([](const Type&) {}));
  KSPLIT_TRY(function->location, read_trailing_location());
  module_.functions.push_back(std::move(function));
  return {};
}

// ---- Regions and blocks
// --------------------------------------------------------------------------

Status ModuleParser::read_region(Region& region, std::vector<Value*> entry_arguments) {
  const Nesting nesting(depth_);
  KSPLIT_TRY_STATUS(check_nesting());
  push_scope();
  labels_.emplace_back();
  KSPLIT_TRY_STATUS(expect("{"));
  KSPLIT_TRY_STATUS(read_blocks(region, std::move(entry_arguments)));
  KSPLIT_TRY_STATUS(expect("}"));
  for (const auto& [label, entry] : labels_.back().blocks) {
    if (entry.undefined)
      return malformed(fmt::format("block '^{}' is not defined", label), entry.offset);
  }
  labels_.pop_back();
  pop_scope();
  return {};
}

Status ModuleParser::read_blocks(Region& region, std::vector<Value*> entry_arguments) {
  const bool has_entry = !entry_arguments.empty() || !peek().is(Token::Kind::block);
  if (has_entry && !(entry_arguments.empty() && peek().is("}"))) {
    Block& entry = append_block(region, std::make_unique<Block>());
    entry.arguments = std::move(entry_arguments);
    KSPLIT_TRY_STATUS(read_operations(entry));
  }
  while (peek().is(Token::Kind::block)) {
    KSPLIT_TRY_STATUS(read_block_label(region));
    KSPLIT_TRY_STATUS(read_operations(*region.blocks.back()));
  }
  return {};
}

Block& ModuleParser::append_block(Region& region, std::unique_ptr<Block> block) {
  region.blocks.push_back(std::move(block));
  return *region.blocks.back();
}

Status ModuleParser::read_block_label(Region& region) {
  const Token label = take();
  Labels::Entry& entry = labels_.back().blocks[std::string(label.text)];
  if (entry.block != nullptr && !entry.undefined) {
    return malformed(fmt::format("block '^{}' is defined twice", label.text), label.begin);
  }
  std::unique_ptr<Block> owned =
      entry.undefined ? std::move(entry.undefined) : std::make_unique<Block>();
  entry.block = owned.get();
  entry.undefined = nullptr;
  Block& block = append_block(region, std::move(owned));
  if (peek().is("(")) {
    KSPLIT_TRY_STATUS(read_block_arguments(block));
  }
  return expect(":");
}

Status ModuleParser::read_block_arguments(Block& block) {
  KSPLIT_TRY_STATUS(expect("("));
  while (!peek().is(")")) {
    KSPLIT_TRY(const Use name, read_use());
    KSPLIT_TRY_STATUS(expect(":"));
    KSPLIT_TRY(Type type, read_type());
    KSPLIT_TRY(Value * value, define_argument(name, std::move(type)));
    KSPLIT_TRY(value->location, read_trailing_location());
    block.arguments.push_back(value);
    if (!take_if(",")) break;
  }
  return expect(")");
}

Block* ModuleParser::block_named(const Token& label) {
  Labels::Entry& entry = labels_.back().blocks[std::string(label.text)];
  if (entry.block == nullptr) {
    entry.undefined = std::make_unique<Block>();
    entry.block = entry.undefined.get();
    entry.offset = label.begin;
  }
  return entry.block;
}

Status ModuleParser::read_operations(Block& block) {
  while (!peek().is("}") && !peek().is(Token::Kind::block)) {
    KSPLIT_TRY_STATUS(read_operation(block));
  }
  return {};
}

// ---- Values
// --------------------------------------------------------------------------------------

Value* ModuleParser::new_value(std::string name, Type type) {
  Value& value = module_.values.emplace_back();
  value.id = static_cast<int>(module_.values.size()) - 1;
  value.name = std::move(name);
  value.type = std::move(type);
  return &value;
}

Result<ModuleParser::Use> ModuleParser::read_use() {
  KSPLIT_TRY(const Token token, expect(Token::Kind::value, "a value"));
  Use use{std::string(token.text), 0, token.begin};
  if (const auto at = use.name.find('#'); at != use.name.npos) {
    const char* last = use.name.data() + use.name.size();
    const auto [end, error] = std::from_chars(use.name.data() + at + 1, last, use.index);
    if (error != std::errc()) return malformed("result number out of range", token.begin);
    use.name.resize(at);
  }
  return use;
}

Result<std::vector<ModuleParser::Use>> ModuleParser::read_uses() {
  std::vector<Use> uses;
  if (!peek().is(Token::Kind::value)) return uses;
  for (;;) {
    KSPLIT_TRY(Use use, read_use());
    uses.push_back(std::move(use));
    // A comma that no value follows belongs to what comes next in the form.
    if (!peek().is(",") || !peek_second().is(Token::Kind::value)) return uses;
    take();
  }
}

Value* ModuleParser::lookup(const Use& use) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->defined.find(use.name); found != scope->defined.end()) {
      const auto index = static_cast<std::size_t>(use.index);
      return index < found->second.size() ? found->second[index] : nullptr;
    }
    if (const auto found = scope->awaited.find({use.name, use.index});
        found != scope->awaited.end()) {
      return found->second.value;
    }
  }
  return nullptr;
}

Result<Value*> ModuleParser::resolve(const Use& use, const std::optional<Type>& type) {
  if (Value* known = lookup(use)) {
    if (type && known->type != *type) {
      return malformed(fmt::format("'%{}' has type {} but is used as {}", use.name,
                                   known->type.str(), type->str()),
                       use.offset);
    }
    return known;
  }
  if (!type) {
    return malformed(fmt::format("'%{}' is not defined before this use", use.name), use.offset);
  }
  Value* awaited = new_value(use.name, *type);
  scopes_.back().awaited.emplace(std::pair{use.name, use.index},
                                 Scope::Awaited{awaited, use.offset});
  return awaited;
}

// Values of this name from here on; those that were used before are the objects of their uses.
Result<std::vector<Value*>> ModuleParser::define(const ResultName& name,
                                                 std::span<const Type> types) {
  for (const Scope& scope : scopes_) {
    if (scope.defined.contains(name.name)) {
      return malformed(fmt::format("'%{}' is defined twice", name.name), name.offset);
    }
  }
  Scope& scope = scopes_.back();
  std::vector<Value*> values;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto found = scope.awaited.find({name.name, static_cast<int>(i)});
    if (found == scope.awaited.end()) {
      values.push_back(new_value(name.name, types[i]));
      continue;
    }
    Value* used = found->second.value;
    if (used->type != types[i]) {
      return malformed(fmt::format("'%{}' has type {} but is used as {}", name.name, types[i].str(),
                                   used->type.str()),
                       name.offset);
    }
    values.push_back(used);
    scope.awaited.erase(found);
  }
  scope.defined.emplace(name.name, values);
  return values;
}

Result<Value*> ModuleParser::define_argument(const Use& name, Type type) {
  KSPLIT_TRY(auto values, define(ResultName{name.name, name.offset}, std::span(&type, 1)));
  return values.front();
}

// What an inner region used without defining it may still be defined in the outer one.
void ModuleParser::pop_scope() {
  Scope inner = std::move(scopes_.back());
  scopes_.pop_back();
  if (scopes_.empty()) return;
  for (auto& [key, awaited] : inner.awaited) scopes_.back().awaited.emplace(key, awaited);
}

Status ModuleParser::check_all_defined() const {
  for (const auto& [key, awaited] : scopes_.back().awaited) {
    return malformed(fmt::format("'%{}' is not defined", key.first), awaited.offset);
  }
  return {};
}

// ---- Links between the parts
// ---------------------------------------------------------------------

namespace {

void connect_region(Region& region) {
  for (std::size_t b = 0; b < region.blocks.size(); ++b) {
    Block& block = *region.blocks[b];
    block.region = &region;
    block.index = static_cast<int>(b);
    for (std::size_t i = 0; i < block.arguments.size(); ++i) {
      block.arguments[i]->block = &block;
      block.arguments[i]->index = static_cast<int>(i);
    }
    for (const auto& op : block.operations) {
      op->block = &block;
      for (std::size_t i = 0; i < op->results.size(); ++i) {
        Value& result = *op->results[i];
        result.definition = op.get();
        result.block = &block;
        result.index = static_cast<int>(i);
        result.location = op->location;
      }
      for (Value* operand : op->operands) operand->users.push_back(op.get());
      for (const Successor& successor : op->successors) {
        for (Value* argument : successor.arguments) argument->users.push_back(op.get());
      }
      for (const auto& inner : op->regions) {
        inner->parent = op.get();
        inner->function = region.function;
        connect_region(*inner);
      }
    }
  }
}

}  // namespace

void connect(Module& module) {
  for (const auto& function : module.functions) {
    function->body.function = function.get();
    connect_region(function->body);
  }
}

}  // namespace ksplit::ttir
