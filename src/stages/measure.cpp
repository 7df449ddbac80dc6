// SPDX-License-Identifier: Apache-2.0
#include "stages/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "judge/timing.h"

namespace ksplit {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Samples of one arm, in order.
std::vector<double> samples_of(const Schedule& schedule, const std::vector<double>& samples,
                               int arm) {
  std::vector<double> own;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (schedule[i] == arm) own.push_back(samples[i]);
  }
  return own;
}

double median_or_nan(const std::vector<double>& samples) {
  const bool finite = std::ranges::all_of(samples, [](double s) { return std::isfinite(s); });
  return finite && !samples.empty() ? median(samples) : kNaN;
}

bool is_final(const Error& error) {
  return error.code == ErrorCode::interrupted;
}

}  // namespace

Effort effort_of(const Session& session) {
  switch (session.worker.info().executor) {
    case WorkerInfo::Executor::triton:
      return {.launches = 10,
              .warm_launches = 40,
              .calls = 40,
              .survey_rounds = 15,
              .screening_rounds = 5,
              .screened = 40,
              .blocks = 24,
              .most_blocks = 96};
    case WorkerInfo::Executor::native_cpu:
      return {.launches = 1,
              .warm_launches = 10,
              .calls = 10,
              .survey_rounds = 9,
              .screening_rounds = 5,
              .screened = 12,
              .blocks = 24,
              .most_blocks = 72};
    case WorkerInfo::Executor::interpreter:
      return {.launches = 1,
              .warm_launches = 1,
              .calls = 1,
              .survey_rounds = 3,
              .screening_rounds = 1,
              .screened = 3,
              .blocks = 20,
              .most_blocks = 20};
  }
  return {};
}

Objective effective_objective(const Session& session) {
  return session.interpreted() ? Objective::device : session.options.objective;
}

int launches_for(const Session& session, double device_us) {
  constexpr double kSampleUs = 100;  // 1000 times the grain of a CPU's steady clock
  constexpr int kMost = 10;          // each is preceded by some ms of emptying the cache
  const Effort effort = effort_of(session);
  if (session.on_gpu() || session.interpreted() || !(device_us > 0)) return effort.launches;
  return static_cast<int>(std::clamp(std::ceil(kSampleUs / device_us), 1.0, double{kMost}));
}

Result<BenchSamples> bench_surviving(Session& session, const std::vector<Arm>& arms, int case_index,
                                     const Schedule& schedule, int launches, Regime regime) {
  auto all = session.worker.bench(arms, case_index, schedule, launches, regime);
  if (all || arms.size() < 2 || is_final(all.error())) return all;
  BenchSamples samples{std::vector<double>(schedule.size(), kNaN), 0};
  for (int arm = 1; arm < static_cast<int>(arms.size()); ++arm) {
    Schedule pair;
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      if (schedule[i] != 0 && schedule[i] != arm) continue;
      pair.push_back(schedule[i] == 0 ? 0 : 1);
      positions.push_back(i);
    }
    auto own = session.worker.bench({arms[0], arms[static_cast<std::size_t>(arm)]}, case_index,
                                    pair, launches, regime);
    if (!own && is_final(own.error())) return own;
    if (!own) continue;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      samples.device_us[positions[i]] = own->device_us[i];
    }
    samples.overhead_us = own->overhead_us;
  }
  return samples;
}

Result<Survey> survey(Session& session, const std::vector<Arm>& arms, int case_index, int rounds) {
  const Effort effort = effort_of(session);
  const int count = static_cast<int>(arms.size());
  const std::uint64_t seed = session.options.seed + static_cast<std::uint64_t>(case_index);
  const Schedule probe = screening_schedule(count, 1, seed);
  KSPLIT_TRY(const BenchSamples first,
             bench_surviving(session, arms, case_index, probe, effort.launches, Regime::cold));
  const Schedule schedule = screening_schedule(count, rounds, seed + 1);
  const int launches = launches_for(session, median_or_nan(samples_of(probe, first.device_us, 0)));
  KSPLIT_TRY(const BenchSamples device,
             bench_surviving(session, arms, case_index, schedule, launches, Regime::cold));
  Survey result;
  const auto host = session.worker.latency(arms, case_index, schedule, effort.calls);
  if (!host && is_final(host.error())) return tl::unexpected(host.error());
  for (int arm = 0; arm < count; ++arm) {
    result.device_us.push_back(median_or_nan(samples_of(schedule, device.device_us, arm)));
    result.host_us.push_back(host ? median_or_nan(samples_of(schedule, *host, arm)) : kNaN);
  }
  return result;
}

Result<std::vector<double>> warm_survey(Session& session, const std::vector<Arm>& arms,
                                        int case_index, int rounds) {
  const int count = static_cast<int>(arms.size());
  const std::uint64_t seed = session.options.seed + static_cast<std::uint64_t>(case_index);
  const Schedule schedule = screening_schedule(count, rounds, seed + 2);
  KSPLIT_TRY(const BenchSamples samples,
             bench_surviving(session, arms, case_index, schedule, effort_of(session).warm_launches,
                             Regime::warm));
  std::vector<double> medians;
  medians.reserve(arms.size());
  for (int arm = 0; arm < count; ++arm) {
    medians.push_back(median_or_nan(samples_of(schedule, samples.device_us, arm)));
  }
  return medians;
}

Result<Baseline> measure_baseline(Session& session, Observer& observer) {
  const std::vector<Arm> arms = {{"base", session.options.base}, {"torch", std::nullopt}};
  const int rounds = effort_of(session).survey_rounds;
  Baseline baseline;
  const int total = static_cast<int>(session.task.cases.size());
  for (const Case& sample : session.task.cases) {
    observer.progress("baseline", static_cast<int>(baseline.cases.size()), total);
    auto times = survey(session, arms, sample.index, rounds);
    if (!times) {
      return with_context(times.error(),
                          "measuring the base on case " + std::to_string(sample.index));
    }
    baseline.cases.emplace(sample.index, std::move(*times));
  }
  baseline.perf = perf_of(session, baseline.cases);
  return baseline;
}

PerfResult perf_of(const Session& session, const std::map<int, Survey>& surveys) {
  constexpr double kUsPerMs = 1000;
  const auto in_ms = [](double us) {
    return std::isfinite(us) ? std::optional(us / kUsPerMs) : std::nullopt;
  };
  std::vector<ShapeResult> shapes;
  for (const auto& [index, times] : surveys) {
    ShapeResult shape;
    shape.case_idx = index;
    shape.input_desc = describe_inputs(session.case_of(index));
    shape.passed = std::isfinite(times.device_us[0]);
    if (!shape.passed) {
      shape.error_type = "RuntimeError";
      shape.error_msg = "the implementation could not be timed on this case";
    }
    shape.implementation.avg_latency_ms = in_ms(times.device_us[0]);
    if (!session.interpreted()) {
      shape.framework.avg_latency_ms = in_ms(times.device_us[1]);
      // A reference that does no device work (a view) takes no measurable time: no ratio.
      if (shape.passed && times.device_us[1] > 0) {
        shape.speedup_vs_torch = times.device_us[1] / times.device_us[0];
      }
    }
    shapes.push_back(std::move(shape));
  }
  const Effort effort = effort_of(session);
  return summarize_perf(session.task.op_name, 3, effort.survey_rounds * effort.launches,
                        std::move(shapes));
}

}  // namespace ksplit
