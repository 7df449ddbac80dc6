// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/literal.h"
#include "python/module.h"

namespace ksplit {

/// A function of the file that `@triton.jit` makes a kernel (or a device function).
struct KernelDefinition {
  std::string name;
  const PythonNode* node = nullptr;
  const PythonNode* jit = nullptr;         // the decorator
  const PythonNode* autotune = nullptr;    // the decorator's call, or nullptr
  const PythonNode* heuristics = nullptr;  // the decorator's call, or nullptr
};

/// The jit functions at the top level of a file, in source order. `triton` and its parts may have
/// been imported under other names.
std::vector<KernelDefinition> kernels_of(const PythonModule& module);

/// What `import` statements made a dotted name mean: "tl.constexpr" -> "triton.language.constexpr".
std::string imported_name(const PythonModule& module, const PythonNode* expression);
std::string imported_name(const PythonModule& module, std::string_view dotted);

/// One `triton.Config`.
struct TunedConfig {
  std::map<std::string, Literal> constants;  // the kernel's constexprs
  std::map<std::string, Literal> options;    // num_warps, num_stages, num_ctas, maxnreg
  bool operator==(const TunedConfig&) const = default;
};

/// The configurations of an autotuned kernel, where they can be read off the source: listed in the
/// decorator or in a module-level name, literally or by comprehension. None otherwise, and if one
/// has a `pre_hook`, which a frozen configuration would lose.
std::optional<std::vector<TunedConfig>> configs_of(const PythonModule& module,
                                                   const KernelDefinition& kernel);

/// The names that heuristics compute; "" among them if they cannot be read.
std::vector<std::string> heuristic_names(const KernelDefinition& kernel);

}  // namespace ksplit
