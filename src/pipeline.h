// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyze/group.h"
#include "core/result.h"
#include "judge/accuracy.h"
#include "report/summary.h"
#include "stages/observer.h"
#include "stages/options.h"
#include "task/perf.h"

namespace ksplit {

/// How a run ended, when nothing went wrong on the way.
struct SplitOutcome {
  enum class Kind {
    skipped,  // the trigger said no; nothing was written
    split,    // split_kernel.py and its record are in the output folder
    refused,  // the whole file failed; the generic kernel stays, nothing was replaced
  };
  Kind kind = Kind::skipped;
  std::string line;  // of the trigger, or why the file was refused
  Summary summary;   // of a run that got that far
};

/// From a generic kernel to a proven split_kernel.py (contract, sections 3 to 6).
Result<SplitOutcome> split(const Options& options, Observer& observer);

/// As far as groups.json, which is written to the output folder.
Result<std::vector<Group>> plan(const Options& options, Observer& observer);

/// Accuracy of any implementation file on all cases, against reference and base.
Result<AccuracyVerdict> verify_file(const Options& options, const std::filesystem::path& file,
                                    Observer& observer);

/// Times of any implementation file beside torch, in the published schema. Errors:
/// verification_failed when it is not accurate on all cases: such a file is not timed.
Result<PerfResult> bench_file(const Options& options, const std::filesystem::path& file,
                              Observer& observer);

}  // namespace ksplit
