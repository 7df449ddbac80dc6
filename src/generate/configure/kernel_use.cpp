// SPDX-License-Identifier: Apache-2.0
#include "generate/configure/kernel_use.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "python/query.h"

namespace ksplit {
namespace {

constexpr int kMaxHelperDepth = 8;

// Functions of triton.language that read the type or shape of an argument that constants lack.
constexpr const char* kTensorOnly[] = {"multiple_of", "max_contiguous", "max_constancy",
                                       "broadcast_to"};

// "dot" for `tl.dot(...)`.
std::string called_function(const PythonNode& call) {
  const std::string name = dotted_name(call.child("func"));
  return name.substr(name.rfind('.') + 1);
}

bool is_tensor_only(const PythonNode& call) {
  const std::string last = called_function(call);
  return std::find(std::begin(kTensorOnly), std::end(kTensorOnly), last) != std::end(kTensorOnly);
}

// The parameters of a device function that receive the name `argument`.
std::vector<std::string> receiving_parameters(const PythonNode& call, const PythonNode& callee,
                                              const std::string& argument) {
  std::vector<std::string> names;
  for (const PythonParameter& parameter : parameters_of(callee)) {
    const PythonNode* given = argument_for(call, callee, parameter.name);
    if (given != nullptr && is_name(*given, argument)) names.push_back(parameter.name);
  }
  return names;
}

bool tolerates_constant(const HostGraph& graph, const PythonNode& function,
                        const std::string& parameter, int depth) {
  if (depth > kMaxHelperDepth) return false;
  bool tolerates = true;
  walk(function, [&](const PythonNode& node) {
    if (!tolerates) return false;
    if (is_name(node, parameter) && node.child("ctx")->type != "Load") tolerates = false;
    if (node.type == "Attribute" && is_name(*node.child("value"), parameter)) tolerates = false;
    if (node.type != "Call") return tolerates;
    const PythonNodes& arguments = list_of(node, "args");
    const bool passed = std::any_of(arguments.begin(), arguments.end(), [&](const auto& argument) {
      return is_name(*argument, parameter);
    });
    if (passed && is_tensor_only(node)) tolerates = false;
    const int helper = graph.kernel_named(name_of(node.child("func")));
    if (helper < 0) return tolerates;
    const PythonNode& callee = *graph.kernels[static_cast<std::size_t>(helper)].node;
    for (const std::string& name : receiving_parameters(node, callee, parameter)) {
      tolerates = tolerates && tolerates_constant(graph, callee, name, depth + 1);
    }
    return tolerates;
  });
  return tolerates;
}

bool may_be_annotated(const PythonNode* annotation) {
  return annotation == nullptr || is_name(*annotation, "int") || is_name(*annotation, "bool") ||
         is_name(*annotation, "float");
}

bool is_safe_integer(const Literal& value) {
  if (value.as_bool() != nullptr) return true;
  const std::int64_t* integer = value.as_int();
  return integer != nullptr && *integer >= 0 &&
         *integer <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

Result<std::vector<KernelUse>> kernel_uses(const HostGraph& graph,
                                           const GeneratorContext& context) {
  std::vector<KernelUse> uses;
  std::set<std::string> foreign;
  std::set<std::string> hidden;
  for (const LaunchTrace* trace : context.traces) {
    for (const Launch& launch : trace->launches) {
      const int kernel = graph.kernel_named(launch.kernel);
      if (kernel < 0) {
        foreign.insert(launch.kernel);
        continue;
      }
      if (std::none_of(graph.references.begin(), graph.references.end(),
                       [&](const HostReference& one) { return one.kernel == kernel; })) {
        hidden.insert(launch.kernel);
        continue;
      }
      auto use = std::find_if(uses.begin(), uses.end(),
                              [&](const KernelUse& known) { return known.kernel == kernel; });
      if (use == uses.end()) use = uses.insert(uses.end(), KernelUse{kernel, {}});
      use->launches.push_back(&launch);
    }
  }
  if (!uses.empty()) return uses;
  const std::string& path = context.base.path;
  if (!hidden.empty()) {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: forward launches {} in a way that its source does not show", path,
                            fmt::join(hidden, ", ")),
                "launch kernels by their names");
  }
  if (!foreign.empty()) {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: does not define the kernel it launches ({})", path,
                            fmt::join(foreign, ", ")),
                "put the kernel into the file as a top-level @triton.jit function");
  }
  return fail(ErrorCode::unsupported, fmt::format("{}: launches no kernel on the cases of {}", path,
                                                  context.group.group_id));
}

std::optional<Literal> constant_argument(const KernelUse& use, const std::string& name) {
  std::optional<Literal> value;
  for (const Launch* launch : use.launches) {
    const auto argument =
        std::find_if(launch->arguments.begin(), launch->arguments.end(),
                     [&](const LaunchArgument& known) { return known.name == name; });
    if (argument == launch->arguments.end()) return std::nullopt;
    const Literal* literal = std::get_if<Literal>(&argument->value);
    if (literal == nullptr || (value && *value != *literal)) return std::nullopt;
    value = *literal;
  }
  return value;
}

FixableParameters fixable_parameters(const HostGraph& graph, const KernelUse& use) {
  FixableParameters fixable;
  const PythonNode& function = *graph.kernels[static_cast<std::size_t>(use.kernel)].node;
  for (const PythonParameter& parameter : parameters_of(function)) {
    if (!may_be_annotated(parameter.annotation)) continue;
    const std::optional<Literal> value = constant_argument(use, parameter.name);
    if (!value || !tolerates_constant(graph, function, parameter.name, 0)) continue;
    if (is_safe_integer(*value)) fixable.integers.push_back({parameter.name, *value});
    if (value->as_float() != nullptr) fixable.floats.push_back({parameter.name, *value});
  }
  return fixable;
}

bool multiplies_matrices(const HostGraph& graph, int kernel) {
  std::set<int> seen = {kernel};
  std::vector<int> waiting = {kernel};
  bool found = false;
  while (!waiting.empty() && !found) {
    const PythonNode& function = *graph.kernels[static_cast<std::size_t>(waiting.back())].node;
    waiting.pop_back();
    walk(function, [&](const PythonNode& node) {
      if (node.type == "Call") {
        const std::string callee = called_function(node);
        found = found || callee == "dot" || callee == "dot_scaled";
      }
      const int named = graph.kernel_named(name_of(&node));
      if (named >= 0 && seen.insert(named).second) waiting.push_back(named);
      return !found;
    });
  }
  return found;
}

}  // namespace ksplit
