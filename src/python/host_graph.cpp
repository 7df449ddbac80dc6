// SPDX-License-Identifier: Apache-2.0
#include "python/host_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "python/query.h"
#include "python/scopes.h"

namespace ksplit {
namespace {

// A class and its bases in the file, most derived first.
std::vector<const PythonNode*> lineage(const PythonModule& module, std::string_view class_name) {
  std::vector<const PythonNode*> classes;
  const PythonNode* first = find_class(module, class_name);
  if (first != nullptr) classes.push_back(first);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    for (const auto& base : list_of(*classes[i], "bases")) {
      const PythonNode* found = find_class(module, name_of(base.get()));
      if (found != nullptr && std::find(classes.begin(), classes.end(), found) == classes.end()) {
        classes.push_back(found);
      }
    }
  }
  return classes;
}

bool has_decorator(const PythonNode& function, std::string_view name) {
  const PythonNodes& decorators = list_of(function, "decorator_list");
  return std::any_of(decorators.begin(), decorators.end(),
                     [&](const auto& decorator) { return is_name(*decorator, name); });
}

std::string first_parameter(const PythonNode& function) {
  const std::vector<PythonParameter> parameters = parameters_of(function);
  return parameters.empty() ? std::string() : parameters.front().name;
}

class Builder {
 public:
  Builder(const PythonModule& module, std::string_view class_name)
      : module_(module), class_name_(class_name) {
    graph_.kernels = kernels_of(module);
    for (const auto& [name, bindings] : module_bindings(module)) {
      if (bindings.size() == 1) unique_.emplace(name, bindings.front());
    }
  }

  Result<HostGraph> build() {
    const FoundMethod forward = find_method(module_, class_name_, "forward");
    if (find_class(module_, class_name_) == nullptr) {
      return fail(ErrorCode::unsupported,
                  fmt::format("{}: no class {}", module_.path, class_name_));
    }
    if (forward.method == nullptr) {
      return fail(ErrorCode::unsupported,
                  fmt::format("{}:{}: {} has no forward in this file", module_.path,
                              find_class(module_, class_name_)->line, class_name_));
    }
    if (graph_.kernels.empty()) {
      return fail(ErrorCode::unsupported,
                  fmt::format("{}: defines no @triton.jit kernel at the top level", module_.path));
    }
    graph_.forward = method_unit(class_name_, "forward");
    for (std::size_t next = 0; next < graph_.units.size(); ++next) read(static_cast<int>(next));
    mark_launching();
    if (!graph_.units[static_cast<std::size_t>(graph_.forward)].launches) {
      return fail(ErrorCode::unsupported,
                  fmt::format("{}:{}: {}.forward reaches no kernel by name", module_.path,
                              forward.method->line, class_name_));
    }
    return std::move(graph_);
  }

 private:
  HostUnit& unit(int index) { return graph_.units[static_cast<std::size_t>(index)]; }

  int add(HostUnit unit) {
    for (std::size_t i = 0; i < graph_.units.size(); ++i) {
      const HostUnit& known = graph_.units[i];
      if (known.node == unit.node && known.owner == unit.owner) return static_cast<int>(i);
    }
    graph_.units.push_back(std::move(unit));
    return static_cast<int>(graph_.units.size()) - 1;
  }

  int method_unit(const std::string& owner, const std::string& name) {
    const FoundMethod found = find_method(module_, owner, name);
    if (found.method == nullptr) return -1;
    HostUnit unit{HostUnit::Kind::method, name, owner, found.method, found.holder};
    unit.is_static = has_decorator(*found.method, "staticmethod");
    return add(std::move(unit));
  }

  // A function or class of the file that has one meaning throughout.
  int named_unit(const std::string& name) {
    const auto found = unique_.find(name);
    if (found == unique_.end() || name == class_name_) return -1;
    const PythonNode* node = found->second;
    if (is_function(*node)) return add({HostUnit::Kind::function, name, {}, node});
    if (node->type == "ClassDef") return add({HostUnit::Kind::class_body, name, {}, node});
    return -1;
  }

