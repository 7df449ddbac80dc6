// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "generate/guard.h"
#include "task/case.h"

// Which simple tests tell cases apart.

namespace ksplit {

/// Divisors worth asking for: what vector widths and tiles are made of.
inline constexpr std::int64_t kDivisors[] = {16, 32, 64, 128, 256, 512, 1024};

/// More distinct values than this are a list of cases, not a feature: no test asks for them.
inline constexpr std::size_t kMostValues = 6;
bool few_values(const std::vector<Literal>& values);

/// Whether ranges of the subject mean something: integers on all cases. The value of a constant
/// argument names a mode more often than a quantity (`dim`), so it is not ordered.
bool is_ordered(const Subject& subject, const std::vector<const Case*>& cases);

/// What a router may ask of these cases: type, dtype, rank, sizes, strides, element count,
/// contiguity and alignment of tensors, values of constants. Subjects that are the same on all
/// cases are left out; cheap ones come first.
std::vector<Subject> distinguishing_subjects(const Task& task,
                                             const std::vector<const Case*>& cases);

/// A test that holds on all of `inside` and on as few of `outside` as this subject allows:
/// equality, a range, a common divisor, a set of values; none if it excludes nobody.
std::optional<Test> separating_test(const Subject& subject, const std::vector<const Case*>& inside,
                                    const std::vector<const Case*>& outside);

}  // namespace ksplit
