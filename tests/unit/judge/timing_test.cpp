// SPDX-License-Identifier: Apache-2.0
#include "judge/timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace ksplit {
namespace {

// A machine as benchmarks meet it: slow drift, noise that remembers, jitter, and rare spikes.
class Machine {
 public:
  explicit Machine(std::uint64_t seed) : random_(seed) {}

  double sample(double us) {
    wander_ = 0.9 * wander_ + 0.004 * normal_(random_);
    drift_ += 2e-4;
    const double spike = uniform_(random_) < 0.02 ? 0.3 * uniform_(random_) : 0;
    return us * std::exp(wander_ + drift_ + 0.005 * normal_(random_) + spike);
  }

  std::vector<double> log_ratios(int blocks, double true_ratio) {
    const Schedule schedule = paired_schedule(blocks, random_());
    std::vector<double> samples;
    for (const int arm : schedule) samples.push_back(sample(arm == 1 ? 20 * true_ratio : 20));
    return block_log_ratios(schedule, samples).value();
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_{0, 1};
  std::uniform_real_distribution<double> uniform_{0, 1};
  double wander_ = 0, drift_ = 0;
};

// Share of sessions in which a candidate of this true time ratio is found faster.
double adoption_rate(double true_ratio, int sessions, int blocks, double alpha) {
  int adopted = 0;
  for (int session = 0; session < sessions; ++session) {
    Machine machine(static_cast<std::uint64_t>(session) + 1000);
    const std::vector<double> ratios = machine.log_ratios(blocks, true_ratio);
    if (judge_pair(ratios, 0.01, alpha).verdict == TimingVerdict::faster) ++adopted;
  }
  return static_cast<double>(adopted) / sessions;
}

TEST(Schedule, BlocksAreMirroredAndTheirOrderIsACoin) {
  const Schedule schedule = paired_schedule(1000, 7);
  ASSERT_EQ(schedule.size(), 4000U);
  int base_outside = 0;
  for (std::size_t i = 0; i < schedule.size(); i += 4) {
    EXPECT_EQ(schedule[i], schedule[i + 3]);
    EXPECT_EQ(schedule[i + 1], schedule[i + 2]);
    EXPECT_EQ(schedule[i] + schedule[i + 1], 1);
    base_outside += schedule[i] == 0 ? 1 : 0;
  }
  EXPECT_NEAR(base_outside, 500, 60);  // four standard deviations
  EXPECT_EQ(schedule, paired_schedule(1000, 7));
  EXPECT_NE(schedule, paired_schedule(1000, 8));
}

TEST(Schedule, ScreeningRoundsArePermutations) {
  const Schedule schedule = screening_schedule(5, 200, 3);
  std::vector<int> first(5, 0);
  for (std::size_t round = 0; round < 200; ++round) {
    const auto begin = schedule.begin() + static_cast<std::ptrdiff_t>(5 * round);
    EXPECT_EQ(std::set<int>(begin, begin + 5).size(), 5U);
    ++first[static_cast<std::size_t>(*begin)];
  }
  for (const int count : first) EXPECT_NEAR(count, 40, 25);
}

TEST(BlockLogRatios, LinearDriftCancels) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Schedule schedule = paired_schedule(3, seed);
    std::vector<double> samples;
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      samples.push_back((schedule[i] == 1 ? 5 : 10) * std::exp(0.1 * static_cast<double>(i)));
    }
    const std::vector<double> ratios = block_log_ratios(schedule, samples).value();
    for (const double d : ratios) {
      EXPECT_NEAR(d, std::log(0.5), 1e-12);
    }
  }
}

TEST(BlockLogRatios, TimesThatCannotBeAreRefused) {
  const Schedule schedule = paired_schedule(1, 1);
  for (const double impossible : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::quiet_NaN()}) {
    const auto result = block_log_ratios(schedule, std::vector<double>{1, impossible, 1, 1});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::candidate_failed);
    EXPECT_FALSE(screening_ratios({0, 1}, 2, std::vector<double>{1, impossible}));
  }
}

TEST(ScreeningRatios, MedianOverRoundsAgainstTheBaseOfTheRound) {
  // The machine slows down to half between rounds; ratios stay. One spike is one of three.
  const Schedule schedule = {0, 1, 2, 2, 0, 1, 1, 2, 0};
  const std::vector<double> samples = {10, 5, 20, 40, 20, 10, 99, 80, 40};
  const std::vector<double> ratios = screening_ratios(schedule, 3, samples).value();
  EXPECT_NEAR(ratios[0], 1, 1e-12);
  EXPECT_NEAR(ratios[1], 0.5, 1e-12);
  EXPECT_NEAR(ratios[2], 2, 1e-12);
}

TEST(UpperBound, RanksAreThoseOfTheSignTest) {
  std::vector<double> values(100);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i + 1);
  const auto bound = [&](std::size_t n, double alpha) {
    return upper_bound_of_median(std::span(values).first(n), alpha);
  };
  // The exact sign test needs 16 of 20, 22 of 30 and 63 of 100 wins at 0.01.
  EXPECT_EQ(bound(20, 0.01), 16);
  EXPECT_EQ(bound(30, 0.01), 22);
  EXPECT_EQ(bound(100, 0.01), 63);
  EXPECT_EQ(bound(5, 0.05), 5);
  EXPECT_TRUE(std::isinf(bound(4, 0.05)));
  EXPECT_TRUE(std::isinf(bound(0, 0.05)));
}

