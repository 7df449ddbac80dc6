// SPDX-License-Identifier: Apache-2.0
#include "judge/adopt.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ksplit {
namespace {

// Blocks around a true ratio, alternating by 0.2 % so that medians and bounds are exact.
std::vector<double> blocks(double ratio, int count = 20) {
  std::vector<double> result;
  for (int i = 0; i < count; ++i) result.push_back(std::log(ratio) + (i % 2 == 0 ? 0.002 : -0.002));
  return result;
}

ConfirmedCase sample(int index, double device, double host = 1.0, double base_host_us = 100) {
  return {index, blocks(device), blocks(host), base_host_us};
}

TEST(DecisionAlpha, SharesTheFilesErrorRate) {
  EXPECT_DOUBLE_EQ(decision_alpha(0.01, 5, 2), 0.001);
  EXPECT_DOUBLE_EQ(decision_alpha(0.01, 1, 1), 0.01);
}

TEST(Adoption, FasterOnEveryCase) {
  const Adoption adoption = decide_adoption({sample(1, 0.8), sample(4, 0.6)}, {});
  EXPECT_TRUE(adoption.adopted) << adoption.reason;
  EXPECT_TRUE(adoption.reason.empty());
  EXPECT_NEAR(adoption.group.ratio, std::sqrt(0.8 * 0.6), 0.003);
  ASSERT_EQ(adoption.cases.size(), 2U);
  EXPECT_NEAR(adoption.cases[1].device_ratio, 0.6, 0.002);
  EXPECT_EQ(adoption.cases[1].case_index, 4);
}

TEST(Adoption, OneSlowCaseRefusesTheWholePart) {
  const Adoption adoption = decide_adoption({sample(1, 0.5), sample(2, 1.03), sample(3, 0.5)}, {});
  EXPECT_FALSE(adoption.adopted);
  EXPECT_EQ(adoption.reason,
            "case 2: device time 1.030x the base's, proven only below 1.032x (limit 1.010x)");
}

TEST(Adoption, UnchangedCasesAreTolerated) {
  EXPECT_TRUE(decide_adoption({sample(1, 0.5), sample(2, 1.0)}, {}).adopted);
}

TEST(Adoption, EqualSpeedIsNoReason) {
  const Adoption adoption = decide_adoption({sample(1, 1.0), sample(2, 0.995)}, {});
  EXPECT_FALSE(adoption.adopted);
  EXPECT_NE(adoption.reason.find("not faster by 1 %"), std::string::npos) << adoption.reason;
}

TEST(Adoption, TooFewBlocksProveNothing) {
  AdoptionPolicy policy;
  policy.alpha = 1e-4;
  ConfirmedCase few{1, blocks(0.5, 8), blocks(1.0, 8), 100};
  const Adoption adoption = decide_adoption({few}, policy);
  EXPECT_FALSE(adoption.adopted);
  EXPECT_NE(adoption.reason.find("not proven faster"), std::string::npos) << adoption.reason;
  EXPECT_EQ(adoption.group.verdict, TimingVerdict::ambiguous);
}

TEST(Adoption, HostLatencyMayGrowByTheSlackOnly) {
  // 5 % of 100 us; 1 us of 10 us is 10 %.
  EXPECT_TRUE(decide_adoption({sample(1, 0.5, 1.04, 100)}, {}).adopted);
  EXPECT_FALSE(decide_adoption({sample(1, 0.5, 1.08, 100)}, {}).adopted);
  EXPECT_TRUE(decide_adoption({sample(1, 0.5, 1.08, 10)}, {}).adopted);
  const Adoption adoption = decide_adoption({sample(1, 0.5, 1.2, 10)}, {});
  EXPECT_FALSE(adoption.adopted);
  EXPECT_NE(adoption.reason.find("case 1: host latency 1.200x"), std::string::npos)
      << adoption.reason;
}

TEST(Adoption, ObjectiveSaysWhichClockMustWin) {
  AdoptionPolicy device, latency;
  device.objective = Objective::device;
  latency.objective = Objective::latency;
  const ConfirmedCase slow_host = sample(1, 0.5, 1.5);
  EXPECT_TRUE(decide_adoption({slow_host}, device).adopted);
  EXPECT_FALSE(decide_adoption({slow_host}, {}).adopted);
  EXPECT_FALSE(decide_adoption({slow_host}, latency).adopted);

  const ConfirmedCase quick_host = sample(1, 1.0, 0.7);
  EXPECT_TRUE(decide_adoption({quick_host}, latency).adopted);
  EXPECT_FALSE(decide_adoption({quick_host}, {}).adopted);
  EXPECT_FALSE(decide_adoption({sample(1, 1.2, 0.7)}, latency).adopted);

  ConfirmedCase device_only{1, blocks(0.5), {}, 0};
  EXPECT_TRUE(decide_adoption({device_only}, device).adopted);
}

TEST(Served, MustWinColdAndNotLoseWarm) {
  const ServedCase good{7, {9, 10}, {10.1, 10}, {20.9, 20}};
  EXPECT_EQ(shortfall_of(good, {}), "");
  ServedCase cold = good, warm = good, host = good;
  cold.cold.served = 10.3;
  EXPECT_EQ(shortfall_of(cold, {}), "case 7: 1.030 of the base's device time in the whole file");
  warm.warm.served = 12;
  EXPECT_EQ(shortfall_of(warm, {}),
            "case 7: 1.200 of the base's device time with warm caches in the whole file");
  host.host.served = 21.1;
  EXPECT_EQ(shortfall_of(host, {}),
            "case 7: host latency 21.1 us through the router, the base's 20.0 us (limit 21.0 us)");
  AdoptionPolicy device, latency;
  device.objective = Objective::device;
  latency.objective = Objective::latency;
  EXPECT_EQ(shortfall_of(host, device), "");
  EXPECT_EQ(shortfall_of(cold, latency), "");
  EXPECT_NE(shortfall_of(warm, device), "");
}

TEST(Adoption, PoolsUpToTheShortestCase) {
  ConfirmedCase longer{1, blocks(0.5, 40), blocks(1.0, 40), 100};
  const Adoption adoption = decide_adoption({longer, sample(2, 0.5)}, {});
  EXPECT_EQ(adoption.group.blocks, 20U);
  EXPECT_TRUE(adoption.adopted) << adoption.reason;
}

}  // namespace
}  // namespace ksplit
