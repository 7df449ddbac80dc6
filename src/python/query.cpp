// SPDX-License-Identifier: Apache-2.0
#include "python/query.h"

#include <algorithm>

namespace ksplit {

const PythonNodes& list_of(const PythonNode& node, std::string_view field) {
  static const PythonNodes kNone;
  const PythonNode::Field* found = node.field(field);
  return found == nullptr ? kNone : found->nodes;
}

std::vector<const PythonNode*> children_of(const PythonNode& node) {
  std::vector<const PythonNode*> children;
  for (const PythonNode::Field& field : node.fields) {
    for (const auto& child : field.nodes) {
      if (child != nullptr) children.push_back(child.get());
    }
  }
  return children;
}

void walk(const PythonNode& node, const std::function<bool(const PythonNode&)>& visit) {
  if (!visit(node)) return;
  for (const PythonNode* child : children_of(node)) walk(*child, visit);
}

std::vector<const PythonNode*> all_of_type(const PythonNode& node, std::string_view type) {
  std::vector<const PythonNode*> found;
  walk(node, [&](const PythonNode& inner) {
    if (inner.type == type) found.push_back(&inner);
    return true;
  });
  std::stable_sort(found.begin(), found.end(), [](const PythonNode* a, const PythonNode* b) {
    return a->range.begin < b->range.begin;
  });
  return found;
}

bool is_function(const PythonNode& node) {
  return node.type == "FunctionDef" || node.type == "AsyncFunctionDef";
}

bool is_definition(const PythonNode& node) {
  return is_function(node) || node.type == "ClassDef";
}

bool is_name(const PythonNode& node, std::string_view id) {
  return node.type == "Name" && node.identifier("id") == id;
}

std::string name_of(const PythonNode* node) {
  return node != nullptr && node->type == "Name" ? node->identifier("id") : std::string();
}

std::string dotted_name(const PythonNode* node) {
  if (node == nullptr) return {};
  if (node->type == "Name") return node->identifier("id");
  if (node->type != "Attribute") return {};
  const std::string base = dotted_name(node->child("value"));
  return base.empty() ? std::string() : base + "." + node->identifier("attr");
}

std::optional<Literal> constant_of(const PythonNode* node) {
  if (node == nullptr || node->range.begin == node->range.end) return std::nullopt;
  if (node->type == "Constant") {
    const PythonNode::Field* value = node->field("value");
    return value == nullptr ? std::nullopt : std::optional(value->constant);
  }
  if (node->type != "UnaryOp" || node->child("op") == nullptr ||
      node->child("op")->type != "USub") {
    return std::nullopt;
  }
  const std::optional<Literal> inner = constant_of(node->child("operand"));
  if (!inner) return std::nullopt;
  if (const auto* integer = inner->as_int()) return Literal(-*integer);
  if (const auto* number = inner->as_float()) return Literal(-*number);
  return std::nullopt;
}

std::vector<const PythonNode*> statements_of(const PythonNode& module_or_class) {
  std::vector<const PythonNode*> statements;
  const std::function<void(const PythonNode&)> collect = [&](const PythonNode& block) {
    for (const char* field : {"body", "handlers", "orelse", "finalbody"}) {
      for (const auto& statement : list_of(block, field)) {
        if (statement == nullptr) continue;
        statements.push_back(statement.get());
        if (!is_definition(*statement)) collect(*statement);
      }
    }
  };
  collect(module_or_class);
  return statements;
}

namespace {

const PythonNode* find_last(const PythonNode& block, std::string_view name,
                            bool (*accepts)(const PythonNode&)) {
  const PythonNode* found = nullptr;
  for (const PythonNode* statement : statements_of(block)) {
    if (accepts(*statement) && statement->identifier("name") == name) found = statement;
  }
  return found;
}

}  // namespace

const PythonNode* find_function(const PythonNode& module_or_class, std::string_view name) {
  return find_last(module_or_class, name, is_function);
}

const PythonNode* find_class(const PythonModule& module, std::string_view name) {
  return find_last(*module.root, name,
                   [](const PythonNode& node) { return node.type == "ClassDef"; });
}

const PythonNode* keyword_of(const PythonNode& call, std::string_view name) {
  for (const auto& keyword : list_of(call, "keywords")) {
    if (keyword->identifier("arg") == name) return keyword->child("value");
  }
  return nullptr;
}

std::vector<PythonParameter> parameters_of(const PythonNode& function) {
  using Kind = PythonParameter::Kind;
  std::vector<PythonParameter> parameters;
  const PythonNode* arguments = function.child("args");
  if (arguments == nullptr) return parameters;
  const auto add = [&](const PythonNode* node, Kind kind) {
    if (node == nullptr) return;
    parameters.push_back({node->identifier("arg"), kind, node, node->child("annotation")});
  };
  for (const auto& node : list_of(*arguments, "posonlyargs"))
    add(node.get(), Kind::positional_only);
  for (const auto& node : list_of(*arguments, "args")) add(node.get(), Kind::positional);
  // `defaults` belong to the last of the positional parameters.
  const PythonNodes& defaults = list_of(*arguments, "defaults");
  for (std::size_t i = 0; i < defaults.size() && i < parameters.size(); ++i) {
    parameters[parameters.size() - 1 - i].default_value = defaults[defaults.size() - 1 - i].get();
  }
  add(arguments->child("vararg"), Kind::var_positional);
  const PythonNodes& keyword_only = list_of(*arguments, "kwonlyargs");
  const PythonNodes& keyword_defaults = list_of(*arguments, "kw_defaults");
  for (std::size_t i = 0; i < keyword_only.size(); ++i) {
    add(keyword_only[i].get(), Kind::keyword_only);
    if (i < keyword_defaults.size()) parameters.back().default_value = keyword_defaults[i].get();
  }
  add(arguments->child("kwarg"), Kind::var_keyword);
  return parameters;
}

const PythonNode* argument_for(const PythonNode& call, const PythonNode& callee,
                               std::string_view parameter, std::size_t bound) {
  if (const PythonNode* value = keyword_of(call, parameter)) return value;
  const PythonNodes& given = list_of(call, "args");
  std::size_t position = 0;
  for (const PythonParameter& candidate : parameters_of(callee)) {
    if (candidate.kind != PythonParameter::Kind::positional &&
        candidate.kind != PythonParameter::Kind::positional_only) {
      return nullptr;
    }
    if (position >= bound) {
      if (position - bound >= given.size()) return nullptr;
      const PythonNode* argument = given[position - bound].get();
      if (argument->type == "Starred") return nullptr;
      if (candidate.name == parameter) return argument;
    }
    ++position;
  }
  return nullptr;
}

bool spreads_positional(const PythonNode& call) {
  const PythonNodes& arguments = list_of(call, "args");
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const auto& node) { return node->type == "Starred"; });
}

bool spreads_keywords(const PythonNode& call) {
  const PythonNodes& keywords = list_of(call, "keywords");
  return std::any_of(keywords.begin(), keywords.end(),
                     [](const auto& node) { return node->identifier("arg").empty(); });
}

}  // namespace ksplit
