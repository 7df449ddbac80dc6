// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/result.h"
#include "report/summary.h"
#include "stages/integrate.h"
#include "stages/plan.h"
#include "stages/search.h"
#include "stages/session.h"
#include "stages/workspace.h"
#include "task/perf.h"

namespace ksplit {

/// Everything a run found, as one value. `perf`: the base against torch, as given or measured.
Summary summarize(const Session& session, const PerfResult& perf,
                  const VerifyOutcome& base_accuracy, const SearchResult& found,
                  const Integration& whole, const std::vector<StageTime>& stages);

/// Writes the result as the contract's section 5 lays it out:
///
///   groups.json  split_kernel.py  split_summary.json
///   kernels/{op}_kernel_{group}.py       complete: base and one kernel, every input takes it
///   verify/{group}/{op}_torch.py         the reference with the group's cases, and its data files
///   verify/{group}/{op}_triton_{group}.py  verify_result_{group}.json
///   perf/{group}_perf.json
///
/// A part of a divided group counts as a group; one that stays on the base has no kernel and no
/// verify folder. Errors: output-unwritable.
Status record(const Session& session, const Plan& plan, const SearchResult& found,
              const Integration& whole, const Summary& summary, const Workspace& workspace);

}  // namespace ksplit
