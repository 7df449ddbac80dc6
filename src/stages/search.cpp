// SPDX-License-Identifier: Apache-2.0
#include "stages/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>
#include <utility>

#include "core/check.h"
#include "dispatch/emit.h"
#include "generate/generators.h"
#include "judge/timing.h"
#include "report/text.h"
#include "worker/pool.h"

namespace ksplit {

namespace {

/// At most this many workers verify at once: each holds a device context and reference results.
constexpr int kMostJobs = 12;

/// The chance that the emitted file holds any part that is not faster by the margin (trust.md).
constexpr double kFileAlpha = 0.01;

int job_count(const Session& session) {
  if (session.options.jobs > 0) return session.options.jobs;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(cores - 1, 1, kMostJobs);
}

/// Why a worker's failure puts a candidate out, in the words of the report.
std::string refusal_of(const Error& error) {
  if (error.message.find("did not answer") != std::string::npos) return "timed out";
  return error.code == ErrorCode::worker_failed ? "crashed" : "did not compile";
}

/// Why a candidate that ran is out.
std::string refusal_of(const VerifyOutcome& outcome) {
  const auto raised = [](const CaseVerification& c) { return c.error.has_value(); };
  if (std::ranges::any_of(outcome.cases, raised)) return "did not run";
  const auto faulty = [](const CaseVerification& c) { return !c.fault.empty(); };
  return std::ranges::any_of(outcome.cases, faulty) ? "conduct" : "accuracy";
}

struct GroupWork {
  const Group* group;
  std::vector<const Case*> cases;
  std::vector<Tried> tried;
};

std::vector<const Case*> cases_of(const Session& session, const std::vector<int>& indices) {
  std::vector<const Case*> cases;
  cases.reserve(indices.size());
  for (const int index : indices) cases.push_back(&session.case_of(index));
  return cases;
}

/// All candidates of a group, as complete files on disk.
Result<GroupWork> generate(const Session& session, const Plan& plan, const Group& group,
                           const Workspace& workspace) {
  GroupWork work{&group, cases_of(session, group.case_indices), {}};
  std::vector<const LaunchTrace*> traces;
  for (const LaunchTrace& trace : plan.traces) {
    if (std::ranges::binary_search(group.case_indices, trace.case_index)) traces.push_back(&trace);
  }
  const GeneratorContext context{session.task, group,        work.cases,     traces,
                                 plan.facts,   session.base, session.profile};
  std::set<std::string> seen;  // two generators may arrive at the same code
  const std::size_t most = static_cast<std::size_t>(effort_of(session).screened);
  for (const auto& generator : generators()) {
    auto candidates = generator.generate(context);
    if (!candidates && candidates.error().code == ErrorCode::unsupported) continue;
    if (!candidates)
      return with_context(candidates.error(), fmt::format("generating for {}", group.group_id));
    for (Candidate& candidate : *candidates) {
      if (work.tried.size() >= most) break;
      if (!seen.insert(candidate.definitions).second) continue;
      const auto text = emit_candidate_file(session.base, session.task, candidate, {});
      if (!text) return with_context(text.error(), fmt::format("emitting {}", candidate.id));
      const std::string name = fmt::format("{}_{}.py", group.group_id, work.tried.size());
      KSPLIT_TRY(auto file, workspace.write_scratch(name, *text));
      work.tried.push_back({std::move(candidate), std::move(file), {}, {}});
    }
  }
  return work;
}

/// Verifies every candidate of every group side by side; verification also compiles.
Status verify(const Session& session, std::vector<GroupWork>& groups,
              const VerifyOutcome& base_accuracy, Observer& observer) {
  std::vector<std::function<Result<VerifyOutcome>(Worker&)>> requests;
  std::vector<Tried*> candidates;
  for (GroupWork& work : groups) {
    for (Tried& tried : work.tried) {
      candidates.push_back(&tried);
      requests.emplace_back([&tried, &work, &session](Worker& worker) {
        return worker.verify(tried.file, work.group->case_indices, session.rules);
      });
    }
  }
  if (requests.empty()) return {};
  const int jobs = std::min(job_count(session), static_cast<int>(requests.size()));
  KSPLIT_TRY(WorkerPool pool, WorkerPool::start(session.worker_options, jobs));
  KSPLIT_TRY([[maybe_unused]] const LoadOutcome loaded,
             pool.load({session.options.task, session.options.base, session.options.seed}));
  const auto outcomes =
      pool.run<VerifyOutcome>(requests, [&observer](std::size_t done, std::size_t total) {
        observer.progress("verify", static_cast<int>(done), static_cast<int>(total));
      });
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    Tried& tried = *candidates[i];
    if (!outcomes[i]) {
      if (outcomes[i].error().code == ErrorCode::interrupted) return fail(outcomes[i].error());
      tried.refusal = refusal_of(outcomes[i].error());
      continue;
    }
    tried.accuracy = judge_accuracy(*outcomes[i], base_accuracy);
    if (!tried.accuracy.passed()) tried.refusal = refusal_of(*outcomes[i]);
  }
  return {};
}

std::vector<Arm> arms_of(const Session& session, const std::vector<Tried*>& tried) {
  std::vector<Arm> arms = {{"base", session.options.base}};
  for (const Tried* one : tried) arms.push_back({one->candidate.id, one->file});
  return arms;
}

/// A candidate this much slower than the base with warm caches is not one for the case, however it
/// does with cold ones. Looser than the final test: so few rounds are noisy.
constexpr double kWarmLoss = 1.03;

/// Time ratios of all arms but the base to it, none for an arm that failed.
std::vector<std::optional<double>> ratios_to_base(const Schedule& schedule,
                                                  const std::vector<double>& samples_us,
                                                  std::size_t candidates) {
  std::vector<std::optional<double>> ratios(candidates);
  for (std::size_t i = 0; i < candidates; ++i) {
    // Pairwise, so that an arm that failed leaves the others their ratios.
    Schedule pair;
    std::vector<double> own;
    for (std::size_t k = 0; k < schedule.size(); ++k) {
      if (schedule[k] != 0 && schedule[k] != static_cast<int>(i) + 1) continue;
      pair.push_back(schedule[k] == 0 ? 0 : 1);
      own.push_back(samples_us[k]);
    }
    if (const auto both = screening_ratios(pair, 2, own)) ratios[i] = (*both)[1];
  }
  return ratios;
}

/// Time ratios of all accurate candidates to the base on every case of the group.
Result<Screening> screen(Session& session, const GroupWork& work, const std::vector<Tried*>& in,
                         const Baseline& baseline, Observer& observer, int& steps, int total) {
  Screening screening{work.cases, {}, {}};
  screening.candidates.reserve(in.size());
  for (const Tried* tried : in) screening.candidates.push_back(tried->candidate.id);
  const std::vector<Arm> arms = arms_of(session, in);
  const int count = static_cast<int>(arms.size());
  for (const Case* sample : work.cases) {
    observer.progress("bench", steps++, total);
    const Schedule schedule =
        screening_schedule(count, effort_of(session).screening_rounds,
                           session.options.seed + static_cast<std::uint64_t>(sample->index));
    const int launches = launches_for(session, baseline.cases.at(sample->index).device_us[0]);
    KSPLIT_TRY(const BenchSamples samples,
               bench_surviving(session, arms, sample->index, schedule, launches, Regime::cold));
    auto& row =
        screening.ratios.emplace_back(ratios_to_base(schedule, samples.device_us, in.size()));
    if (session.interpreted()) continue;
    KSPLIT_TRY(const BenchSamples warm,
               bench_surviving(session, arms, sample->index, schedule,
                               effort_of(session).warm_launches, Regime::warm));
    const auto ratios = ratios_to_base(schedule, warm.device_us, in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::optional<double> cold = row[i];
      const std::optional<double> hot = ratios[i];
      if (cold && hot && *hot > kWarmLoss) row[i] = std::max(*cold, *hot);
    }
  }
  return screening;
}

/// Appends log ratios of `blocks` further paired blocks of one case.
Status confirm_case(Session& session, const Tried& tried, ConfirmedCase& sample, int blocks,
                    const Baseline& baseline, std::uint64_t seed) {
  const std::vector<Arm> arms = {{"base", session.options.base}, {"candidate", tried.file}};
  const Schedule schedule = paired_schedule(blocks, seed);
  const int launches = launches_for(session, baseline.cases.at(sample.case_index).device_us[0]);
  KSPLIT_TRY(const BenchSamples device,
             session.worker.bench(arms, sample.case_index, schedule, launches, Regime::cold));
  KSPLIT_TRY(const std::vector<double> device_ratios, block_log_ratios(schedule, device.device_us));
  sample.device.insert(sample.device.end(), device_ratios.begin(), device_ratios.end());
  if (effective_objective(session) == Objective::device) return {};
  KSPLIT_TRY(const std::vector<double> host,
             session.worker.latency(arms, sample.case_index, schedule, effort_of(session).calls));
  KSPLIT_TRY(const std::vector<double> host_ratios, block_log_ratios(schedule, host));
  sample.host.insert(sample.host.end(), host_ratios.begin(), host_ratios.end());
  std::vector<double> base_host;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (schedule[i] == 0) base_host.push_back(host[i]);
  }
  sample.base_host_us = median(base_host);
  return {};
}

