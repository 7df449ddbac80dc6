// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "core/files.h"
#include "judge/timing.h"
#include "stages/compat.h"
#include "stages/compat_session.h"
#include "stages/compat_verdict.h"

namespace ksplit {

namespace {

/// What one case may take: its kernels may have to be compiled and tuned first.
constexpr std::chrono::seconds kCaseLimit(300);

constexpr int kLaunches = 1;  // a repeat is one forward

/// The timed repeats of an arm: what comes after its warm-up.
double mean_ms(const Schedule& schedule, const std::vector<double>& samples_us, int arm,
               int warmup) {
  constexpr double kUsPerMs = 1000;
  double sum = 0;
  int seen = 0;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (schedule[i] == arm && ++seen > warmup) sum += samples_us[i];
  }
  return sum / (seen - warmup) / kUsPerMs;
}

class CaseTimer {
 public:
  CaseTimer(const CompatBenchmark& options, CompatSession& session, Observer& observer)
      : options_(options), session_(session), observer_(observer) {}

  /// Errors: only what makes the whole run pointless; what an implementation does is a result.
  Result<ShapeResult> time(const Case& sample) {
    ShapeResult shape;
    shape.case_idx = sample.index;
    shape.input_desc = describe_inputs(sample);
    const Arm implementation{"implementation", options_.input.implementation()};
    const Arm torch{"torch", std::nullopt};
    if (!options_.skip_framework && !session_.interpreted()) {
      const auto both = measure(sample, {implementation, torch});
      if (both) {
        shape.implementation = (*both)[0];
        shape.framework = (*both)[1];
        shape.speedup_vs_torch = ratio(shape);
        return shape;
      }
      if (!may_be_torch(both.error())) return failed(std::move(shape), sample, both.error());
      observer_.line(fmt::format("warning   case {}: not timed beside torch: {}", sample.index,
                                 both.error().message));
    }
    if (options_.skip_framework) shape.framework.avg_latency_ms = options_.framework_latency_ms;
    const auto alone = measure(sample, {implementation});
    if (alone) {
      shape.implementation = alone->front();
      if (!session_.interpreted()) shape.speedup_vs_torch = ratio(shape);
      return shape;
    }
    return failed(std::move(shape), sample, alone.error());
  }

 private:
  /// A process that hung is not tried again: the second time would take as long.
  bool may_be_torch(const Error& error) const {
    return error.code == ErrorCode::reference_failed ||
           (error.code == ErrorCode::worker_failed && !timed_out_);
  }

  /// As measured: what is no finite positive number is told by its kind.
  static std::optional<double> ratio(const ShapeResult& shape) {
    const auto& framework = shape.framework.avg_latency_ms;
    const auto& implementation = shape.implementation.avg_latency_ms;
    if (!framework || !implementation) return std::nullopt;
    return *framework / *implementation;
  }

  Result<ShapeResult> failed(ShapeResult shape, const Case& sample, const Error& error) const {
    if (error.code == ErrorCode::interrupted || error.code == ErrorCode::environment) {
      return fail(error);
    }
    const VerifyFailure failure = raised_failure(sample, error.message);
    shape.passed = false;
    shape.error_type = timed_out_ ? "TimeoutError" : failure.error_type;
    shape.error_msg = failure.error_msg;
    return shape;
  }

  Result<std::vector<Measurement>> measure(const Case& sample, const std::vector<Arm>& arms) {
    const int count = static_cast<int>(arms.size());
    const Schedule schedule = screening_schedule(count, options_.warmup + options_.repeats,
                                                 static_cast<std::uint64_t>(sample.index));
    const Deadline deadline(kCaseLimit);
    session_.worker.set_request_limit(kCaseLimit);
    const auto samples =
        session_.worker.bench(arms, sample.index, schedule, kLaunches, Regime::cold);
    timed_out_ = deadline.passed();
    if (!samples) return fail(samples.error());
    std::vector<Measurement> sides;
    sides.reserve(arms.size());
    for (int arm = 0; arm < count; ++arm) {
      sides.push_back({mean_ms(schedule, samples->device_us, arm, options_.warmup), {}, {}});
    }
    return sides;
  }

  const CompatBenchmark& options_;
  CompatSession& session_;
  Observer& observer_;
  bool timed_out_ = false;  // the last measurement
};

/// Whether the verify result is there, whole, and of this many cases.
Status check_verified(const CompatBenchmark& options, std::optional<int> task_cases) {
  if (options.verify_not_required) return {};
  const std::filesystem::path file = options.input.verify_result();
  KSPLIT_TRY(const int verified, read_passed_verify(file, options.input.op_name));
  if (!task_cases || verified == *task_cases) return {};
  return fail(
      ErrorCode::verification_failed,
      fmt::format("`{}` is about {} cases, the task has {}", file.string(), verified, *task_cases),
      "verify the implementation anew");
}

}  // namespace

Result<PerfResult> compat_benchmark(const CompatBenchmark& options, Observer& observer) {
  // Before anything is started, and once more when the number of cases is known.
  KSPLIT_TRY_STATUS(check_verified(options, std::nullopt));
  KSPLIT_TRY(CompatSession session, open_compat(options.input, kCaseLimit));
  const int total = static_cast<int>(session.task.cases.size());
  KSPLIT_TRY_STATUS(check_verified(options, total));
  CaseTimer timer(options, session, observer);
  std::vector<ShapeResult> shapes;
  for (const Case& sample : session.task.cases) {
    observer.progress("benchmark", sample.index - 1, total);
    KSPLIT_TRY(ShapeResult shape, timer.time(sample));
    shapes.push_back(std::move(shape));
  }
  PerfResult result =
      summarize_perf(options.input.op_name, options.warmup, options.repeats, std::move(shapes));
  KSPLIT_TRY_STATUS(
      write_file(options.output.value_or(options.input.perf_result()), to_text(to_json(result))));
  return result;
}

}  // namespace ksplit
