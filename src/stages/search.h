// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "generate/candidate.h"
#include "judge/accuracy.h"
#include "judge/adopt.h"
#include "judge/screen.h"
#include "stages/measure.h"
#include "stages/observer.h"
#include "stages/plan.h"
#include "stages/session.h"
#include "stages/stopwatch.h"
#include "stages/workspace.h"

namespace ksplit {

/// A candidate that was put to the judge on all cases of its group.
struct Tried {
  Candidate candidate;
  std::filesystem::path file;  // complete, every input takes the candidate
  AccuracyVerdict accuracy;
  std::string refusal;  // why it is out ("accuracy", "crashed" ...); empty: still in
};

/// Cases that one kernel serves, as the search left them.
struct PartResult {
  std::string group_id;  // of the part: the group's, or with a letter if the group was divided
  std::string parent;    // the group it was divided from; empty: not divided
  std::vector<int> case_indices;
  Guard separating;
  std::optional<Tried> winner;  // the adopted candidate, under the part's name; none: the base
  std::string reason;           // why the base stays
  Adoption adoption;            // of the winner, or of the best that was refused
  int confirmed = 0;            // candidates that were put to the final test
};

struct GroupResult {
  const Group* group = nullptr;
  int candidates = 0, accurate = 0;
  std::vector<PartResult> parts;
};

struct SearchResult {
  std::vector<GroupResult> groups;
  std::vector<RefusalCount> refusals;
  NoiseFloor noise;  // the session's A/A control
};

/// Generates, verifies, screens, divides and confirms, group by group. `base_accuracy` is what the
/// base reached on every case; `baseline` its times. A candidate that crashes or hangs costs only
/// itself. Groups that the budget no longer covers stay on the base and say so.
/// Errors: interrupted; environment or worker-failed when no worker can be had any more.
Result<SearchResult> search(Session& session, const Plan& plan, const VerifyOutcome& base_accuracy,
                            const Baseline& baseline, const Workspace& workspace,
                            Stopwatch& stopwatch, Observer& observer);

}  // namespace ksplit
