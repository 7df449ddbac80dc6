// SPDX-License-Identifier: Apache-2.0
#include "python/kernels.h"

#include <algorithm>
#include <functional>

#include "python/constants.h"
#include "python/query.h"

namespace ksplit {
namespace {

const PythonNode* called(const PythonNode& decorator) {
  return decorator.type == "Call" ? decorator.child("func") : &decorator;
}

// The elements of a list display, or of a list bound once to a module-level name.
const PythonNode* resolved(const PythonModule& module, const PythonNode* expression) {
  const std::string name = name_of(expression);
  if (name.empty()) return expression;
  const PythonNode* value = nullptr;
  int assignments = 0;
  for (const PythonNode* statement : statements_of(*module.root)) {
    for (const auto& target : list_of(*statement, "targets")) {
      if (!is_name(*target, name)) continue;
      ++assignments;
      value = statement->child("value");
    }
  }
  return assignments == 1 ? value : nullptr;
}

std::optional<TunedConfig> config_of(const PythonModule& module, const PythonNode* call,
                                     const Constants& known) {
  if (call == nullptr || call->type != "Call" ||
      imported_name(module, call->child("func")) != "triton.Config") {
    return std::nullopt;
  }
  TunedConfig config;
  const PythonNodes& arguments = list_of(*call, "args");
  const PythonNode* constants =
      arguments.empty() ? keyword_of(*call, "kwargs") : arguments.front().get();
  if (constants == nullptr || constants->type != "Dict") return std::nullopt;
  const PythonNodes& keys = list_of(*constants, "keys");
  const PythonNodes& values = list_of(*constants, "values");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto key = evaluate_constant(keys[i].get(), known);
    const auto value = evaluate_constant(values[i].get(), known);
    if (!key || key->as_string() == nullptr || !value) return std::nullopt;
    config.constants[*key->as_string()] = *value;
  }
  static const char* const kPositional[] = {"kwargs", "num_warps", "num_stages", "num_ctas",
                                            "maxnreg"};
  std::map<std::string, const PythonNode*> options;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (i >= std::size(kPositional)) return std::nullopt;
    options[kPositional[i]] = arguments[i].get();
  }
  for (const auto& keyword : list_of(*call, "keywords")) {
    if (const std::string name = keyword->identifier("arg"); name != "kwargs") {
      options[name] = keyword->child("value");
    }
  }
  for (const auto& [name, expression] : options) {
    const auto value = evaluate_constant(expression, known);
    const bool known_option =
        std::find(std::begin(kPositional), std::end(kPositional), name) != std::end(kPositional);
    if (!known_option || !value) return std::nullopt;
    if (!value->is_none()) config.options[name] = *value;
  }
  return config;
}

}  // namespace

std::string imported_name(const PythonModule& module, const PythonNode* expression) {
  return imported_name(module, dotted_name(expression));
}

std::string imported_name(const PythonModule& module, std::string_view dotted) {
  const std::string written(dotted);
  const std::string first = written.substr(0, written.find('.'));
  if (first.empty()) return {};
  std::string meaning = first;
  for (const PythonNode* statement : statements_of(*module.root)) {
    if (statement->type != "Import" && statement->type != "ImportFrom") continue;
    for (const auto& alias : list_of(*statement, "names")) {
      const std::string name = alias->identifier("name");
      const std::string renamed = alias->identifier("asname");
      if (statement->type == "ImportFrom") {
        if ((renamed.empty() ? name : renamed) == first) {
          meaning = statement->identifier("module") + "." + name;
        }
      } else if (renamed == first) {
        meaning = name;
      }
    }
  }
  return meaning + written.substr(first.size());
}

std::vector<KernelDefinition> kernels_of(const PythonModule& module) {
  std::vector<KernelDefinition> kernels;
  for (const PythonNode* statement : statements_of(*module.root)) {
    if (statement->type != "FunctionDef") continue;
    KernelDefinition kernel{statement->identifier("name"), statement};
    for (const auto& decorator : list_of(*statement, "decorator_list")) {
      const std::string name = imported_name(module, called(*decorator));
      if (name == "triton.jit" || name == "triton.runtime.jit.jit" ||
          name == "triton.runtime.jit") {
        kernel.jit = decorator.get();
      }
      if (name == "triton.autotune") kernel.autotune = decorator.get();
      if (name == "triton.heuristics") kernel.heuristics = decorator.get();
    }
    if (kernel.jit != nullptr) kernels.push_back(kernel);
  }
  return kernels;
}

std::optional<std::vector<TunedConfig>> configs_of(const PythonModule& module,
                                                   const KernelDefinition& kernel) {
  if (kernel.autotune == nullptr || kernel.autotune->type != "Call") return std::nullopt;
  const PythonNodes& arguments = list_of(*kernel.autotune, "args");
  const PythonNode* listed = resolved(
      module, arguments.empty() ? keyword_of(*kernel.autotune, "configs") : arguments[0].get());
  if (listed == nullptr) return std::nullopt;
  const Constants known = module_constants(module);
  std::vector<TunedConfig> configs;
  bool readable = true;
  const auto add = [&](const PythonNode* call, const Constants& names) {
    std::optional<TunedConfig> config = config_of(module, call, names);
    readable &= config.has_value();
    if (config && std::find(configs.begin(), configs.end(), *config) == configs.end()) {
      configs.push_back(std::move(*config));
    }
  };
  if (listed->type == "List" || listed->type == "Tuple") {
    for (const auto& element : list_of(*listed, "elts")) add(element.get(), known);
  } else if (listed->type == "ListComp") {
    readable = for_each_round(*listed, known,
                              [&](const Constants& round) { add(listed->child("elt"), round); }) &&
               readable;
  } else {
    return std::nullopt;
  }
  if (!readable || configs.empty()) return std::nullopt;
  return configs;
}

std::vector<std::string> heuristic_names(const KernelDefinition& kernel) {
  std::vector<std::string> names;
  if (kernel.heuristics == nullptr) return names;
  const PythonNodes& arguments = list_of(*kernel.heuristics, "args");
  const PythonNode* values =
      arguments.empty() ? keyword_of(*kernel.heuristics, "values") : arguments.front().get();
  if (values == nullptr || values->type != "Dict") return {""};
  for (const auto& key : list_of(*values, "keys")) {
    const auto name = constant_of(key.get());
    names.push_back(name && name->as_string() != nullptr ? *name->as_string() : "");
  }
  return names;
}

}  // namespace ksplit
