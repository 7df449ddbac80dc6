// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/result.h"
#include "worker/outcomes.h"

// Whether B (base) or C (candidate) is faster, with stated error rates.
//
// A block is B C C B or C B B C by a fair coin. Its log ratio d = (ln C + ln C - ln B - ln B) / 2
// is free of linear drift, and since the order was a coin toss its sign is a fair coin whenever the
// two arms are the same program, however the noise is correlated in time. Negative: C is faster.
//
// Superiority by the margin g is tested sequentially. With s = +1 if d < -ln(1 + g), else -1,
//
//   E_n = mean over lambda in {0.1 .. 0.9} of prod (1 + lambda s_i)
//
// is a martingale of mean <= 1 under "not faster by g", so P(E ever reaches 1/alpha) <= alpha
// (Ville): one may look after every block. F_n, the same of -s, tells when to give up.
//
// Bounds on the median of d are order statistics, exact for any distribution of the noise:
// P(median > j-th smallest of n) <= P(Binomial(n, 1/2) >= j). No resampling, so no seed, and a
// guarantee where a bootstrap of so few blocks only approximates. Nothing is ever dropped as an
// outlier.

namespace ksplit {

/// `blocks` blocks of arms 0 (base) and 1 (candidate), each in one of the two mirrored orders.
Schedule paired_schedule(int blocks, std::uint64_t seed);

/// `rounds` random permutations of all arms, for ranking many candidates at once.
Schedule screening_schedule(int arms, int rounds, std::uint64_t seed);

/// d of each block of a paired schedule. Errors: candidate_failed if a time is not positive and
/// finite (a measurement that cannot be, never one to skip).
Result<std::vector<double>> block_log_ratios(const Schedule& schedule,
                                             std::span<const double> samples_us);

/// Median time ratio of each arm to arm 0, over the rounds of a screening schedule.
/// Errors: candidate_failed as above.
Result<std::vector<double>> screening_ratios(const Schedule& schedule, int arms,
                                             std::span<const double> samples_us);

/// Of an even number of values the mean of the middle two. Not of none.
double median(std::span<const double> values);

/// One-sided upper confidence bound of the median: at least 1 - alpha of sessions have their true
/// median below it. Infinite while the values are too few for any bound (2^-n > alpha).
double upper_bound_of_median(std::span<const double> values, double alpha);

/// The sequential test above.
class SuperiorityTest {
 public:
  explicit SuperiorityTest(double margin);

  void add(double log_ratio);

  double evidence_faster() const;                 // E_n now
  double evidence_not_faster() const;             // F_n now
  double best_evidence() const { return best_; }  // largest E_i, i <= n

 private:
  double threshold_;
  std::vector<double> wins_, losses_;  // the products, one a lambda
  double best_ = 1;
};

enum class TimingVerdict { faster, not_faster, ambiguous };

/// "faster", "not faster", "ambiguous".
const char* name_of(TimingVerdict verdict);

struct PairedTiming {
  TimingVerdict verdict = TimingVerdict::ambiguous;
  double ratio = 1;        // median of C / B
  double upper_bound = 1;  // of the ratio, at 1 - alpha
  double evidence = 1;     // largest E_i
  std::size_t blocks = 0;
};

/// faster: E reached 1/alpha, and the bound of the ratio is below 1/(1 + margin) at 1 - alpha.
/// not_faster: F reached 20 first. Else ambiguous: more blocks may decide, the base serves.
PairedTiming judge_pair(std::span<const double> log_ratios, double margin, double alpha);

/// The fewest blocks, all won, on which `judge_pair` can answer faster.
int fewest_blocks(double alpha);

/// What a session's noise looks like: base against itself, judged as if it were a candidate.
struct NoiseFloor {
  double spread = 0;      // half the central 68 % range of exp(d) - 1, of single blocks
  double resolution = 0;  // largest true ratio - 1 the median's 95 % bounds leave open, either way
  bool sound = false;     // neither arm was found faster than the other
};
NoiseFloor noise_floor(std::span<const double> base_against_base, double alpha);

}  // namespace ksplit