/// The final test of one candidate on new samples; more blocks while they may still decide.
Result<Adoption> confirm(Session& session, const Tried& tried, const std::vector<int>& indices,
                         const AdoptionPolicy& policy, const Baseline& baseline) {
  const Effort effort = effort_of(session);
  std::vector<ConfirmedCase> cases;
  cases.reserve(indices.size());
  for (const int index : indices) cases.push_back({index, {}, {}, 0});
  Adoption adoption;
  int taken = 0;
  const int first = std::max(effort.blocks, fewest_blocks(policy.alpha));
  while (taken == 0 || (!adoption.adopted && taken < effort.most_blocks &&
                        adoption.group.verdict != TimingVerdict::not_faster)) {
    const int blocks = taken == 0 ? first : effort.blocks;
    for (ConfirmedCase& sample : cases) {
      const std::uint64_t seed =
          session.options.seed ^ static_cast<std::uint64_t>((sample.case_index << 12) + taken + 1);
      const auto done = confirm_case(session, tried, sample, blocks, baseline, seed);
      if (!done && done.error().code == ErrorCode::interrupted) return fail(done.error());
      if (!done) {
        adoption.reason = fmt::format("failed while timed on case {}: {}", sample.case_index,
                                      done.error().message);
        return adoption;
      }
    }
    taken += blocks;
    adoption = decide_adoption(cases, policy);
  }
  return adoption;
}

