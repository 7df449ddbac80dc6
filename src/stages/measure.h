// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "core/result.h"
#include "stages/observer.h"
#include "stages/session.h"
#include "task/perf.h"
#include "worker/outcomes.h"

namespace ksplit {

/// How much to measure. Device: the GPU's own clock is fine-grained and cold launches are cheap;
/// a CPU's samples must be long enough for its clock; the interpreter is too slow for any of it.
struct Effort {
  int launches;          // of one device sample
  int warm_launches;     // of one with warm caches
  int calls;             // of one latency sample
  int survey_rounds;     // base, split and torch beside each other
  int screening_rounds;  // many candidates beside each other
  int screened;          // candidates of a group at the most
  int blocks;            // of a confirmation, at first; more where that is ambiguous
  int most_blocks;
};
Effort effort_of(const Session& session);

/// What decides a win here. Under the interpreter a call's host time is its device time: judging it
/// twice would prove nothing.
Objective effective_objective(const Session& session);

/// Launches of one sample for a kernel of about `device_us`: enough to outlast the clock's grain.
int launches_for(const Session& session, double device_us);

/// Median device (cold) and host time of each arm on one case, microseconds, over `rounds` rounds
/// in which the arms run in random order. Not finite: the arm failed (it then raised, crashed or
/// hung on its own).
struct Survey {
  std::vector<double> device_us;
  std::vector<double> host_us;
  std::vector<double> warm_us;  // from warm_survey; empty where nobody asked
};
Result<Survey> survey(Session& session, const std::vector<Arm>& arms, int case_index, int rounds);

/// The same with what the arms read still in the caches: median device time of each.
Result<std::vector<double>> warm_survey(Session& session, const std::vector<Arm>& arms,
                                        int case_index, int rounds);

/// Base and torch on every case.
struct Baseline {
  std::map<int, Survey> cases;  // arms: base, torch
  PerfResult perf;              // the same as the published schema states it
};
Result<Baseline> measure_baseline(Session& session, Observer& observer);

/// Every case of `surveys` (arms: implementation, torch) in the published schema. Without torch's
/// times where the interpreter ran the kernels: those are never compared with torch.
PerfResult perf_of(const Session& session, const std::map<int, Survey>& surveys);

/// The request's answer, or per arm beside arm 0 when the whole request failed: what an arm cannot
/// do costs only that arm. A failed arm's samples are NaN.
Result<BenchSamples> bench_surviving(Session& session, const std::vector<Arm>& arms, int case_index,
                                     const Schedule& schedule, int launches, Regime regime);

}  // namespace ksplit
