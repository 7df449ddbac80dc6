// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generate/candidate.h"

namespace ksplit::test {

/// All that a generator looks at, owned.
struct Sample {
  Task task;
  Group group;
  std::vector<LaunchTrace> traces;  // of the group's cases, which are all of the task's
  OperatorFacts facts;
  PythonModule base;
  DeviceProfile profile;

  GeneratorContext context() const;
};

TensorSpec tensor(std::vector<std::int64_t> shape, const std::string& dtype = "float32");
LaunchArgument value(const std::string& name, Literal value);
LaunchArgument constant(const std::string& name, Literal value);  // a tl.constexpr
LaunchArgument pointer(const std::string& name);

/// A base file under tests/golden/emit/base.
std::string base_text(const std::string& name);

/// A task with one tensor `x`, a base and what it launches, for tests of one rule.
Sample small_sample(const std::string& base, std::vector<Launch> launches);

Sample row_sum_sample();  // two shapes, BLOCK from a local name
Sample layers_sample();   // two kernels, helpers, a submodule
Sample tuned_sample();    // autotune, heuristics, autograd.Function, a base with a `_route`

}  // namespace ksplit::test
