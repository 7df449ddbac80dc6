// SPDX-License-Identifier: Apache-2.0
#include "stages/integrate.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>

#include "core/check.h"
#include "dispatch/emit.h"
#include "dispatch/router.h"
#include "stages/version.h"

namespace ksplit {

namespace {

/// Unseen inputs that must be compared in every run.
constexpr int kUnseenInputs = 120;
constexpr int kRouterCalls = 2000;

Header header_of(const Session& session, const std::vector<PartResult*>& adopted) {
  const WorkerInfo& info = session.worker.info();
  Header header;
  header.tool_version = kVersion;
  header.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  header.device = info.device_name;
  header.versions = {{"torch", info.torch}, {"triton", info.triton}};
  if (!info.driver.empty()) header.versions.emplace_back("driver", info.driver);
  for (const PartResult* part : adopted) {
    KSPLIT_CHECK(part->winner, "an adopted part has a winner");
    header.branches.push_back(fmt::format(
        "{}: {} of {} cases, {:.2f}x the generic kernel", part->winner->candidate.host,
        part->case_indices.size(), session.task.cases.size(), 1 / part->adoption.group.ratio));
  }
  return header;
}

std::vector<PartResult*> parts_of(SearchResult& found) {
  std::vector<PartResult*> parts;
  for (GroupResult& group : found.groups) {
    for (PartResult& part : group.parts) parts.push_back(&part);
  }
  return parts;
}

void demote(PartResult& part, std::string reason) {
  part.winner.reset();
  part.reason = std::move(reason);
}

/// The file for the parts that have a winner. Parts that cannot be routed are demoted.
Result<std::string> assemble(const Session& session, SearchResult& found) {
  std::vector<const Case*> all;
  all.reserve(session.task.cases.size());
  for (const Case& sample : session.task.cases) all.push_back(&sample);
  while (true) {
    std::vector<PartResult*> adopted;
    std::vector<RoutedPart> routed;
    for (PartResult* part : parts_of(found)) {
      if (!part->winner) continue;
      RoutedPart one{&part->winner->candidate, {}, part->separating};
      for (const int index : part->case_indices) one.cases.push_back(&session.case_of(index));
      routed.push_back(std::move(one));
      adopted.push_back(part);
    }
    const auto branches = build_branches(routed, all, session.task);
    if (!branches) {
      const std::string& message = branches.error().message;
      const auto named = std::ranges::find_if(adopted, [&message](const PartResult* part) {
        return message.find(part->group_id) != std::string::npos;
      });
      if (named == adopted.end()) return fail(branches.error());
      demote(**named, message);
      continue;
    }
    std::vector<Candidate> candidates;
    candidates.reserve(routed.size());
    for (const RoutedPart& part : routed) candidates.push_back(*part.candidate);
    return emit_file(session.base, session.task, candidates,
                     route_body(*branches, session.task, base_call(session.task)),
                     header_of(session, adopted));
  }
}

/// Why a case is not served well enough by the whole file; empty if it is.
std::string shortfall_of(const Session& session, int index, const Survey& times) {
  if (session.interpreted()) return {};
  AdoptionPolicy policy;
  policy.objective = effective_objective(session);
  // In the order of `Integration::times`: split, torch, base.
  const auto pair = [](const std::vector<double>& us) { return ServedCase::Pair{us[0], us[2]}; };
  return shortfall_of({index, pair(times.device_us), pair(times.warm_us), pair(times.host_us)},
                      policy);
}

Result<Survey> survey_both_regimes(Session& session, const std::vector<Arm>& arms, int index,
                                   int rounds) {
  KSPLIT_TRY(Survey times, survey(session, arms, index, rounds));
  if (!session.interpreted()) {
    KSPLIT_TRY(times.warm_us, warm_survey(session, arms, index, rounds));
  }
  return times;
}

/// Times of split, torch and base on every case, and where each case goes.
Status measure(Session& session, const std::filesystem::path& file, Integration& result,
               Observer& observer) {
  const std::vector<Arm> arms = {
      {"split", file}, {"torch", std::nullopt}, {"base", session.options.base}};
  result.times.clear();
  result.router_us = 0;
  const int total = static_cast<int>(session.task.cases.size());
  for (const Case& sample : session.task.cases) {
    observer.progress("integrate", static_cast<int>(result.times.size()), total);
    const int rounds = effort_of(session).survey_rounds;
    KSPLIT_TRY(Survey times, survey_both_regimes(session, arms, sample.index, rounds));
    // A case that looks slower is looked at longer before its part pays for it.
    if (!shortfall_of(session, sample.index, times).empty()) {
      KSPLIT_TRY(times, survey_both_regimes(session, arms, sample.index, 4 * rounds));
    }
    result.times.emplace(sample.index, std::move(times));
    KSPLIT_TRY(RouteCost cost, session.worker.route(file, sample.index, kRouterCalls));
    result.router_us = std::max(result.router_us, cost.router_us);
    result.routes[sample.index] = std::move(cost.route);
  }
  return {};
}

PartResult* part_of_host(SearchResult& found, const std::string& host) {
  for (PartResult* part : parts_of(found)) {
    if (part->winner && part->winner->candidate.host == host) return part;
  }
  return nullptr;
}

/// Sends parts back to the base that the whole file shows to be wrong or slow; true if any was.
bool demote_failing(const Session& session, SearchResult& found, const Integration& result) {
  bool any = false;
  const auto send_back = [&](PartResult* part, std::string reason) {
    if (part == nullptr || !part->winner) return;
    demote(*part, std::move(reason));
    any = true;
  };
  for (const CaseAccuracy& sample : result.accuracy.cases) {
    if (sample.passed) continue;
    send_back(
        part_of_host(found, result.routes.at(sample.case_index)),
        fmt::format("wrong on case {} in the whole file: {}", sample.case_index, sample.reason));
  }
  for (const FuzzFailure& failure : result.fuzz.failures) {
    send_back(part_of_host(found, failure.route),
              fmt::format("wrong on an unseen input: {}", failure.message));
  }
  for (const auto& [index, times] : result.times) {
    const std::string shortfall = shortfall_of(session, index, times);
    if (!shortfall.empty()) {
      send_back(part_of_host(found, result.routes.at(index)), shortfall);
    }
  }
  return any;
}

std::string failure_of(const Integration& result) {
  if (!result.accuracy.passed()) return "accuracy: " + result.accuracy.reason;
  if (!result.fuzz.failures.empty()) {
    return fmt::format("{} of {} unseen inputs are wrong, the first: {}",
                       result.fuzz.failures.size(), result.fuzz.accepted,
                       result.fuzz.failures.front().message);
  }
  return {};
}

}  // namespace

Result<Integration> integrate(Session& session, SearchResult& found,
                              const VerifyOutcome& base_accuracy, const Workspace& workspace,
                              Observer& observer) {
  while (true) {
    Integration result;
    KSPLIT_TRY(result.text, assemble(session, found));
    KSPLIT_TRY(const auto file, workspace.write_scratch("split_kernel.py", result.text));
    KSPLIT_TRY(const VerifyOutcome outcome,
               session.worker.verify(file, session.case_indices(), session.rules));
    result.accuracy = judge_accuracy(outcome, base_accuracy);
    KSPLIT_TRY(result.fuzz,
               session.worker.fuzz(file, kUnseenInputs, session.options.seed + 1, session.rules));
    KSPLIT_TRY_STATUS(measure(session, file, result, observer));
    if (demote_failing(session, found, result)) continue;
    result.failure = failure_of(result);
    return result;
  }
}

}  // namespace ksplit
