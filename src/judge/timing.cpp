// SPDX-License-Identifier: Apache-2.0
#include "judge/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "core/check.h"

namespace ksplit {

namespace {

constexpr std::array kLambdas = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
constexpr double kGiveUp = 20;  // F_n: 5 % chance of dropping a candidate that is faster

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The library's distributions differ between standard libraries; a schedule must not.
std::uint64_t below(std::mt19937_64& random, std::uint64_t bound) {
  const std::uint64_t usable = std::mt19937_64::max() - std::mt19937_64::max() % bound;
  std::uint64_t drawn = random();
  while (drawn >= usable) drawn = random();
  return drawn % bound;
}

Result<std::vector<double>> logarithms(std::span<const double> samples_us) {
  std::vector<double> logs;
  logs.reserve(samples_us.size());
  for (const double sample : samples_us) {
    if (!std::isfinite(sample) || sample <= 0) {
      return fail(ErrorCode::candidate_failed,
                  fmt::format("sample {} of {} is {} us, which no run can take", logs.size() + 1,
                              samples_us.size(), sample));
    }
    logs.push_back(std::log(sample));
  }
  return logs;
}

// Smallest j (from 1) with P(Binomial(n, 1/2) >= j) <= alpha; n + 1 if there is none.
std::size_t bounding_rank(std::size_t n, double alpha) {
  const double count = static_cast<double>(n);
  double tail = 0;
  for (std::size_t j = n + 1; j-- > 0;) {
    const double successes = static_cast<double>(j);
    tail += std::exp(std::lgamma(count + 1) - std::lgamma(successes + 1) -
                     std::lgamma(count - successes + 1) - count * std::log(2.0));
    if (tail > alpha) return j + 1;
  }
  return 0;
}

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> result(values.begin(), values.end());
  std::sort(result.begin(), result.end());
  return result;
}

// Linear between order statistics.
double quantile(const std::vector<double>& ascending, double p) {
  const double at = p * static_cast<double>(ascending.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, ascending.size() - 1);
  return std::lerp(ascending[low], ascending[high], at - static_cast<double>(low));
}

}  // namespace

Schedule paired_schedule(int blocks, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Schedule schedule;
  for (int block = 0; block < blocks; ++block) {
    const int outer = static_cast<int>(below(random, 2));
    schedule.insert(schedule.end(), {outer, 1 - outer, 1 - outer, outer});
  }
  return schedule;
}

Schedule screening_schedule(int arms, int rounds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Schedule schedule;
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> order(static_cast<std::size_t>(arms));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t last = order.size(); last > 1; --last) {
      std::swap(order[last - 1], order[below(random, last)]);
    }
    schedule.insert(schedule.end(), order.begin(), order.end());
  }
  return schedule;
}

Result<std::vector<double>> block_log_ratios(const Schedule& schedule,
                                             std::span<const double> samples_us) {
  KSPLIT_CHECK(schedule.size() == samples_us.size() && schedule.size() % 4 == 0,
               "a paired schedule is made of blocks of four samples");
  KSPLIT_TRY(const std::vector<double> logs, logarithms(samples_us));
  std::vector<double> ratios;
  for (std::size_t start = 0; start < logs.size(); start += 4) {
    double difference = 0;
    for (std::size_t i = start; i < start + 4; ++i) {
      difference += schedule[i] == 1 ? logs[i] : -logs[i];
    }
    ratios.push_back(difference / 2);
  }
  return ratios;
}

Result<std::vector<double>> screening_ratios(const Schedule& schedule, int arms,
                                             std::span<const double> samples_us) {
  const auto width = static_cast<std::size_t>(arms);
  KSPLIT_CHECK(arms > 0 && !schedule.empty() && schedule.size() == samples_us.size() &&
                   schedule.size() % width == 0,
               "a screening schedule is made of rounds of all arms");
  KSPLIT_TRY(const std::vector<double> logs, logarithms(samples_us));
  std::vector<std::vector<double>> by_arm(width);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    by_arm[static_cast<std::size_t>(schedule[i])].push_back(logs[i]);
  }
  std::vector<double> ratios;
  for (const std::vector<double>& arm : by_arm) {
    std::vector<double> differences(arm.size());
    for (std::size_t round = 0; round < arm.size(); ++round) {
      differences[round] = arm[round] - by_arm[0][round];
    }
    ratios.push_back(std::exp(median(differences)));
  }
  return ratios;
}

