// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/literal.h"
#include "judge/accuracy.h"
#include "worker/outcomes.h"

// What a run found, as one value: split_summary.json, the terminal and the report are views of it.

namespace ksplit {

/// Times of one case in microseconds; none where not measured.
struct ArmTimes {
  std::optional<double> base, split, torch;
};

struct CaseSummary {
  int case_index = 0;
  std::string group_id;    // empty: in no group
  std::string route;       // host function that serves it, or "base"
  bool passed = false;     // accuracy of the whole file on it
  std::string reason;      // why not; empty if passed
  std::string base_fault;  // what is wrong with the base's conduct on it; empty: nothing known of
  ArmTimes device_us;      // with cold caches
  ArmTimes host_us;
  ArmTimes warm_us;  // device time with warm caches
};

/// A group, or a part of one after it was divided.
struct GroupSummary {
  std::string group_id;
  std::string parent;  // group it was divided from; empty: not divided
  std::vector<int> case_indices;
  std::string bottleneck_reason;
  bool specialized = false;  // kernel type: specialized or base
  std::string reason;        // why it stays on the base; empty if specialized
  // Of the kernel that serves it; unset on the base.
  std::string kernel, generator;
  std::map<std::string, Literal> parameters;
  std::optional<AccuracyClass> accuracy;
  // Performance of what serves it.
  std::optional<double> ratio, ratio_upper;  // time over base's, geometric mean, and its bound
  std::optional<double> baseline_speedup;    // base against torch, as given or measured
  std::optional<double> speedup_vs_torch;    // split against torch
  int candidates = 0, accurate = 0, confirmed = 0;
};

struct RefusalCount {
  std::string reason;  // "accuracy", "conduct", "crashed", "timed out" ...
  int count = 0;
};

struct StageTime {
  std::string stage;
  double seconds = 0;
};

/// Unseen inputs through the whole file.
struct FuzzSummary {
  int tried = 0, accepted = 0, failed = 0;
  std::map<std::string, int> routes;
};

/// The A/A control of the session (judge/timing.h).
struct NoiseSummary {
  double spread = 0, resolution = 0;
  bool sound = false;
};

struct Summary {
  std::string op_name;
  std::string tool_version;
  std::string created;  // ISO 8601, UTC
  WorkerInfo worker;
  std::string profile;
  std::string objective;  // "both", "device", "latency"
  std::uint64_t seed = 0;

  bool integrated = false;  // the whole file passed on all cases, and was written
  std::string failure;      // why not; empty if integrated

  std::vector<CaseSummary> cases;
  std::vector<GroupSummary> groups;
  int candidates = 0, accurate = 0;
  std::vector<RefusalCount> refusals;
  std::optional<double> router_us;
  std::optional<FuzzSummary> fuzz;
  std::optional<NoiseSummary> noise;
  std::vector<StageTime> stages;
  std::vector<std::string> written;  // file names for the last line, as the user may open them
};

/// Figures over the cases that have both times; none if none has. Ratios are base time over split
/// time and so on: above 1 is faster. Never against torch when the interpreter ran the kernels.
struct Overall {
  std::optional<double> base_vs_torch, split_vs_torch, split_vs_base;
  std::optional<double> worst_vs_torch, worst_vs_base;  // slowest case
  std::optional<int> worst_vs_torch_case, worst_vs_base_case;
  std::optional<double> host_split_vs_base, host_split_vs_torch;
};
Overall overall_of(const Summary& summary);

/// split_summary.json. Opens with `"schema": "ksplit.split-summary", "schema_version": 1`.
nlohmann::ordered_json to_json(const Summary& summary);

}  // namespace ksplit