  void read(int from) {
    const PythonNode& node = *unit(from).node;
    std::set<const PythonNode*> free;
    for_each_free_name(node, [&](const PythonNode& name) {
      free.insert(&name);
      read_name(from, name);
    });
    walk(node, [&](const PythonNode& inner) {
      if (inner.type == "Call") {
        read_method_call(from, inner, free);
        read_launch(from, inner, free);
      }
      if (inner.type == "Attribute") read_kernel_attribute(from, inner);
      return true;
    });
  }

  void read_name(int from, const PythonNode& name) {
    // Before Python 3.12 what stands in an f-string has no position and cannot be redirected.
    if (name.range.begin == name.range.end) return;
    const std::string id = name.identifier("id");
    if (const int kernel = graph_.kernel_named(id); kernel >= 0 && unique_.count(id) != 0) {
      graph_.references.push_back({from, &name, -1, kernel});
    } else if (const int target = named_unit(id); target >= 0) {
      graph_.references.push_back({from, &name, target});
    }
  }

  // The class of the instance an expression denotes: `self`, or `self.layer` where __init__ says
  // `self.layer = Layer(...)`.
  std::string class_of(int from, const PythonNode* expression) {
    const HostUnit& unit = this->unit(from);
    if (unit.kind != HostUnit::Kind::method || unit.is_static || expression == nullptr) return {};
    const std::string self = first_parameter(*unit.node);
    if (is_name(*expression, self)) return unit.owner;
    if (expression->type != "Attribute" || name_of(expression->child("value")) != self) return {};
    const PythonNode* value = attribute_value(module_, unit.owner, expression->identifier("attr"));
    if (value == nullptr || value->type != "Call") return {};
    const std::string name = name_of(value->child("func"));
    return find_class(module_, name) != nullptr ? name : std::string();
  }

  void read_method_call(int from, const PythonNode& call, const std::set<const PythonNode*>& free) {
    const PythonNode* function = call.child("func");
    if (function->type != "Attribute") return;
    const PythonNode* value = function->child("value");
    const std::string name = function->identifier("attr");
    // `self.layer(x)` calls forward through nn.Module.__call__.
    if (const std::string owner = class_of(from, function); !owner.empty()) {
      return add_method_call(from, owner, "forward", call, function);
    }
    if (const std::string owner = class_of(from, value); !owner.empty()) {
      return add_method_call(from, owner, name, call, value);
    }
    // `ModelNew.helper(x)`: a static method, or one that is passed its instance explicitly.
    if (is_name(*value, class_name_) && free.count(value) != 0) {
      add_method_call(from, class_name_, name, call, nullptr);
    }
  }

  void add_method_call(int from, const std::string& owner, const std::string& name,
                       const PythonNode& call, const PythonNode* receiver) {
    const int target = method_unit(owner, name);
    if (target < 0) return;
    graph_.references.push_back(
        {from, call.child("func"), target, -1, &call, unit(target).is_static ? nullptr : receiver});
  }

  // `self.kernel` where the class says `self.kernel = some_kernel`.
  int kernel_of_attribute(int from, const PythonNode& attribute) {
    const HostUnit& unit = this->unit(from);
    if (attribute.type != "Attribute" || unit.kind != HostUnit::Kind::method || unit.is_static ||
        name_of(attribute.child("value")) != first_parameter(*unit.node)) {
      return -1;
    }
    const PythonNode* value = attribute_value(module_, unit.owner, attribute.identifier("attr"));
    const std::string name = name_of(value);
    return unique_.count(name) != 0 ? graph_.kernel_named(name) : -1;
  }

  void read_kernel_attribute(int from, const PythonNode& attribute) {
    const int kernel = kernel_of_attribute(from, attribute);
    const PythonNode* context = attribute.child("ctx");
    if (kernel >= 0 && context != nullptr && context->type == "Load") {
      graph_.references.push_back({from, &attribute, -1, kernel});
    }
  }

  void read_launch(int from, const PythonNode& call, const std::set<const PythonNode*>& free) {
    const PythonNode* subscript = call.child("func");
    if (subscript->type != "Subscript") return;
    std::vector<int> kernels = kernels_denoted(from, subscript->child("value"), free);
    if (!kernels.empty()) graph_.launches.push_back({from, &call, std::move(kernels)});
  }

