// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/console.h"
#include "pipeline.h"
#include "report/text.h"

namespace ksplit::cli {

namespace {

using Json = nlohmann::ordered_json;

void print_json(const Json& json) {
  fmt::print("{}\n", json.dump(2));
}

Result<ExitStatus> run_split(const Arguments& arguments, Console& console) {
  KSPLIT_TRY(const SplitOutcome outcome, split(arguments.options, console));
  switch (outcome.kind) {
    case SplitOutcome::Kind::skipped:
      console.line(outcome.line);
      if (arguments.json) print_json({{"status", "skipped"}, {"reason", outcome.line}});
      return kDone;
    case SplitOutcome::Kind::split:
      console.line(summary_text(outcome.summary));
      if (arguments.json) print_json(to_json(outcome.summary));
      return kDone;
    case SplitOutcome::Kind::refused:
      if (arguments.json) print_json(to_json(outcome.summary));
      return fail(ErrorCode::integration_failed,
                  fmt::format("the whole file failed, the generic kernel stays: {}", outcome.line),
                  "nothing was written; an earlier result is untouched");
  }
  return kDone;
}

Result<ExitStatus> run_plan(const Arguments& arguments, Console& console) {
  KSPLIT_TRY(const std::vector<Group> groups, plan(arguments.options, console));
  console.line(groups_line(groups));
  console.line(wrote_line({(arguments.options.out / "groups.json").string()}));
  if (arguments.json) print_json(to_json(groups));
  return kDone;
}

Result<ExitStatus> run_verify(const Arguments& arguments, Console& console) {
  KSPLIT_TRY(const AccuracyVerdict verdict,
             verify_file(arguments.options, arguments.implementation, console));
  Json failures = Json::array();
  for (const CaseAccuracy& sample : verdict.cases) {
    if (sample.passed) continue;
    console.line(fmt::format("case {}: {}", sample.case_index, sample.reason));
    failures.push_back({{"case_idx", sample.case_index}, {"reason", sample.reason}});
  }
  const auto passed = std::ranges::count_if(verdict.cases, &CaseAccuracy::passed);
  const std::string reached = verdict.reached ? name_of(*verdict.reached) : "refused";
  std::string line =
      fmt::format("verify    {} of {} cases passed · {}", passed, verdict.cases.size(), reached);
  if (!verdict.reason.empty()) line += fmt::format(" ({})", verdict.reason);
  console.line(line);
  if (arguments.json) {
    print_json({{"status", verdict.passed() ? "passed" : "failed"},
                {"class", reached},
                {"passed_cases", passed},
                {"total_cases", verdict.cases.size()},
                {"failures", failures}});
  }
  return verdict.passed() ? kDone : kAnswerIsNo;
}

void print_times(const PerfResult& perf, Console& console) {
  for (const ShapeResult& shape : perf.per_shape_results) {
    const auto microseconds = [](const Measurement& m) {
      return m.avg_latency_ms ? fmt::format("{:.2f} µs", *m.avg_latency_ms * 1000) : "-";
    };
    const std::optional<double> ratio = usable_ratio(shape);
    console.line(fmt::format("case {:>3}  {:>12}  torch {:>12}  {}", shape.case_idx,
                             microseconds(shape.implementation), microseconds(shape.framework),
                             ratio ? fmt::format("{:.2f}x", *ratio) : "no ratio"));
  }
}

Result<ExitStatus> run_bench(const Arguments& arguments, Console& console) {
  KSPLIT_TRY(const PerfResult perf,
             bench_file(arguments.options, arguments.implementation, console));
  print_times(perf, console);
  console.line(perf.speedup_vs_torch
                   ? fmt::format("bench     {:.2f}x torch (geomean of {} cases)",
                                 *perf.speedup_vs_torch, perf.per_shape_results.size())
                   : "bench     no ratio to torch: the interpreter's times are not comparable");
  if (arguments.json) print_json(to_json(perf));
  return kDone;
}

Result<ExitStatus> run_compat_verify(const CompatVerify& options, Console& console) {
  KSPLIT_TRY(const VerifyResult result, compat_verify(options, console));
  for (const VerifyFailure& failure : result.failures) {
    console.line(
        fmt::format("case {}: {}: {}", failure.case_idx, failure.error_type, failure.error_msg));
  }
  console.line(
      fmt::format("verify    {} of {} cases passed", result.passed_cases, result.total_cases));
  console.line(wrote_line({options.output.value_or(options.input.verify_result()).string()}));
  return result.failed_cases == 0 ? kDone : kAnswerIsNo;
}

Result<ExitStatus> run_compat_benchmark(const CompatBenchmark& options, Console& console) {
  if (options.framework_latency_ms && !options.skip_framework) {
    console.line("warning   --framework_latency_ms counts only with --skip_framework");
  }
  KSPLIT_TRY(const PerfResult perf, compat_benchmark(options, console));
  print_times(perf, console);
  for (const ShapeResult& shape : perf.per_shape_results) {
    if (shape.passed) continue;
    console.line(fmt::format("case {}: {}: {}", shape.case_idx, shape.error_type, shape.error_msg));
  }
  console.line(perf.speedup_vs_torch
                   ? fmt::format("benchmark {:.2f}x torch (geomean)", *perf.speedup_vs_torch)
                   : "benchmark no ratio to torch");
  console.line(wrote_line({options.output.value_or(options.input.perf_result()).string()}));
  return kDone;
}

}  // namespace

ExitStatus exit_status_of(ErrorCode code, Command command) {
  if (is_compat(command) && code != ErrorCode::interrupted) {
    // Callers of the benchmark take this status, and no other, for "verify first".
    return code == ErrorCode::verification_failed ? kBadInput : kAnswerIsNo;
  }
  switch (code) {
    case ErrorCode::base_inaccurate:
    case ErrorCode::verification_failed:
    case ErrorCode::integration_failed: return kAnswerIsNo;
    case ErrorCode::interrupted: return kInterrupted;
    default: return kBadInput;
  }
}

Result<ExitStatus> run(const Arguments& arguments) {
  Console console(arguments.json);
  switch (arguments.command) {
    case Command::split: return run_split(arguments, console);
    case Command::plan: return run_plan(arguments, console);
    case Command::verify: return run_verify(arguments, console);
    case Command::bench: return run_bench(arguments, console);
    case Command::compat_verify: return run_compat_verify(arguments.compat_verify, console);
    case Command::compat_benchmark:
      return run_compat_benchmark(arguments.compat_benchmark, console);
  }
  return kDone;
}

}  // namespace ksplit::cli
