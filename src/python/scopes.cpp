// SPDX-License-Identifier: Apache-2.0
#include "python/scopes.h"

#include <algorithm>

#include "python/query.h"

namespace ksplit {
namespace {

bool is_comprehension(const PythonNode& node) {
  return node.type == "ListComp" || node.type == "SetComp" || node.type == "DictComp" ||
         node.type == "GeneratorExp";
}

bool opens_scope(const PythonNode& node) {
  return is_definition(node) || node.type == "Lambda" || is_comprehension(node);
}

std::string bound_by_alias(const PythonNode& alias) {
  std::string renamed = alias.identifier("asname");
  if (!renamed.empty()) return renamed;
  const std::string name = alias.identifier("name");
  return name.substr(0, name.find('.'));
}

bool stores(const PythonNode& name) {
  const PythonNode* context = name.child("ctx");
  return context != nullptr && (context->type == "Store" || context->type == "Del");
}

// What a node that opens no scope binds by itself.
std::string name_bound_by(const PythonNode& node) {
  if (node.type == "Name") return stores(node) ? node.identifier("id") : std::string();
  if (node.type == "alias") return bound_by_alias(node);
  if (is_definition(node) || node.type == "ExceptHandler" || node.type == "MatchAs" ||
      node.type == "MatchStar") {
    return node.identifier("name");
  }
  if (node.type == "MatchMapping") return node.identifier("rest");
  return {};
}

// The parts of a scope that are evaluated outside of it: decorators, defaults, annotations, bases,
// and the first iterable of a comprehension.
std::vector<const PythonNode*> outer_parts(const PythonNode& scope) {
  std::vector<const PythonNode*> parts;
  const auto add_list = [&](const PythonNode& node, std::string_view field) {
    for (const auto& child : list_of(node, field)) {
      if (child != nullptr) parts.push_back(child.get());
    }
  };
  const auto add = [&](const PythonNode* node) {
    if (node != nullptr) parts.push_back(node);
  };
  if (is_comprehension(scope)) {
    const PythonNodes& generators = list_of(scope, "generators");
    if (!generators.empty()) add(generators.front()->child("iter"));
    return parts;
  }
  add_list(scope, "decorator_list");
  add_list(scope, "bases");
  add_list(scope, "keywords");
  add(scope.child("returns"));
  for (const PythonParameter& parameter : parameters_of(scope)) {
    add(parameter.annotation);
    add(parameter.default_value);
  }
  return parts;
}

void collect_bound(const PythonNode& node, bool root, std::set<std::string>& names,
                   std::set<std::string>& globals) {
  if (!root) {
    if (const std::string name = name_bound_by(node); !name.empty()) names.insert(name);
    if (opens_scope(node)) {
      for (const PythonNode* part : outer_parts(node)) collect_bound(*part, false, names, globals);
      if (!is_comprehension(node)) return;
      // `:=` inside a comprehension binds in the scope around it.
      for (const PythonNode* walrus : all_of_type(node, "NamedExpr")) {
        names.insert(name_of(walrus->child("target")));
      }
      return;
    }
    if (node.type == "Global") {
      if (const auto* listed = node.field("names")->constant.as_list()) {
        for (const Literal& name : *listed) {
          if (name.as_string() != nullptr) globals.insert(*name.as_string());
        }
      }
    }
  }
  for (const PythonNode* child : children_of(node)) collect_bound(*child, false, names, globals);
}

class FreeNames {
 public:
  explicit FreeNames(const std::function<void(const PythonNode&)>& visit) : visit_(visit) {}

  void enter(const PythonNode& node) {
    if (node.type == "Name") {
      if (!is_local(node.identifier("id"))) visit_(node);
      return;
    }
    if (!opens_scope(node)) {
      for (const PythonNode* child : children_of(node)) enter(*child);
      return;
    }
    const std::vector<const PythonNode*> outer = outer_parts(node);
    for (const PythonNode* part : outer) enter(*part);
    scopes_.push_back({bound_names(node), node.type == "ClassDef"});
    enter_inside(node, outer);
    scopes_.pop_back();
  }

 private:
  struct Scope {
    std::set<std::string> names;
    bool is_class;
  };

  bool is_local(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const bool visible = !scope->is_class || scope == scopes_.rbegin();
      if (visible && scope->names.count(name) != 0) return true;
    }
    return false;
  }

  void enter_inside(const PythonNode& node, const std::vector<const PythonNode*>& outer) {
    for (const PythonNode* child : children_of(node)) {
      if (std::find(outer.begin(), outer.end(), child) != outer.end()) continue;
      if (child->type == "arguments" || child->type == "arg" || child->type == "comprehension") {
        enter_inside(*child, outer);
      } else {
        enter(*child);
      }
    }
  }

  const std::function<void(const PythonNode&)>& visit_;
  std::vector<Scope> scopes_;
};

using Bindings = std::map<std::string, std::vector<const PythonNode*>>;

Bindings bindings_in(const PythonNode& block) {
  Bindings bindings;
  for (const PythonNode* statement : statements_of(block)) {
    if (is_definition(*statement)) {
      bindings[statement->identifier("name")].push_back(statement);
      continue;
    }
    if (statement->type == "Import" || statement->type == "ImportFrom") {
      for (const auto& alias : list_of(*statement, "names")) {
        bindings[bound_by_alias(*alias)].push_back(alias.get());
      }
      continue;
    }
    std::set<std::string> names;
    std::set<std::string> globals;
    if (const std::string name = name_bound_by(*statement); !name.empty()) names.insert(name);
    for (const PythonNode::Field& field : statement->fields) {
      // Statements of a nested block have their own turn.
      if (field.name == "body" || field.name == "handlers" || field.name == "orelse" ||
          field.name == "finalbody") {
        continue;
      }
      for (const auto& child : field.nodes) {
        if (child != nullptr) collect_bound(*child, false, names, globals);
      }
    }
    for (const std::string& name : names) bindings[name].push_back(statement);
  }
  return bindings;
}

}  // namespace

std::set<std::string> bound_names(const PythonNode& scope) {
  std::set<std::string> names;
  std::set<std::string> globals;
  for (const PythonParameter& parameter : parameters_of(scope)) names.insert(parameter.name);
  const std::vector<const PythonNode*> outer = outer_parts(scope);
  for (const PythonNode* child : children_of(scope)) {
    if (std::find(outer.begin(), outer.end(), child) != outer.end()) continue;
    if (child->type != "arguments") collect_bound(*child, false, names, globals);
  }
  for (const std::string& name : globals) names.erase(name);
  return names;
}

void for_each_free_name(const PythonNode& node,
                        const std::function<void(const PythonNode&)>& visit) {
  FreeNames(visit).enter(node);
}

Bindings module_bindings(const PythonModule& module) {
  Bindings bindings = bindings_in(*module.root);
  for (const PythonNode* global : all_of_type(*module.root, "Global")) {
    if (const auto* listed = global->field("names")->constant.as_list()) {
      for (const Literal& name : *listed) {
        if (name.as_string() != nullptr) bindings[*name.as_string()].push_back(global);
      }
    }
  }
  return bindings;
}

Bindings class_bindings(const PythonNode& class_node) {
  return bindings_in(class_node);
}

}  // namespace ksplit
