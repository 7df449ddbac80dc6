// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "python/kernels.h"
#include "python/module.h"

namespace ksplit {

/// Which definitions of a file run when `ModelNew.forward` is called, as far as names tell, and
/// where they launch kernels.
///
/// A unit is a piece of the host code that can be copied: a module-level function, a method that is
/// called on an instance whose class is known (`self.run(x)`, `self.layer(x)`), or a whole class
/// that is used by name (`class _Sum(torch.autograd.Function)`). References are the places inside a
/// unit that name another unit or a kernel; redirecting them redirects the program. What is
/// reached in other ways (getattr, dictionaries of kernels) is not in the graph: it keeps working
/// in a copy, and keeps meaning the original.
struct HostUnit {
  enum class Kind { function, method, class_body };
  Kind kind = Kind::function;
  std::string name;
  std::string owner;  // method: the class of the instance it runs on
  const PythonNode* node = nullptr;
  const PythonNode* defined_in = nullptr;  // method: the class whose body holds it
  bool is_static = false;                  // method: @staticmethod
  bool launches = false;                   // leads to a kernel
};

/// A place in unit `from` that names a unit or a kernel (exactly one of `unit`, `kernel` is >= 0).
struct HostReference {
  int from = 0;
  const PythonNode* node = nullptr;  // the expression to replace by another name
  int unit = -1;
  int kernel = -1;
  const PythonNode* call = nullptr;      // method calls: the call, which must pass `receiver`
  const PythonNode* receiver = nullptr;  // as first argument; nullptr for static methods
};

/// `kernel[grid](...)`.
struct LaunchSite {
  int from = 0;
  const PythonNode* call = nullptr;
  std::vector<int> kernels;  // more than one where a local name stands for either
};

struct HostGraph {
  std::vector<KernelDefinition> kernels;
  std::vector<HostUnit> units;
  std::vector<HostReference> references;
  std::vector<LaunchSite> launches;
  int forward = 0;  // unit

  int kernel_named(std::string_view name) const;  // -1 if the file does not define it
};

/// Errors: unsupported, with the line: no class of that name, no forward in it or its bases in the
/// file, no jit kernel in the file, none that forward reaches by name.
Result<HostGraph> host_graph(const PythonModule& module, std::string_view class_name = "ModelNew");

/// The method `name` of a class of the file or of its bases in the file, and the class that holds
/// it; {nullptr, nullptr} if there is none.
struct FoundMethod {
  const PythonNode* method = nullptr;
  const PythonNode* holder = nullptr;
};
FoundMethod find_method(const PythonModule& module, std::string_view class_name,
                        std::string_view name);

/// What a class and its bases in the file assign to `self.<attribute>` or bind in their bodies;
/// nullptr unless it is exactly one expression.
const PythonNode* attribute_value(const PythonModule& module, std::string_view class_name,
                                  std::string_view attribute);

}  // namespace ksplit
