// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyze/features.h"
#include "analyze/group.h"
#include "task/perf.h"

namespace ksplit {

/// Below this ratio to torch a case is slow enough to ask why.
inline constexpr double kBottleneckRatio = 0.3;

/// Groups for operators that no rule knows: the slow cases by the first cause that fits.
///
///   kernel_launch_overhead      grp_small_shape     element_count < 1024
///   register_or_cache_pressure  grp_large_shape     element_count > 10 000 000
///   unaligned_access            grp_unaligned       a size that is no power of two
///   strided_memory_access       grp_strided_access  a stride above 1 in a tensor not contiguous
///   special_dtype               grp_special_dtype   bfloat16, float8, 8-bit integers
///
/// Slow is a usable ratio below 0.3x torch. `forced` (the user asked for a split whatever the
/// ratios) widens the choice when that leaves no group: to the cases below 0.8x, and if those give
/// none either, to all cases, where `grp_unattributed` takes those that fit no cause. The feature
/// "selected" of such groups says so. Cases in no group stay on the base.
std::vector<Group> bottleneck_groups(const std::vector<Case>& cases,
                                     const std::vector<Features>& features, const PerfResult& perf,
                                     bool forced);

}  // namespace ksplit