/// The base against a byte-identical copy of itself, on the cheapest case.
Result<NoiseFloor> control(Session& session, const Baseline& baseline, const Workspace& workspace) {
  KSPLIT_TRY(auto copy, workspace.write_scratch("base_copy.py", session.base.text));
  const auto cheapest = std::ranges::min_element(
      baseline.cases, {}, [](const auto& entry) { return entry.second.device_us[0]; });
  ConfirmedCase sample{cheapest->first, {}, {}, 0};
  Tried twin{};
  twin.file = std::move(copy);
  KSPLIT_TRY_STATUS(confirm_case(session, twin, sample, effort_of(session).blocks, baseline,
                                 session.options.seed + 1));
  return noise_floor(sample.device, kFileAlpha);
}

/// Puts the ranked candidates of a part to the final test, best first; the first adopted wins.
Result<PartResult> confirm_part(Session& session, const GroupWork& work, const Part& part,
                                std::string group_id, const AdoptionPolicy& policy,
                                const Baseline& baseline, const Workspace& workspace) {
  PartResult result;
  result.group_id = std::move(group_id);
  if (result.group_id != work.group->group_id) result.parent = work.group->group_id;
  result.case_indices = part.case_indices;
  result.separating = part.separating;
  if (part.ranked.empty()) {
    result.reason = work.tried.empty() ? "no candidate could be generated"
                                       : "no candidate was faster than the base when screened";
  }
  for (const std::string& id : part.ranked) {
    const auto tried =
        std::ranges::find(work.tried, id, [](const Tried& t) { return t.candidate.id; });
    KSPLIT_CHECK(tried != work.tried.end(), id);
    ++result.confirmed;
    KSPLIT_TRY(Adoption adoption, confirm(session, *tried, part.case_indices, policy, baseline));
    if (result.confirmed == 1 || adoption.adopted) {
      result.reason = adoption.reason;
      result.adoption = std::move(adoption);
    }
    if (!result.adoption.adopted) continue;
    result.winner = *tried;
    result.winner->candidate = renamed(tried->candidate, result.group_id);
    KSPLIT_TRY(const std::string text,
               emit_candidate_file(session.base, session.task, result.winner->candidate, {}));
    KSPLIT_TRY(result.winner->file,
               workspace.write_scratch(fmt::format("{}_winner.py", result.group_id), text));
    break;
  }
  return result;
}

