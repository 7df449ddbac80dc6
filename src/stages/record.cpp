// SPDX-License-Identifier: Apache-2.0
#include "stages/record.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/files.h"
#include "stages/version.h"

namespace ksplit {

namespace fs = std::filesystem;

namespace {

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Times of a case in the order of `Integration::times`; none where not measured.
ArmTimes arm_times(const std::vector<double>& us, bool with_torch) {
  if (us.empty()) return {};
  return {finite(us[2]), finite(us[0]), with_torch ? finite(us[1]) : std::nullopt};
}

const char* name_of_objective(Objective objective) {
  switch (objective) {
    case Objective::both: return "both";
    case Objective::device: return "device";
    case Objective::latency: return "latency";
  }
  return "";
}

std::optional<double> mean_of(const std::vector<int>& indices, const auto& ratio_of) {
  std::vector<double> ratios;
  for (const int index : indices) {
    if (const std::optional<double> ratio = ratio_of(index)) ratios.push_back(*ratio);
  }
  return geometric_mean(ratios);
}

GroupSummary summarize_part(const Session& session, const PerfResult& perf,
                            const GroupResult& group, const PartResult& part,
                            const Integration& whole) {
  GroupSummary summary;
  summary.group_id = part.group_id;
  summary.parent = part.parent;
  summary.case_indices = part.case_indices;
  summary.bottleneck_reason = group.group->bottleneck_reason;
  summary.specialized = part.winner.has_value();
  summary.candidates = group.candidates;
  summary.accurate = group.accurate;
  summary.confirmed = part.confirmed;
  summary.baseline_speedup =
      mean_of(part.case_indices, [&](int index) { return perf.ratio(index); });
  if (!session.interpreted()) {
    summary.speedup_vs_torch = mean_of(part.case_indices, [&](int index) -> std::optional<double> {
      const auto& us = whole.times.at(index).device_us;
      if (!(us[0] > 0) || !(us[1] > 0)) return std::nullopt;
      return us[1] / us[0];
    });
  }
  if (part.confirmed > 0) {
    summary.ratio = finite(part.adoption.group.ratio);
    summary.ratio_upper = finite(part.adoption.group.upper_bound);
  }
  if (!part.winner) {
    summary.reason = part.reason;
    return summary;
  }
  const Candidate& candidate = part.winner->candidate;
  summary.kernel = fmt::format("{}_kernel_{}", session.task.op_name, part.group_id);
  summary.generator = candidate.generator;
  summary.parameters = candidate.parameters;
  summary.accuracy = part.winner->accuracy.reached;
  return summary;
}

CaseSummary summarize_case(const Session& session, const Case& sample,
                           const VerifyOutcome& base_accuracy, const SearchResult& found,
                           const Integration& whole) {
  CaseSummary summary;
  summary.case_index = sample.index;
  for (const GroupResult& group : found.groups) {
    for (const PartResult& part : group.parts) {
      if (std::ranges::count(part.case_indices, sample.index) > 0) summary.group_id = part.group_id;
    }
  }
  summary.route = whole.routes.at(sample.index);
  const auto accuracy =
      std::ranges::find(whole.accuracy.cases, sample.index, &CaseAccuracy::case_index);
  summary.passed = accuracy != whole.accuracy.cases.end() && accuracy->passed;
  if (!summary.passed) summary.reason = accuracy->reason;
  summary.base_fault =
      std::ranges::find(base_accuracy.cases, sample.index, &CaseVerification::case_index)->fault;
  const Survey& times = whole.times.at(sample.index);
  summary.device_us = arm_times(times.device_us, !session.interpreted());
  summary.host_us = arm_times(times.host_us, !session.interpreted());
  summary.warm_us = arm_times(times.warm_us, !session.interpreted());
  return summary;
}

/// The task with only the group's cases, for verifiers that run a folder by itself.
Result<std::string> task_of_group(const Session& session, const PartResult& part) {
  KSPLIT_TRY(std::string text, read_file(session.options.task));
  if (text.find("def get_input_groups") == std::string::npos) return text;
  std::vector<int> positions;
  positions.reserve(part.case_indices.size());
  for (const int index : part.case_indices) positions.push_back(index - 1);
  return text + fmt::format(
                    "\n\n_all_input_groups = get_input_groups\n\n\n"
                    "def get_input_groups():\n"
                    "    groups = _all_input_groups()  # cases {} make up {}\n"
                    "    return [groups[i] for i in ({},)]\n",
                    fmt::join(part.case_indices, ", "), part.group_id, fmt::join(positions, ", "));
}

/// Data files beside the task travel with it, also under the name a renamed task looks for.
Status copy_data(const Session& session, const fs::path& folder, const std::string& stem,
                 const Workspace& workspace) {
  const fs::path beside = fs::absolute(session.options.task).parent_path();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(beside, error)) {
    const fs::path& file = entry.path();
    if (file.extension() != ".json" && file.extension() != ".jsonl") continue;
    KSPLIT_TRY_STATUS(workspace.copy(file, folder / file.filename()));
    if (file.stem() == session.options.task.stem()) {
      KSPLIT_TRY_STATUS(workspace.copy(file, folder / (stem + file.extension().string())));
    }
  }
  return {};
}

VerifyResult verify_result_of(const Session& session, const PartResult& part,
                              const std::vector<CaseAccuracy>& cases) {
  VerifyResult result;
  result.op_name = session.task.op_name;
  result.total_cases = static_cast<int>(part.case_indices.size());
  for (const int index : part.case_indices) {
    const auto found = std::ranges::find(cases, index, &CaseAccuracy::case_index);
    if (found != cases.end() && found->passed) {
      ++result.passed_cases;
    } else {
      result.failures.push_back({index, describe_inputs(session.case_of(index)), "AccuracyError",
                                 found != cases.end() ? found->reason : "not run"});
    }
  }
  result.failed_cases = static_cast<int>(result.failures.size());
  return result;
}

Status record_kernel(const Session& session, const PartResult& part, const Tried& winner,
                     const Workspace& workspace) {
  const std::string& op = session.task.op_name;
  const std::string& id = part.group_id;
  const fs::path folder = fs::path("verify") / id;
  const std::string implementation = "triton_" + id;
  KSPLIT_TRY(const std::string code, read_file(winner.file));
  KSPLIT_TRY_STATUS(workspace.write(fmt::format("kernels/{}_kernel_{}.py", op, id), code));
  KSPLIT_TRY_STATUS(workspace.write(folder / fmt::format("{}_{}.py", op, implementation), code));
  KSPLIT_TRY(const std::string task, task_of_group(session, part));
  KSPLIT_TRY_STATUS(workspace.write(folder / (op + "_torch.py"), task));
  KSPLIT_TRY_STATUS(copy_data(session, folder, op + "_torch", workspace));
  return workspace.write(
      folder / verify_result_file(implementation),
      to_json(verify_result_of(session, part, winner.accuracy.cases)).dump(2) + "\n");
}

Status record_perf(const Session& session, const PartResult& part, const Integration& whole,
                   const Workspace& workspace) {
  std::map<int, Survey> times;
  for (const int index : part.case_indices) times.emplace(index, whole.times.at(index));
  return workspace.write(fmt::format("perf/{}_perf.json", part.group_id),
                         to_json(perf_of(session, times)).dump(2) + "\n");
}

}  // namespace

