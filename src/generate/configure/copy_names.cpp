// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "generate/configure/copy.h"
#include "python/query.h"
#include "python/scopes.h"

namespace ksplit {
namespace {

std::set<std::string> identifiers(const PythonModule& module) {
  std::set<std::string> names;
  walk(*module.root, [&](const PythonNode& node) {
    for (const char* field : {"id", "name", "asname", "arg"}) names.insert(node.identifier(field));
    return true;
  });
  return names;
}

tl::unexpected<Error> not_copyable(const PythonModule& module, int line, const std::string& what) {
  return fail(ErrorCode::unsupported, fmt::format("{}:{}: {}", module.path, line, what));
}

// Decorators that register a function under a name that a copy would register again.
bool registers(const PythonModule& module, const PythonNode& decorator) {
  const std::string name =
      imported_name(module, decorator.type == "Call" ? decorator.child("func") : &decorator);
  return name.starts_with("torch.library.") || name.find("register") != std::string::npos;
}

Status check_method(const PythonModule& module, const HostUnit& unit, bool keeps_defaults) {
  const PythonNode& method = *unit.node;
  for (const auto& decorator : list_of(method, "decorator_list")) {
    const std::string name = dotted_name(decorator.get());
    if (name == "classmethod" || name == "property" || name.ends_with(".setter")) {
      return not_copyable(module, decorator->line,
                          fmt::format("@{} cannot stand outside of its class", name));
    }
  }
  // Names of the class body, which decorators, defaults and annotations may use.
  const auto class_names = class_bindings(*unit.defined_in);
  std::optional<Error> problem;
  for_each_free_name(method, [&](const PythonNode& name) {
    const std::string id = name.identifier("id");
    if (problem) return;
    if (id == "super" || id == "__class__") {
      problem =
          not_copyable(module, name.line, fmt::format("`{}` cannot stand outside of its class", id))
              .value();
    }
  });
  const auto check_outer = [&](const PythonNode* expression) {
    if (expression == nullptr) return;
    for_each_free_name(*expression, [&](const PythonNode& name) {
      if (problem || class_names.count(name.identifier("id")) == 0) return;
      problem = not_copyable(module, name.line,
                             fmt::format("`{}` is a name of the class body", name.identifier("id")))
                    .value();
    });
  };
  for (const PythonParameter& parameter : parameters_of(method)) {
    check_outer(parameter.annotation);
    if (keeps_defaults) check_outer(parameter.default_value);
  }
  for (const PythonNode* attribute : all_of_type(method, "Attribute")) {
    const std::string name = attribute->identifier("attr");
    if (!problem && name.starts_with("__") && !name.ends_with("__")) {
      problem =
          not_copyable(module, attribute->line,
                       fmt::format("the private name `{}` cannot stand outside of its class", name))
              .value();
    }
  }
  return problem ? Status(tl::unexpected(std::move(*problem))) : Status();
}

}  // namespace

Result<CopyNames> copy_names(const PythonModule& module, const HostGraph& graph,
                             const std::vector<KernelUse>& uses, const std::string& op_name,
                             const std::string& group_id) {
  CopyNames names;
  names.group_id = group_id;
  std::set<std::string> taken = identifiers(module);
  const auto fixed_name = [&](const std::string& name) -> Result<std::string> {
    if (taken.insert(name).second) return name;
    return fail(ErrorCode::unsupported,
                fmt::format("{}: already uses the name `{}`", module.path, name),
                "split the original generic kernel, or choose another --op-name");
  };
  for (const KernelUse& use : uses) {
    std::string stem = graph.kernels[static_cast<std::size_t>(use.kernel)].name;
    if (stem.ends_with("_kernel")) stem.resize(stem.size() - std::string_view("_kernel").size());
    KSPLIT_TRY(names.kernels[use.kernel],
               fixed_name(names.kernels.empty()
                              ? fmt::format("{}_kernel_{}", op_name, group_id)
                              : fmt::format("{}_{}_kernel_{}", op_name, stem, group_id)));
  }
  KSPLIT_TRY(names.units[graph.forward], fixed_name(fmt::format("{}_{}", op_name, group_id)));
  for (std::size_t i = 0; i < graph.units.size(); ++i) {
    const int index = static_cast<int>(i);
    if (index == graph.forward) continue;
    const HostUnit& unit = graph.units[i];
    std::string stem = unit.name;
    if (unit.kind == HostUnit::Kind::method &&
        unit.owner != graph.units[static_cast<std::size_t>(graph.forward)].owner) {
      stem = unit.owner + "_" + unit.name;
    }
    while (!taken.insert(fmt::format("{}_{}", stem, group_id)).second) stem += "_host";
    names.units[index] = fmt::format("{}_{}", stem, group_id);
  }
  return names;
}

Status check_copyable(const PythonModule& module, const HostGraph& graph, int index) {
  const HostUnit& unit = graph.units[static_cast<std::size_t>(index)];
  if (unit.node->type == "AsyncFunctionDef") {
    return not_copyable(module, unit.node->line, fmt::format("`{}` is async", unit.name));
  }
  for (const auto& decorator : list_of(*unit.node, "decorator_list")) {
    if (!registers(module, *decorator)) continue;
    return not_copyable(
        module, decorator->line,
        fmt::format("`{}` is a registered operator, of which there can be only one", unit.name));
  }
  return unit.kind == HostUnit::Kind::method ? check_method(module, unit, index != graph.forward)
                                             : Status();
}

}  // namespace ksplit
