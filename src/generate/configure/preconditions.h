// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generate/guard.h"
#include "task/case.h"

namespace ksplit {

/// What the arguments of a group's cases have in common: one guard per combination of kinds of
/// arguments (tensor, number, None ...) that occurs. A tensor has a dtype and rank that occur, and
/// requires no gradient. The tests of an argument begin with its type.
std::vector<Guard> type_guards(const std::vector<const Case*>& cases);

/// Number of elements of each argument that is a tensor on all cases, and, where its rank is the
/// same on all, its sizes.
std::vector<Subject> size_envelope(const std::vector<const Case*>& cases);

}  // namespace ksplit
