// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "generate/candidate.h"

namespace ksplit::testing {

/// A group made up for a test, with all that a GeneratorContext refers to.
struct Sample {
  Task task;
  Group group;
  std::vector<LaunchTrace> traces;
  OperatorFacts facts;
  PythonModule base;
  DeviceProfile profile;

  GeneratorContext context() const;
};

/// From
///
///   {"op_name": "sum", "group_id": "grp_a", "profile": "cpu", "parameters": ["x", "dim"],
///    "cases": [[{"shape": [2, 3], "dtype": "float32"}, -1]],
///    "reduction": {"op": "sum", "input": 0, "dim": {"argument": 1}, "keepdim": {"constant":
///    false}}}
///
/// or, instead of the reduction, `"broadcast": {"op": "add", "lhs": 0, "rhs": 1, "alpha": ...}`.
/// A tensor is contiguous and aligned unless it says otherwise ("strides", "contiguous",
/// "alignment").
std::unique_ptr<Sample> read_sample(const nlohmann::json& json);

/// An argument list in the same form.
Case read_case(const nlohmann::json& arguments, const std::vector<Parameter>& parameters,
               int index);

/// Candidates of all template generators; the reasons of those that refuse.
struct Generated {
  std::vector<Candidate> candidates;
  std::vector<std::string> refusals;
};
Generated run_generators(const Sample& sample);

}  // namespace ksplit::testing
