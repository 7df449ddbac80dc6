// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/group.h"
#include "report/summary.h"

// What the terminal shows: one line a stage, a ten-column label and then words and figures.

namespace ksplit {

/// task      sum · 44 cases · base 0.31x torch (geomean) → splitting
std::string task_line(const std::string& op_name, int cases, std::optional<double> base_vs_torch,
                      const std::string& decision);

/// groups    reduce-last/small 14 · reduce-last/large 4 · ...
std::string groups_line(const std::vector<Group>& groups);

/// generate  212 candidates
std::string generate_line(int candidates);

/// verify    209 passed, 3 refused (2 accuracy, 1 crashed)
std::string verify_line(const Summary& summary);

/// bench     6 groups adopted, 1 kept on base (0.97x, not proven faster)
std::string bench_line(const Summary& summary);

/// result    1.62x torch (was 0.31x) · worst case 0.98x · router 0.4 µs
std::string result_line(const Summary& summary);

/// wrote     output/split/split_kernel.py  split_summary.json
std::string wrote_line(const std::vector<std::string>& files);

/// The lines of a finished run, from verify on, each ended by a newline.
std::string summary_text(const Summary& summary);

}  // namespace ksplit
