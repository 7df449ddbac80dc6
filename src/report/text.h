// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/group.h"
#include "report/summary.h"

// What the terminal shows: one line a stage, a ten-column label and then words and figures. A line
// comes without its newline.

namespace ksplit {

/// task      sum · 44 cases · base 0.31x torch (geomean) → splitting
std::string task_line(const std::string& op_name, int cases, std::optional<double> base_vs_torch,
                      const std::string& decision);

/// warning   on 2 cases the base itself misbehaves, first on case 3: kernel ...
///
/// Empty if it does on none, as far as the worker can tell.
std::string base_fault_line(const VerifyOutcome& base);

/// groups    reduce_last_small 14 · reduce_last_large 4 · ...
std::string groups_line(const std::vector<Group>& groups);

/// generate  212 candidates
std::string generate_line(int candidates);

/// verify    209 passed, 3 refused (2 accuracy, 1 crashed)
std::string verify_line(const Summary& summary);

/// bench     6 groups adopted, 1 kept on base
///           grp_flat: not proven faster by 1 %: device time 0.997x the base's over 40 blocks
std::string bench_line(const Summary& summary);

/// times     device 12.1 µs · base 30.9 µs · torch 19.6 µs
///           host   14.0 µs · base 14.3 µs · torch  9.1 µs
///
/// Geometric means over the cases that have all the times shown; empty if none has.
std::string times_line(const Summary& summary);

/// result    1.62x torch (was 0.31x) · worst case 0.98x base (case 7) · router 0.4 µs
std::string result_line(const Summary& summary);

/// wrote     output/split/split_kernel.py  split_summary.json
std::string wrote_line(const std::vector<std::string>& files);

/// The lines of a finished run, from verify on.
std::string summary_text(const Summary& summary);

}  // namespace ksplit
