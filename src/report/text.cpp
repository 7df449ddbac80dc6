// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace ksplit {

namespace {

constexpr const char* kBetween = " · ";

std::string labelled(const char* label, const std::string& text) {
  return fmt::format("{:<10}{}", label, text);
}

std::string speedup(double ratio) {
  return fmt::format("{:.2f}x", ratio);
}

// Three significant digits: 0.41 µs, 12.1 µs, 1230 µs.
std::string microseconds(double us) {
  if (!(us > 0)) return fmt::format("{:.2f} µs", us);
  const int digits = std::clamp(2 - static_cast<int>(std::floor(std::log10(us))), 0, 2);
  return fmt::format("{:.{}f} µs", us, digits);
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

bool is_interpreted(const Summary& summary) {
  return summary.worker.executor == WorkerInfo::Executor::interpreter;
}

// "device 12.1 µs · base 30.9 µs · torch 19.6 µs"; empty without a case that has all the times.
std::string clock_text(const char* name, const Summary& summary, ArmTimes CaseSummary::*clock) {
  double split = 0, base = 0, torch = 0;
  int count = 0;
  const bool with_torch = !is_interpreted(summary);
  for (const CaseSummary& sample : summary.cases) {
    const ArmTimes& times = sample.*clock;
    const double split_us = times.split.value_or(0), base_us = times.base.value_or(0);
    const double torch_us = with_torch ? times.torch.value_or(0) : 1;
    if (!(split_us > 0 && base_us > 0 && torch_us > 0)) continue;
    split += std::log(split_us);
    base += std::log(base_us);
    torch += std::log(torch_us);
    ++count;
  }
  if (count == 0) return {};
  const auto mean = [&](double sum) { return microseconds(std::exp(sum / count)); };
  std::string text = fmt::format("{:<7}{}{}base {}", name, mean(split), kBetween, mean(base));
  if (with_torch) text += fmt::format("{}torch {}", kBetween, mean(torch));
  if (!with_torch) text += " (interpreter)";
  return text;
}

}  // namespace

std::string task_line(const std::string& op_name, int cases, std::optional<double> base_vs_torch,
                      const std::string& decision) {
  std::vector<std::string> facts = {op_name, counted(static_cast<std::size_t>(cases), "case")};
  if (base_vs_torch) {
    facts.push_back(fmt::format("base {} torch (geomean)", speedup(*base_vs_torch)));
  }
  return labelled("task", fmt::format("{} → {}", fmt::join(facts, kBetween), decision));
}

std::string base_fault_line(const VerifyOutcome& base) {
  const auto faulty = [](const CaseVerification& c) { return !c.fault.empty(); };
  const auto first = std::ranges::find_if(base.cases, faulty);
  if (first == base.cases.end()) return {};
  const auto count = static_cast<std::size_t>(std::ranges::count_if(base.cases, faulty));
  return labelled("warning", fmt::format("on {} the base itself misbehaves, "
                                         "first on case {}: {}",
                                         counted(count, "case"), first->case_index, first->fault));
}

std::string groups_line(const std::vector<Group>& groups) {
  std::vector<std::string> parts;
  for (const Group& group : groups) {
    const std::string prefix = "grp_";
    const std::string name =
        group.group_id.starts_with(prefix) ? group.group_id.substr(prefix.size()) : group.group_id;
    parts.push_back(fmt::format("{} {}", name, group.case_indices.size()));
  }
  return labelled("groups", parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, kBetween)));
}

std::string generate_line(int candidates) {
  return labelled("generate", counted(static_cast<std::size_t>(candidates), "candidate"));
}

std::string verify_line(const Summary& summary) {
  std::string text = fmt::format("{} passed", summary.accurate);
  const int refused = summary.candidates - summary.accurate;
  if (refused > 0) text += fmt::format(", {} refused", refused);
  std::vector<std::string> reasons;
  reasons.reserve(summary.refusals.size());
  for (const RefusalCount& refusal : summary.refusals) {
    reasons.push_back(fmt::format("{} {}", refusal.count, refusal.reason));
  }
  if (!reasons.empty()) text += fmt::format(" ({})", fmt::join(reasons, ", "));
  return labelled("verify", text);
}

std::string bench_line(const Summary& summary) {
  const auto adopted = static_cast<std::size_t>(
      std::count_if(summary.groups.begin(), summary.groups.end(),
                    [](const GroupSummary& group) { return group.specialized; }));
  std::string text = counted(adopted, "group") + " adopted";
  if (adopted < summary.groups.size()) {
    text += fmt::format(", {} kept on base", summary.groups.size() - adopted);
  }
  text = labelled("bench", text);
  for (const GroupSummary& group : summary.groups) {
    if (group.specialized) continue;
    text += "\n" + labelled("", fmt::format("{}: {}", group.group_id, group.reason));
  }
  return text;
}

std::string times_line(const Summary& summary) {
  const std::string device = clock_text("device", summary, &CaseSummary::device_us);
  const std::string host = clock_text("host", summary, &CaseSummary::host_us);
  if (device.empty()) return host.empty() ? host : labelled("times", host);
  const std::string first = labelled("times", device);
  return host.empty() ? first : first + "\n" + labelled("", host);
}

std::string result_line(const Summary& summary) {
  if (!summary.integrated) {
    return labelled("result", fmt::format("the generic kernel stays: {}", summary.failure));
  }
  const Overall overall = overall_of(summary);
  std::vector<std::string> facts;
  if (overall.split_vs_torch && overall.base_vs_torch) {
    facts.push_back(fmt::format("{} torch (was {})", speedup(*overall.split_vs_torch),
                                speedup(*overall.base_vs_torch)));
  } else if (overall.split_vs_base) {
    facts.push_back(fmt::format("{} base{}", speedup(*overall.split_vs_base),
                                is_interpreted(summary) ? " (interpreter)" : ""));
  }
  if (overall.worst_vs_base && overall.worst_vs_base_case) {
    facts.push_back(fmt::format("worst case {} base (case {})", speedup(*overall.worst_vs_base),
                                *overall.worst_vs_base_case));
  }
  if (summary.router_us) facts.push_back("router " + microseconds(*summary.router_us));
  return labelled("result", fmt::format("{}", fmt::join(facts, kBetween)));
}

std::string wrote_line(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  std::filesystem::path folder;
  for (const std::string& file : files) {
    const std::filesystem::path path(file);
    const bool beside = !names.empty() && path.parent_path() == folder;
    folder = path.parent_path();
    names.push_back(beside ? path.filename().string() : file);
  }
  return labelled("wrote", fmt::format("{}", fmt::join(names, "  ")));
}

std::string summary_text(const Summary& summary) {
  std::vector<std::string> lines = {verify_line(summary), bench_line(summary)};
  if (const std::string times = times_line(summary); !times.empty()) lines.push_back(times);
  lines.push_back(result_line(summary));
  if (!summary.written.empty()) lines.push_back(wrote_line(summary.written));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace ksplit
