// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generate/guard.h"
#include "judge/separate.h"
#include "task/case.h"

// From screening times to the fewest kernels that serve a group well.

namespace ksplit {

/// Time ratios to the base, measured in one go. Below 1 is faster.
struct Screening {
  std::vector<const Case*> cases;
  std::vector<std::string> candidates;                     // ids
  std::vector<std::vector<std::optional<double>>> ratios;  // [case][candidate]; none: it failed
};

struct DivisionPolicy {
  int max_parts = 4;
  int ranked = 3;             // candidates a part keeps for confirmation
  double case_limit = 1.01;   // a candidate slower than this on any case of a part cannot serve it
  double split_gain = 1.02;   // each split speeds its part up (geometric mean) by at least this
  double single_gain = 1.25;  // a kernel for one case beats the shared one by at least this
};

/// Cases of the group that one kernel will serve, or the base.
struct Part {
  std::vector<int> case_indices;    // ascending
  std::vector<std::string> ranked;  // candidate ids, best geometric mean first; empty: base
  double ratio = 1;                 // geometric mean of the best over the part's cases
  Guard separating;                 // holds on every case of the part, and on no case of a later
                                    // part: routed in this order, they tell the parts apart
};

/// Divides a group by single tests on `subjects` (`distinguishing_subjects`), recursively,
/// minimising the geometric mean of time with the penalties of the policy; parts for which no
/// candidate beats the base stay on it. Deterministic. An undivided group comes back as one part
/// with an empty guard.
std::vector<Part> divide_group(const Screening& screening, const std::vector<Subject>& subjects,
                               const DivisionPolicy& policy = {});

}  // namespace ksplit
