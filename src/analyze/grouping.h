// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyze/facts.h"
#include "analyze/group.h"
#include "analyze/rules.h"
#include "core/result.h"
#include "task/graph.h"
#include "task/perf.h"

namespace ksplit {

/// Which cases share a specialised kernel.
///
/// Each case goes to the first rule that hits and whose `cases` conditions it meets. Within a rule,
/// cases that agree in every dimension form a group, and groups too small to stand for themselves
/// join their nearest neighbour (see Rule). Of the cases that no rule takes, the slow ones are
/// grouped by cause (see bottleneck.h). A case in no group stays on the base.
///
/// Ids are Python identifiers, unique, and depend on nothing but the inputs:
/// `grp_reduce_last_small`, `grp_reduce_last_small_float16`, `grp_broadcast_2d_dim1`.
/// Groups are ordered by rule, then by dimensions.
///
/// `graphs` holds one trace a case, in the order of `task.cases`. `forced`: the user asked for a
/// split whatever the ratios; if no rule takes a case, the bottleneck path widens its choice.
/// Errors: input-malformed when a user's rule names no kernel for a case or gives two groups one
/// id.
Result<std::vector<Group>> make_groups(const Task& task, const std::vector<ReferenceGraph>& graphs,
                                       const PerfResult& perf, const RuleSet& rules, bool forced);

}  // namespace ksplit
