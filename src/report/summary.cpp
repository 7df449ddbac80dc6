// SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace ksplit {

namespace {

using Json = nlohmann::ordered_json;
using Time = std::optional<double> ArmTimes::*;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

// Ratios to a ten-thousandth: beyond that is noise.
Json rounded(const std::optional<double>& ratio) {
  return ratio ? Json(std::round(*ratio * 1e4) / 1e4) : Json(nullptr);
}

// None where a time is missing or cannot be: a reference that does no work has no ratio.
std::optional<double> ratio_of(const ArmTimes& times, Time slow, Time fast) {
  const std::optional<double>& numerator = times.*slow;
  const std::optional<double>& denominator = times.*fast;
  if (!numerator || !denominator || !(*numerator > 0) || !(*denominator > 0)) return std::nullopt;
  return *numerator / *denominator;
}

// Geometric mean over the cases, and the slowest of them.
struct Mean {
  std::optional<double> mean, worst;
  std::optional<int> worst_case;
};

Mean mean_of(const std::vector<CaseSummary>& cases, ArmTimes CaseSummary::*clock, Time slow,
             Time fast) {
  Mean result;
  double sum = 0;
  int count = 0;
  for (const CaseSummary& sample : cases) {
    const std::optional<double> ratio = ratio_of(sample.*clock, slow, fast);
    if (!ratio) continue;
    sum += std::log(*ratio);
    ++count;
    if (result.worst && *result.worst <= *ratio) continue;
    result.worst = ratio;
    result.worst_case = sample.case_index;
  }
  if (count > 0) result.mean = std::exp(sum / count);
  return result;
}

bool compares_with_torch(const Summary& summary) {
  return summary.worker.executor != WorkerInfo::Executor::interpreter;
}

Json json_of(const ArmTimes& times, bool with_torch) {
  Json json = {{"base", or_null(times.base)}, {"split", or_null(times.split)}};
  if (with_torch) json["torch"] = or_null(times.torch);
  return json;
}

Json json_of(const CaseSummary& sample, bool with_torch) {
  Json json = {
      {"case_idx", sample.case_index},
      {"group_id", or_null(sample.group_id)},
      {"route", sample.route},
      {"status", sample.passed ? "pass" : "fail"},
      {"reason", or_null(sample.reason)},
      {"base_fault", or_null(sample.base_fault)},
      {"device_us", json_of(sample.device_us, with_torch)},
      {"host_us", json_of(sample.host_us, with_torch)},
      {"warm_us", json_of(sample.warm_us, with_torch)},
      {"speedup_vs_base", rounded(ratio_of(sample.device_us, &ArmTimes::base, &ArmTimes::split))}};
  if (with_torch) {
    json["speedup_vs_torch"] =
        rounded(ratio_of(sample.device_us, &ArmTimes::torch, &ArmTimes::split));
  }
  return json;
}

Json kernel_of(const GroupSummary& group) {
  if (!group.specialized) return nullptr;
  Json parameters = Json::object();
  for (const auto& [name, value] : group.parameters) parameters[name] = to_json(value);
  return {{"name", group.kernel},
          {"generator", group.generator},
          {"parameters", std::move(parameters)},
          {"accuracy_class", group.accuracy ? Json(name_of(*group.accuracy)) : Json(nullptr)}};
}

std::optional<double> inverse(const std::optional<double>& ratio) {
  return ratio ? std::optional(1 / *ratio) : std::nullopt;
}

Json json_of(const GroupSummary& group, bool with_torch) {
  Json performance = {{"speedup_vs_base", rounded(inverse(group.ratio))},
                      {"speedup_vs_base_at_least", rounded(inverse(group.ratio_upper))}};
  if (with_torch) {
    performance["speedup_vs_torch"] = rounded(group.speedup_vs_torch);
    performance["baseline"] = {{"speedup_vs_torch", rounded(group.baseline_speedup)}};
  }
  return {{"group_id", group.group_id},
          {"divided_from", or_null(group.parent)},
          {"case_indices", group.case_indices},
          {"bottleneck_reason", group.bottleneck_reason},
          {"kernel_type", group.specialized ? "specialized" : "base"},
          {"reason", or_null(group.reason)},
          {"kernel", kernel_of(group)},
          {"performance", std::move(performance)},
          {"candidates",
           {{"generated", group.candidates},
            {"accurate", group.accurate},
            {"confirmed", group.confirmed}}}};
}

Json json_of(const WorkerInfo& worker, const std::string& profile) {
  Json capability = nullptr;
  if (worker.capability) capability = *worker.capability;
  return {{"device",
           {{"kind", worker.device_kind},
            {"name", worker.device_name},
            {"cores", worker.cores},
            {"l2_bytes", worker.l2_bytes},
            {"driver", worker.driver},
            {"capability", std::move(capability)}}},
          {"profile", profile},
          {"executor", name_of(worker.executor)},
          {"python", worker.python},
          {"torch", worker.torch},
          {"triton", worker.triton}};
}

Json json_of(const Overall& overall, bool with_torch) {
  Json json = {{"geomean_speedup_vs_base", rounded(overall.split_vs_base)},
               {"worst_case_vs_base",
                {{"case_idx", or_null(overall.worst_vs_base_case)},
                 {"speedup", rounded(overall.worst_vs_base)}}},
               {"host_geomean_speedup_vs_base", rounded(overall.host_split_vs_base)}};
  if (with_torch) {
    json["geomean_speedup_vs_torch"] = rounded(overall.split_vs_torch);
    json["baseline_geomean_speedup_vs_torch"] = rounded(overall.base_vs_torch);
    json["worst_case_vs_torch"] = {{"case_idx", or_null(overall.worst_vs_torch_case)},
                                   {"speedup", rounded(overall.worst_vs_torch)}};
    json["host_geomean_speedup_vs_torch"] = rounded(overall.host_split_vs_torch);
  }
  return json;
}

Json json_of(const FuzzSummary& fuzz) {
  return {{"tried", fuzz.tried},
          {"compared", fuzz.accepted},
          {"failed", fuzz.failed},
          {"routes", fuzz.routes}};
}

Json json_of(const NoiseSummary& noise) {
  return {{"spread", noise.spread}, {"resolution", noise.resolution}, {"sound", noise.sound}};
}

template <class T>
Json list_of(const std::vector<T>& items, bool with_torch) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(json_of(item, with_torch));
  return list;
}

}  // namespace

