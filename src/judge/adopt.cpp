// SPDX-License-Identifier: Apache-2.0
#include "judge/adopt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace ksplit {

namespace {

using Metric = std::vector<double> ConfirmedCase::*;

struct Figures {
  double ratio = 1, upper = 1;
};

Figures figures_of(const std::vector<double>& log_ratios, double alpha) {
  if (log_ratios.empty()) return {};
  return {std::exp(median(log_ratios)), std::exp(upper_bound_of_median(log_ratios, alpha))};
}

std::vector<double> pooled(const std::vector<ConfirmedCase>& cases, Metric metric) {
  std::size_t blocks = (cases.front().*metric).size();
  for (const ConfirmedCase& sample : cases) blocks = std::min(blocks, (sample.*metric).size());
  std::vector<double> rounds(blocks, 0.0);
  for (const ConfirmedCase& sample : cases) {
    for (std::size_t i = 0; i < blocks; ++i) rounds[i] += (sample.*metric)[i];
  }
  for (double& round : rounds) round /= static_cast<double>(cases.size());
  return rounds;
}

double host_limit(const ConfirmedCase& sample, const AdoptionPolicy& policy) {
  if (policy.objective == Objective::latency) return policy.case_limit;
  return 1 + std::max(policy.host_slack, policy.host_slack_us / sample.base_host_us);
}

std::string exceeds(const char* metric, int case_index, const Figures& figures, double limit) {
  return fmt::format("case {}: {} {:.3f}x the base's, proven only below {:.3f}x (limit {:.3f}x)",
                     case_index, metric, figures.ratio, figures.upper, limit);
}

std::string group_fault(const PairedTiming& group, const char* metric,
                        const AdoptionPolicy& policy) {
  if (group.verdict == TimingVerdict::faster) return {};
  const char* what =
      group.verdict == TimingVerdict::not_faster ? "not faster" : "not proven faster";
  return fmt::format("{} by {:.3g} %: {} {:.3f}x the base's over {} blocks", what,
                     100 * policy.margin, metric, group.ratio, group.blocks);
}

}  // namespace

double decision_alpha(double file_alpha, int groups, int confirmed_per_group) {
  KSPLIT_CHECK(groups > 0 && confirmed_per_group > 0, "a decision is about something");
  return file_alpha / (static_cast<double>(groups) * confirmed_per_group);
}

const char* name_of(Objective objective) {
  switch (objective) {
    case Objective::both: return "both";
    case Objective::device: return "device";
    case Objective::latency: return "latency";
  }
  return "both";
}

Adoption decide_adoption(const std::vector<ConfirmedCase>& cases, const AdoptionPolicy& policy) {
  KSPLIT_CHECK(!cases.empty(), "a part has cases");
  Adoption adoption;
  std::string fault;
  const auto demand = [&](bool holds, const std::string& otherwise) {
    if (!holds && fault.empty()) fault = otherwise;
  };

  for (const ConfirmedCase& sample : cases) {
    const Figures device = figures_of(sample.device, policy.case_alpha);
    const Figures host = figures_of(sample.host, policy.case_alpha);
    adoption.cases.push_back(
        {sample.case_index, device.ratio, device.upper, host.ratio, host.upper});
    KSPLIT_CHECK(!sample.device.empty(), "device time is judged whatever the objective");
    demand(device.upper <= policy.case_limit,
           exceeds("device time", sample.case_index, device, policy.case_limit));
    if (policy.objective == Objective::device) continue;
    KSPLIT_CHECK(!sample.host.empty(), "the objective judges host latency");
    const double limit = host_limit(sample, policy);
    demand(host.upper <= limit, exceeds("host latency", sample.case_index, host, limit));
  }

  const bool by_host = policy.objective == Objective::latency;
  adoption.group =
      judge_pair(pooled(cases, by_host ? &ConfirmedCase::host : &ConfirmedCase::device),
                 policy.margin, policy.alpha);
  const std::string not_won =
      group_fault(adoption.group, by_host ? "host latency" : "device time", policy);
  // The part as a whole comes first: that nothing was won matters more than where it was lost.
  adoption.reason = not_won.empty() ? fault : not_won;
  adoption.adopted = adoption.reason.empty();
  return adoption;
}

std::string shortfall_of(const ServedCase& served, const AdoptionPolicy& policy) {
  const auto ratio = [](const ServedCase::Pair& pair) { return pair.served / pair.base; };
  const bool by_device = policy.objective != Objective::latency;
  if (by_device && ratio(served.cold) > policy.served_limit) {
    return fmt::format("case {}: {:.3f} of the base's device time in the whole file",
                       served.case_index, ratio(served.cold));
  }
  if (by_device && ratio(served.warm) > policy.served_limit) {
    return fmt::format(
        "case {}: {:.3f} of the base's device time with warm caches in the whole file",
        served.case_index, ratio(served.warm));
  }
  const double limit_us =
      served.host.base + std::max(policy.host_slack_us, policy.host_slack * served.host.base);
  if (policy.objective != Objective::device && served.host.served > limit_us) {
    return fmt::format(
        "case {}: host latency {:.1f} us through the router, the base's {:.1f} us "
        "(limit {:.1f} us)",
        served.case_index, served.host.served, served.host.base, limit_us);
  }
  return {};
}

}  // namespace ksplit
