// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/literal.h"
#include "generate/candidate.h"
#include "python/host_graph.h"
#include "task/launch.h"

namespace ksplit {

/// A kernel of the base that the group's cases launch, with all their launches of it.
struct KernelUse {
  int kernel = 0;  // in the host graph
  std::vector<const Launch*> launches;
};

/// In order of first launch, those that host code reaches by name. Errors: unsupported if there is
/// none, saying whether the group launches nothing, kernels of other files, or kernels that the
/// source does not show.
Result<std::vector<KernelUse>> kernel_uses(const HostGraph& graph, const GeneratorContext& context);

/// The value an argument has in every launch; none if it varies or is a tensor.
std::optional<Literal> constant_argument(const KernelUse& use, const std::string& name);

/// A parameter that may become tl.constexpr without a change of meaning, and its value here.
struct FixableParameter {
  std::string name;
  Literal value;
};

/// Parameters of the kernel that are equal in all launches, are no constexpr yet, and are used in
/// no way that Triton refuses for constants (assigned to, asked for an attribute as in
/// `n.to(tl.int64)`, given to tl.multiple_of), not even in device functions that they are passed
/// to. Integers only from 0 to 2^31 - 1: a constant beyond is unsigned where a parameter is 64 bits
/// wide, and negative constants divide like Python's integers, not like C's.
///
/// Floats are kept apart: a float parameter is float32, a constant takes the type of its partner,
/// which can round differently.
struct FixableParameters {
  std::vector<FixableParameter> integers;  // and flags
  std::vector<FixableParameter> floats;
};
FixableParameters fixable_parameters(const HostGraph& graph, const KernelUse& use);

/// Whether a kernel, or a device function it names, calls tl.dot.
bool multiplies_matrices(const HostGraph& graph, int kernel);

}  // namespace ksplit