Overall overall_of(const Summary& summary) {
  const std::vector<CaseSummary>& cases = summary.cases;
  Overall overall;
  const Mean floor = mean_of(cases, &CaseSummary::device_us, &ArmTimes::base, &ArmTimes::split);
  overall.split_vs_base = floor.mean;
  overall.worst_vs_base = floor.worst;
  overall.worst_vs_base_case = floor.worst_case;
  overall.host_split_vs_base =
      mean_of(cases, &CaseSummary::host_us, &ArmTimes::base, &ArmTimes::split).mean;
  if (!compares_with_torch(summary)) return overall;

  const Mean split = mean_of(cases, &CaseSummary::device_us, &ArmTimes::torch, &ArmTimes::split);
  overall.split_vs_torch = split.mean;
  overall.worst_vs_torch = split.worst;
  overall.worst_vs_torch_case = split.worst_case;
  overall.base_vs_torch =
      mean_of(cases, &CaseSummary::device_us, &ArmTimes::torch, &ArmTimes::base).mean;
  overall.host_split_vs_torch =
      mean_of(cases, &CaseSummary::host_us, &ArmTimes::torch, &ArmTimes::split).mean;
  return overall;
}

nlohmann::ordered_json to_json(const Summary& summary) {
  const bool with_torch = compares_with_torch(summary);
  Json refusals = Json::object();
  for (const RefusalCount& refusal : summary.refusals) refusals[refusal.reason] = refusal.count;
  Json stages = Json::array();
  for (const StageTime& stage : summary.stages) {
    stages.push_back({{"stage", stage.stage}, {"seconds", stage.seconds}});
  }
  return {{"schema", "ksplit.split-summary"},
          {"schema_version", 1},
          {"op_name", summary.op_name},
          {"status", summary.integrated ? "split" : "base"},
          {"failure", or_null(summary.failure)},
          {"created", summary.created},
          {"tool_version", summary.tool_version},
          {"environment", json_of(summary.worker, summary.profile)},
          {"objective", summary.objective},
          {"seed", summary.seed},
          {"overall", json_of(overall_of(summary), with_torch)},
          {"groups", list_of(summary.groups, with_torch)},
          {"cases", list_of(summary.cases, with_torch)},
          {"router_us", or_null(summary.router_us)},
          {"unseen_inputs", summary.fuzz ? json_of(*summary.fuzz) : Json(nullptr)},
          {"noise", summary.noise ? json_of(*summary.noise) : Json(nullptr)},
          {"candidates",
           {{"generated", summary.candidates},
            {"accurate", summary.accurate},
            {"refused", std::move(refusals)}}},
          {"stages", std::move(stages)}};
}

}  // namespace ksplit