Summary summarize(const Session& session, const PerfResult& perf,
                  const VerifyOutcome& base_accuracy, const SearchResult& found,
                  const Integration& whole, const std::vector<StageTime>& stages) {
  Summary summary;
  summary.op_name = session.task.op_name;
  summary.tool_version = kVersion;
  summary.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  summary.worker = session.worker.info();
  summary.profile = session.profile.name;
  summary.objective = name_of_objective(session.options.objective);
  summary.seed = session.options.seed;
  summary.integrated = whole.failure.empty();
  summary.failure = whole.failure;
  for (const Case& sample : session.task.cases) {
    summary.cases.push_back(summarize_case(session, sample, base_accuracy, found, whole));
  }
  for (const GroupResult& group : found.groups) {
    summary.candidates += group.candidates;
    summary.accurate += group.accurate;
    for (const PartResult& part : group.parts) {
      summary.groups.push_back(summarize_part(session, perf, group, part, whole));
    }
  }
  summary.refusals = found.refusals;
  summary.router_us = finite(whole.router_us);
  summary.fuzz = FuzzSummary{whole.fuzz.tried, whole.fuzz.accepted,
                             static_cast<int>(whole.fuzz.failures.size()), whole.fuzz.routes};
  summary.noise = NoiseSummary{found.noise.spread, found.noise.resolution, found.noise.sound};
  summary.stages = stages;
  if (summary.integrated) {
    for (const char* file : {"split_kernel.py", "split_summary.json"}) {
      summary.written.push_back((session.options.out / file).string());
    }
  }
  return summary;
}

Status record(const Session& session, const Plan& plan, const SearchResult& found,
              const Integration& whole, const Summary& summary, const Workspace& workspace) {
  KSPLIT_TRY_STATUS(workspace.write("groups.json", to_json(plan.groups).dump(2) + "\n"));
  KSPLIT_TRY_STATUS(workspace.write("split_kernel.py", whole.text));
  KSPLIT_TRY_STATUS(workspace.write("split_summary.json", to_json(summary).dump(2) + "\n"));
  for (const GroupResult& group : found.groups) {
    for (const PartResult& part : group.parts) {
      if (part.winner) KSPLIT_TRY_STATUS(record_kernel(session, part, *part.winner, workspace));
      KSPLIT_TRY_STATUS(record_perf(session, part, whole, workspace));
    }
  }
  return {};
}

}  // namespace ksplit