TEST(UpperBound, CoversTheTrueMedianAsOftenAsItSays) {
  int missed = 0;
  const int sessions = 4000;
  for (int session = 0; session < sessions; ++session) {
    std::mt19937_64 random(static_cast<std::uint64_t>(session));
    std::exponential_distribution<double> skewed(1);
    std::vector<double> values(15);
    for (double& value : values) value = skewed(random);
    if (upper_bound_of_median(values, 0.05) < std::log(2.0)) ++missed;
  }
  // Exactly P(Binomial(15, 1/2) >= 12) = 1.76 %: the step above it would be 5.9 %.
  EXPECT_NEAR(static_cast<double>(missed) / sessions, 0.0176, 0.0065);
}

TEST(SuperiorityTest, AllWonBlocksNeededAreTheTabulatedOnes) {
  EXPECT_EQ(fewest_blocks(0.01), 10);
  EXPECT_EQ(fewest_blocks(0.001), 14);
  EXPECT_EQ(fewest_blocks(0.0001), 18);
}

TEST(SuperiorityTest, EvidenceIsTheMeanOfTheProducts) {
  SuperiorityTest test(0.01);
  test.add(-1);
  EXPECT_NEAR(test.evidence_faster(), 1.5, 1e-12);
  EXPECT_NEAR(test.evidence_not_faster(), 0.5, 1e-12);
  test.add(0);  // not beyond the margin: a loss
  double expected = 0;
  for (int i = 1; i <= 9; ++i) expected += (1 + i / 10.0) * (1 - i / 10.0) / 9;
  EXPECT_NEAR(test.evidence_faster(), expected, 1e-12);
  EXPECT_NEAR(test.best_evidence(), 1.5, 1e-12);
}

TEST(JudgePair, VerdictsOnClearSamples) {
  const std::vector<double> faster(20, std::log(0.9)), slower(20, std::log(1.1)), few(3, -1.0);
  EXPECT_EQ(judge_pair(faster, 0.01, 0.01).verdict, TimingVerdict::faster);
  EXPECT_NEAR(judge_pair(faster, 0.01, 0.01).ratio, 0.9, 1e-12);
  EXPECT_EQ(judge_pair(slower, 0.01, 0.01).verdict, TimingVerdict::not_faster);
  EXPECT_EQ(judge_pair(few, 0.01, 0.01).verdict, TimingVerdict::ambiguous);
  EXPECT_EQ(judge_pair({}, 0.01, 0.01).verdict, TimingVerdict::ambiguous);
}

TEST(JudgePair, BeingFasterByLessThanTheMarginIsNotFaster) {
  const std::vector<double> slightly(40, std::log(0.995));
  EXPECT_EQ(judge_pair(slightly, 0.01, 0.01).verdict, TimingVerdict::not_faster);
}

// Error rates, on 2000 simulated sessions of 40 blocks: at alpha = 0.01 a candidate exactly at the
// margin may be adopted in 1 % of sessions (limit: that plus three standard errors).
TEST(JudgePair, FalseAdoptionAtTheMarginIsBelowAlpha) {
  EXPECT_LE(adoption_rate(1 / 1.01, 2000, 40, 0.01), 0.01 + 3 * std::sqrt(0.01 * 0.99 / 2000));
}

TEST(JudgePair, IdenticalKernelsAreNotAdopted) {
  EXPECT_LE(adoption_rate(1.0, 2000, 40, 0.01), 0.001);
}

TEST(JudgePair, GainsBeyondTheMarginAreFound) {
  EXPECT_GE(adoption_rate(0.97, 1000, 40, 0.01), 0.99);
  EXPECT_GE(adoption_rate(0.97, 1000, 60, 0.0003), 0.99);
  EXPECT_GE(adoption_rate(0.95, 1000, 30, 0.001), 0.99);
}

TEST(JudgePair, StoppingAtTheFirstFavourableLookKeepsTheErrorRate) {
  int adopted = 0;
  const int sessions = 2000;
  for (int session = 0; session < sessions; ++session) {
    Machine machine(static_cast<std::uint64_t>(session) + 90000);
    const std::vector<double> ratios = machine.log_ratios(60, 1 / 1.01);
    bool ever = false;
    for (std::size_t n = 5; n <= ratios.size() && !ever; n += 5) {
      ever = judge_pair(std::span(ratios).first(n), 0.01, 0.01).verdict == TimingVerdict::faster;
    }
    adopted += ever ? 1 : 0;
  }
  EXPECT_LE(static_cast<double>(adopted) / sessions, 0.01 + 3 * std::sqrt(0.01 * 0.99 / sessions));
}

TEST(NoiseFloor, SoundOnIdenticalArmsAndNotOnBiasedOnes) {
  int unsound = 0;
  for (std::uint64_t session = 0; session < 300; ++session) {
    if (!noise_floor(Machine(session).log_ratios(30, 1.0), 0.01).sound) ++unsound;
  }
  EXPECT_LE(unsound, 12);  // two tests at 1 % each: 6 expected at most
  EXPECT_FALSE(noise_floor(Machine(1).log_ratios(30, 1.05), 0.01).sound);
  EXPECT_FALSE(noise_floor(Machine(1).log_ratios(30, 0.95), 0.01).sound);
  EXPECT_FALSE(noise_floor({}, 0.01).sound);
}

TEST(NoiseFloor, ResolutionBoundsWhatTheMedianLeavesOpen) {
  const NoiseFloor noise = noise_floor(Machine(5).log_ratios(40, 1.0), 0.01);
  EXPECT_GT(noise.spread, 0.001);
  EXPECT_LT(noise.spread, 0.05);
  EXPECT_GT(noise.resolution, 0);
  EXPECT_LT(noise.resolution, noise.spread * 2);
}

}  // namespace
}  // namespace ksplit