/// "grp_x" for the only part, else "grp_x_a", "grp_x_b" ...
std::string part_id(const Group& group, std::size_t parts, std::size_t position) {
  if (parts == 1) return group.group_id;
  return fmt::format("{}_{}", group.group_id, static_cast<char>('a' + position));
}

std::vector<RefusalCount> count_refusals(const std::vector<GroupWork>& groups) {
  std::map<std::string, int> counts;
  for (const GroupWork& work : groups) {
    for (const Tried& tried : work.tried) {
      if (!tried.refusal.empty()) ++counts[tried.refusal];
    }
  }
  std::vector<RefusalCount> refusals;
  refusals.reserve(counts.size());
  for (const auto& [reason, count] : counts) refusals.push_back({reason, count});
  return refusals;
}

GroupResult left_on_base(const GroupWork& work, const std::string& reason) {
  PartResult part;
  part.group_id = work.group->group_id;
  part.case_indices = work.group->case_indices;
  part.reason = reason;
  return {work.group, static_cast<int>(work.tried.size()), 0, {std::move(part)}};
}

}  // namespace

Result<SearchResult> search(Session& session, const Plan& plan, const VerifyOutcome& base_accuracy,
                            const Baseline& baseline, const Workspace& workspace,
                            Stopwatch& stopwatch, Observer& observer) {
  stopwatch.start("generate");
  std::vector<GroupWork> groups;
  int candidates = 0, steps = 0, total_steps = 0;
  for (const Group& group : plan.groups) {
    KSPLIT_TRY(GroupWork work, generate(session, plan, group, workspace));
    candidates += static_cast<int>(work.tried.size());
    total_steps += static_cast<int>(work.cases.size());
    groups.push_back(std::move(work));
  }
  observer.line(generate_line(candidates));
  stopwatch.start("verify");
  KSPLIT_TRY_STATUS(verify(session, groups, base_accuracy, observer));

  stopwatch.start("screen");
  SearchResult result;
  result.refusals = count_refusals(groups);
  KSPLIT_TRY(result.noise, control(session, baseline, workspace));
  struct Screened {
    const GroupWork* work;
    std::vector<Part> parts;
    int accurate;
  };
  std::vector<Screened> screened;
  int parts = 0;
  for (GroupWork& work : groups) {
    std::vector<Tried*> in;
    for (Tried& tried : work.tried) {
      if (tried.refusal.empty()) in.push_back(&tried);
    }
    if (stopwatch.out_of_budget()) {
      result.groups.push_back(left_on_base(work, "the budget ran out before it was timed"));
      continue;
    }
    KSPLIT_TRY(const Screening screening,
               screen(session, work, in, baseline, observer, steps, total_steps));
    auto divided = divide_group(screening, distinguishing_subjects(session.task, work.cases));
    parts += static_cast<int>(divided.size());
    screened.push_back({&work, std::move(divided), static_cast<int>(in.size())});
  }

  // Winners are measured anew in a process that the screening never touched.
  stopwatch.start("confirm");
  KSPLIT_TRY(session.worker, session.another_worker());
  AdoptionPolicy policy;
  policy.objective = effective_objective(session);
  policy.alpha = decision_alpha(kFileAlpha, std::max(parts, 1), DivisionPolicy{}.ranked);
  int confirmed = 0;
  for (const Screened& one : screened) {
    GroupResult group{one.work->group, static_cast<int>(one.work->tried.size()), one.accurate, {}};
    for (std::size_t i = 0; i < one.parts.size(); ++i) {
      observer.progress("confirm", confirmed++, parts);
      KSPLIT_TRY(PartResult part, confirm_part(session, *one.work, one.parts[i],
                                               part_id(*one.work->group, one.parts.size(), i),
                                               policy, baseline, workspace));
      group.parts.push_back(std::move(part));
    }
    result.groups.push_back(std::move(group));
  }
  return result;
}

}  // namespace ksplit
