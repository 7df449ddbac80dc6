// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "judge/timing.h"

// The last word on a part of a group: samples taken anew, after the winner was chosen.

namespace ksplit {

/// What a win is.
///
///   both     device time faster beyond the margin; host latency at most max(1 us, 5 %) above base
///   device   device time alone (users who replay graphs)
///   latency  host latency faster beyond the margin; device time not slower
enum class Objective { both, device, latency };

/// The word of the command line and the summary.
const char* name_of(Objective objective);

struct AdoptionPolicy {
  Objective objective = Objective::both;
  double alpha = 0.01;       // of this decision: `decision_alpha`
  double margin = 0.01;      // the group must be faster by this
  double case_limit = 1.01;  // no case's time ratio may exceed this ...
  double case_alpha = 0.05;  // ... with this chance of error on each case
  double host_slack_us = 1;
  double host_slack = 0.05;
  double served_limit = 1.02;  // medians of a case served by the whole file, cold and warm
};

/// The file's error rate shared over everything that is put to the final test, so that the chance
/// that the file holds any part that is not faster is at most `file_alpha`.
double decision_alpha(double file_alpha, int groups, int confirmed_per_group);

/// Confirmation samples of one case: log ratios of paired blocks (judge/timing.h). `host` may be
/// empty when the objective is the device alone.
struct ConfirmedCase {
  int case_index = 0;
  std::vector<double> device;
  std::vector<double> host;
  double base_host_us = 0;  // median, for the absolute slack
};

struct CaseAdoption {
  int case_index = 0;
  double device_ratio = 1, device_upper = 1;  // 1 where not measured
  double host_ratio = 1, host_upper = 1;
};

struct Adoption {
  bool adopted = false;
  std::string reason;  // why not, in words with figures; empty if adopted
  std::vector<CaseAdoption> cases;
  PairedTiming group;  // of the metric that must win
};

/// Adopt iff every case is proven not slower, and the part as a whole proven faster. The part's
/// block r is the mean of its cases' r-th blocks, the log of a geometric mean: the very figure that
/// is reported. Cases with differing block counts are pooled up to the smallest.
Adoption decide_adoption(const std::vector<ConfirmedCase>& cases, const AdoptionPolicy& policy);

/// Median times of one case through the whole file and of the base alone, microseconds.
struct ServedCase {
  struct Pair {
    double served = 1, base = 1;
  };
  int case_index = 0;
  Pair cold, warm;  // device time
  Pair host;
};

/// Why the whole file does not serve the case well enough; empty if it does. Device time must have
/// been won with cold caches and must not be lost with warm ones.
std::string shortfall_of(const ServedCase& served, const AdoptionPolicy& policy);

}  // namespace ksplit
