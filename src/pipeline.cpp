// SPDX-License-Identifier: Apache-2.0
#include "pipeline.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "core/files.h"
#include "report/text.h"
#include "stages/integrate.h"
#include "stages/measure.h"
#include "stages/plan.h"
#include "stages/record.h"
#include "stages/search.h"
#include "stages/session.h"
#include "stages/stopwatch.h"
#include "stages/workspace.h"

namespace ksplit {

namespace {

/// The user's measurement of the base, if there is one and it belongs to these cases.
Result<std::optional<PerfResult>> given_perf(const Options& options, const Task& task) {
  const auto file = options.perf ? options.perf : find_perf(options.work_directory);
  if (!file) return std::nullopt;
  KSPLIT_TRY(PerfResult perf, read_perf(*file));
  KSPLIT_TRY_STATUS(check_perf_belongs(perf, task, file->string()));
  return perf;
}

/// The base on every case: no split may inherit an error of its own.
Result<VerifyOutcome> verify_base(Session& session, Observer& observer) {
  KSPLIT_TRY(VerifyOutcome outcome,
             session.worker.verify(session.options.base, session.case_indices(), session.rules));
  KSPLIT_TRY_STATUS(judge_base(outcome));
  if (const std::string warning = base_fault_line(outcome); !warning.empty()) {
    observer.line(warning);
  }
  return outcome;
}

}  // namespace

Result<SplitOutcome> split(const Options& options, Observer& observer) {
  Stopwatch stopwatch(options.budget_s);
  stopwatch.start("load");
  KSPLIT_TRY(Workspace workspace, Workspace::create(options.out));
  KSPLIT_TRY(Session session, open_session(options));
  KSPLIT_TRY(const auto given, given_perf(options, session.task));

  stopwatch.start("baseline");
  KSPLIT_TRY(const VerifyOutcome base_accuracy, verify_base(session, observer));
  std::optional<Baseline> baseline;
  if (!given) {
    KSPLIT_TRY(baseline, measure_baseline(session, observer));
  }
  const PerfResult& perf = given ? *given : baseline->perf;
  const TriggerDecision decision = decide_trigger(options.trigger, perf);
  observer.line(task_line(session.task.op_name, static_cast<int>(session.task.cases.size()),
                          perf.speedup_vs_torch, decision.split ? "splitting" : "skipping"));
  if (!decision.split) return SplitOutcome{SplitOutcome::Kind::skipped, decision.line, {}};
  if (!baseline) {
    KSPLIT_TRY(baseline, measure_baseline(session, observer));
  }

  stopwatch.start("plan");
  KSPLIT_TRY(const Plan plan,
             make_plan(session, perf, options.trigger != Trigger::contract, observer));
  observer.line(groups_line(plan.groups));

  KSPLIT_TRY(SearchResult found,
             search(session, plan, base_accuracy, *baseline, workspace, stopwatch, observer));
  stopwatch.start("integrate");
  KSPLIT_TRY(const Integration whole,
             integrate(session, found, base_accuracy, workspace, observer));
  stopwatch.stop();

  SplitOutcome outcome{SplitOutcome::Kind::split, whole.failure,
                       summarize(session, perf, base_accuracy, found, whole, stopwatch.stages())};
  if (!whole.failure.empty()) {
    outcome.kind = SplitOutcome::Kind::refused;
    return outcome;
  }
  KSPLIT_TRY_STATUS(record(session, plan, found, whole, outcome.summary, workspace));
  KSPLIT_TRY_STATUS(workspace.publish());
  return outcome;
}

Result<std::vector<Group>> plan(const Options& options, Observer& observer) {
  KSPLIT_TRY(Session session, open_session(options));
  KSPLIT_TRY(auto perf, given_perf(options, session.task));
  if (!perf) {
    KSPLIT_TRY_STATUS(verify_base(session, observer));
    KSPLIT_TRY(Baseline baseline, measure_baseline(session, observer));
    perf = std::move(baseline.perf);
  }
  KSPLIT_TRY(Plan made, make_plan(session, *perf, true, observer));
  KSPLIT_TRY_STATUS(write_file(options.out / "groups.json", to_json(made.groups).dump(2) + "\n"));
  return std::move(made.groups);
}

Result<AccuracyVerdict> verify_file(const Options& options, const std::filesystem::path& file,
                                    Observer& observer) {
  KSPLIT_TRY(Session session, open_session(options));
  KSPLIT_TRY(const VerifyOutcome base, verify_base(session, observer));
  KSPLIT_TRY(const VerifyOutcome outcome,
             session.worker.verify(file, session.case_indices(), session.rules));
  return judge_accuracy(outcome, base);
}

Result<PerfResult> bench_file(const Options& options, const std::filesystem::path& file,
                              Observer& observer) {
  KSPLIT_TRY(Session session, open_session(options));
  KSPLIT_TRY(const VerifyOutcome base, verify_base(session, observer));
  KSPLIT_TRY(const VerifyOutcome outcome,
             session.worker.verify(file, session.case_indices(), session.rules));
  const AccuracyVerdict verdict = judge_accuracy(outcome, base);
  if (!verdict.passed()) {
    return fail(ErrorCode::verification_failed,
                fmt::format("`{}` is not accurate: {}", file.string(), verdict.reason),
                "`ksplit verify` shows every case; a wrong implementation is not timed");
  }
  const std::vector<Arm> arms = {{"implementation", file}, {"torch", std::nullopt}};
  std::map<int, Survey> times;
  for (const Case& sample : session.task.cases) {
    observer.progress("bench", static_cast<int>(times.size()),
                      static_cast<int>(session.task.cases.size()));
    KSPLIT_TRY(Survey one, survey(session, arms, sample.index, effort_of(session).survey_rounds));
    times.emplace(sample.index, std::move(one));
  }
  return perf_of(session, times);
}

}  // namespace ksplit