double median(std::span<const double> values) {
  KSPLIT_CHECK(!values.empty(), "no values have no median");
  return quantile(sorted(values), 0.5);
}

double upper_bound_of_median(std::span<const double> values, double alpha) {
  const std::size_t rank = bounding_rank(values.size(), alpha);
  if (rank > values.size()) return std::numeric_limits<double>::infinity();
  return sorted(values)[std::max<std::size_t>(rank, 1) - 1];
}

SuperiorityTest::SuperiorityTest(double margin)
    : threshold_(-std::log1p(margin)), wins_(kLambdas.size(), 1.0), losses_(kLambdas.size(), 1.0) {}

void SuperiorityTest::add(double log_ratio) {
  const double sign = log_ratio < threshold_ ? 1 : -1;
  for (std::size_t i = 0; i < kLambdas.size(); ++i) {
    wins_[i] *= 1 + kLambdas[i] * sign;
    losses_[i] *= 1 - kLambdas[i] * sign;
  }
  best_ = std::max(best_, evidence_faster());
}

double SuperiorityTest::evidence_faster() const {
  return mean(wins_);
}

double SuperiorityTest::evidence_not_faster() const {
  return mean(losses_);
}

const char* name_of(TimingVerdict verdict) {
  switch (verdict) {
    case TimingVerdict::faster: return "faster";
    case TimingVerdict::not_faster: return "not faster";
    case TimingVerdict::ambiguous: return "ambiguous";
  }
  return "ambiguous";
}

PairedTiming judge_pair(std::span<const double> log_ratios, double margin, double alpha) {
  PairedTiming timing;
  timing.blocks = log_ratios.size();
  timing.upper_bound = std::numeric_limits<double>::infinity();
  if (log_ratios.empty()) return timing;

  SuperiorityTest test(margin);
  for (const double ratio : log_ratios) {
    test.add(ratio);
    if (test.best_evidence() < 1 / alpha && test.evidence_not_faster() >= kGiveUp) {
      timing.verdict = TimingVerdict::not_faster;
      break;
    }
  }
  timing.ratio = std::exp(median(log_ratios));
  timing.upper_bound = std::exp(upper_bound_of_median(log_ratios, alpha));
  timing.evidence = test.best_evidence();
  if (timing.verdict == TimingVerdict::ambiguous && timing.evidence >= 1 / alpha &&
      timing.upper_bound < 1 / (1 + margin)) {
    timing.verdict = TimingVerdict::faster;
  }
  return timing;
}

int fewest_blocks(double alpha) {
  KSPLIT_CHECK(alpha > 0 && alpha < 1, "an error rate lies between 0 and 1");
  SuperiorityTest test(0);
  int blocks = 0;
  while (test.best_evidence() < 1 / alpha) {
    test.add(-1);
    ++blocks;
  }
  return blocks;
}

NoiseFloor noise_floor(std::span<const double> base_against_base, double alpha) {
  NoiseFloor noise;
  if (base_against_base.empty()) return noise;
  const std::vector<double> ascending = sorted(base_against_base);
  std::vector<double> negated(ascending);
  for (double& value : negated) value = -value;

  noise.spread = std::expm1((quantile(ascending, 0.84) - quantile(ascending, 0.16)) / 2);
  noise.resolution = std::expm1(
      std::max(upper_bound_of_median(ascending, 0.025), upper_bound_of_median(negated, 0.025)));
  // In the order measured: the sequential test looks after every block.
  for (std::size_t i = 0; i < negated.size(); ++i) negated[i] = -base_against_base[i];
  noise.sound = judge_pair(base_against_base, 0, alpha).verdict != TimingVerdict::faster &&
                judge_pair(negated, 0, alpha).verdict != TimingVerdict::faster;
  return noise;
}

}  // namespace ksplit
