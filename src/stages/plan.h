// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyze/facts.h"
#include "analyze/group.h"
#include "core/result.h"
#include "stages/observer.h"
#include "stages/session.h"
#include "task/launch.h"
#include "task/perf.h"

namespace ksplit {

/// What the operator does and which cases go together.
struct Plan {
  OperatorFacts facts;
  std::vector<LaunchTrace> traces;  // of the base, one a case, in the order of the task
  std::vector<Group> groups;
};

/// Traces reference and base on every case and groups the cases. `forced`: the user asked for a
/// split whatever the ratios. Errors: reference-failed, candidate-failed naming the case;
/// input-malformed when the base launches no Triton kernel; those of the rule files.
Result<Plan> make_plan(Session& session, const PerfResult& perf, bool forced, Observer& observer);

}  // namespace ksplit
