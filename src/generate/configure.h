// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/result.h"
#include "generate/candidate.h"

namespace ksplit {

/// At most this many candidates for a group, most promising first.
inline constexpr std::size_t kMaxConfigurations = 24;

/// Specialises the base kernel itself, whatever it computes: copies of its kernels and of the host
/// functions that lead to their launch, with
///   - integers and flags that are equal in all of the group's launches made tl.constexpr
///     (right for every value, since the host still passes it);
///   - other values for tiling constexprs that the host sets from a literal;
///   - other num_warps and num_stages, as far as the device profile lists some;
///   - one configuration of an autotuned kernel frozen at the launch.
/// The author's code, names and comments stay; edits are by range. The first candidate changes
/// nothing but the constexprs. The list is empty if there is nothing to change.
///
/// Preconditions: tensors where the group's cases have tensors, of their dtypes and ranks, without
/// gradient. Envelope: number of elements and, where ranks agree, sizes.
///
/// Errors: unsupported, naming the line: no launch that forward reaches by name, a kernel that the
/// file does not define, a method that cannot stand outside of its class.
Result<std::vector<Candidate>> configure(const GeneratorContext& context);

}  // namespace ksplit