  // The kernels an expression may stand for; empty if that is not known.
  std::vector<int> kernels_denoted(int from, const PythonNode* expression,
                                   const std::set<const PythonNode*>& free) {
    if (expression == nullptr) return {};
    if (expression->type == "Attribute") {
      const int kernel = kernel_of_attribute(from, *expression);
      return kernel < 0 ? std::vector<int>{} : std::vector<int>{kernel};
    }
    if (expression->type == "IfExp") {
      std::vector<int> kernels = kernels_denoted(from, expression->child("body"), free);
      const std::vector<int> others = kernels_denoted(from, expression->child("orelse"), free);
      if (kernels.empty() || others.empty()) return {};
      kernels.insert(kernels.end(), others.begin(), others.end());
      return kernels;
    }
    if (expression->type == "Call" && list_of(*expression, "args").size() == 1) {
      // torch.library.wrap_triton(kernel)[grid](...)
      const std::string wrapper = imported_name(module_, expression->child("func"));
      if (!wrapper.ends_with("wrap_triton")) return {};
      return kernels_denoted(from, list_of(*expression, "args").front().get(), free);
    }
    const std::string name = name_of(expression);
    if (name.empty()) return {};
    if (free.count(expression) != 0) {
      const int kernel = unique_.count(name) != 0 ? graph_.kernel_named(name) : -1;
      return kernel < 0 ? std::vector<int>{} : std::vector<int>{kernel};
    }
    return kernels_of_local(from, name, free);
  }

  // A local name all of whose assignments are kernels.
  std::vector<int> kernels_of_local(int from, const std::string& name,
                                    const std::set<const PythonNode*>& free) {
    std::vector<int> kernels;
    for (const PythonNode* assign : all_of_type(*unit(from).node, "Assign")) {
      for (const auto& target : list_of(*assign, "targets")) {
        if (!is_name(*target, name)) continue;
        const PythonNode* value = assign->child("value");
        if (is_name(*value, name)) return {};
        const std::vector<int> denoted = kernels_denoted(from, value, free);
        if (denoted.empty()) return {};
        kernels.insert(kernels.end(), denoted.begin(), denoted.end());
      }
    }
    return kernels;
  }

  void mark_launching() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const HostReference& reference : graph_.references) {
        HostUnit& from = unit(reference.from);
        if (from.launches) continue;
        if (reference.kernel >= 0 || unit(reference.unit).launches) from.launches = changed = true;
      }
    }
  }

  const PythonModule& module_;
  const std::string class_name_;
  std::map<std::string, const PythonNode*> unique_;
  HostGraph graph_;
};

}  // namespace

int HostGraph::kernel_named(std::string_view name) const {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

FoundMethod find_method(const PythonModule& module, std::string_view class_name,
                        std::string_view name) {
  for (const PythonNode* holder : lineage(module, class_name)) {
    if (const PythonNode* method = find_function(*holder, name)) return {method, holder};
  }
  return {};
}

const PythonNode* attribute_value(const PythonModule& module, std::string_view class_name,
                                  std::string_view attribute) {
  std::vector<const PythonNode*> values;
  for (const PythonNode* holder : lineage(module, class_name)) {
    walk(*holder, [&](const PythonNode& node) {
      const bool assigns = node.type == "Assign" || node.type == "AnnAssign" ||
                           node.type == "AugAssign" || node.type == "NamedExpr";
      if (!assigns) return true;
      for (const PythonNode* child : children_of(node)) {
        // A store to the attribute of whatever object: `self` may have other names.
        if (child->type == "Attribute" && child->identifier("attr") == attribute &&
            child != node.child("value")) {
          values.push_back(node.child("value"));
        }
      }
      return true;
    });
    const auto bindings = class_bindings(*holder);
    if (const auto found = bindings.find(std::string(attribute)); found != bindings.end()) {
      for (const PythonNode* binding : found->second) values.push_back(binding->child("value"));
    }
  }
  return values.size() == 1 ? values.front() : nullptr;
}

Result<HostGraph> host_graph(const PythonModule& module, std::string_view class_name) {
  return Builder(module, class_name).build();
}

}  // namespace ksplit
