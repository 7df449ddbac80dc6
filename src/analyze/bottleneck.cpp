// SPDX-License-Identifier: Apache-2.0
#include "analyze/bottleneck.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/check.h"
#include "task/trigger.h"

namespace ksplit {
namespace {

constexpr std::int64_t kFewElements = 1024;
constexpr std::int64_t kManyElements = 10'000'000;

std::optional<std::int64_t> element_count(const Features& features) {
  const auto found = features.find("element_count");
  return found == features.end() ? std::nullopt
                                 : std::optional(std::get<std::int64_t>(found->second.value));
}

bool is_true(const Features& features, std::string_view name, bool missing) {
  const auto found = features.find(name);
  return found == features.end() ? missing : std::get<bool>(found->second.value);
}

/// Why cases are slow. The first whose test holds is meant.
struct Cause {
  const char* reason;
  const char* group_id;
  bool (*test)(const Features&);
  const char* feature;  // what the cases share, as printed
  const char* value;
};

constexpr Cause kCauses[] = {
    {"kernel_launch_overhead", "grp_small_shape",
     [](const Features& f) { return element_count(f).value_or(kFewElements) < kFewElements; },
     "element_count", "<1024"},
    {"register_or_cache_pressure", "grp_large_shape",
     [](const Features& f) { return element_count(f).value_or(0) > kManyElements; },
     "element_count", ">10000000"},
    {"unaligned_access", "grp_unaligned",
     [](const Features& f) { return !is_true(f, "power_of_two", true); }, "power_of_two", "false"},
    {"strided_memory_access", "grp_strided_access",
     [](const Features& f) { return is_true(f, "strided", false); }, "strided", "true"},
    {"special_dtype", "grp_special_dtype",
     [](const Features& f) { return is_true(f, "low_precision", false); }, "low_precision", "true"},
};

// Only for a forced split of cases among which none is slow.
constexpr Cause kNoCause = {"unattributed", "grp_unattributed",
                            [](const Features&) { return true; }, "cause", "none"};

std::string dtypes(const std::vector<const Features*>& members) {
  std::set<std::string> names;
  for (const Features* features : members) {
    if (const auto dtype = features->find("dtype"); dtype != features->end()) {
      names.insert(*dtype->second.as_string());
    }
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

struct Selection {
  std::optional<double> below;  // cases with a usable ratio below this; none: all cases
  const char* note = nullptr;   // why these cases, where the user forced it
  bool unattributed = false;    // cases that fit no cause form a group too
};

class Attribution {
 public:
  Attribution(const std::vector<Case>& cases, const std::vector<Features>& features,
              const PerfResult& perf)
      : cases_(cases), features_(features), perf_(perf) {}

  std::vector<Group> groups(const Selection& selection) const {
    std::vector<Group> groups;
    std::vector<bool> taken(cases_.size(), false);
    const auto collect = [&](const Cause& cause) {
      Group group = members(cause, selection, taken);
      if (!group.case_indices.empty()) groups.push_back(std::move(group));
    };
    for (const Cause& cause : kCauses) collect(cause);
    if (selection.unattributed) collect(kNoCause);
    return groups;
  }

 private:
  bool selected(const Case& sample, const Selection& selection) const {
    if (!selection.below) return true;
    const auto ratio = perf_.ratio(sample.index);
    return ratio && *ratio < *selection.below;
  }

  Group members(const Cause& cause, const Selection& selection, std::vector<bool>& taken) const {
    Group group;
    group.group_id = cause.group_id;
    group.bottleneck_reason = cause.reason;
    std::vector<const Features*> shared;
    std::vector<double> ratios;
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      if (taken[c] || !selected(cases_[c], selection) || !cause.test(features_[c])) continue;
      taken[c] = true;
      group.case_indices.push_back(cases_[c].index);
      shared.push_back(&features_[c]);
      if (const auto ratio = perf_.ratio(cases_[c].index)) ratios.push_back(*ratio);
    }
    group.features = {{cause.feature, cause.value}, {"dtype", dtypes(shared)}};
    if (selection.note) group.features.emplace_back("selected", selection.note);
    group.baseline_speedup = geometric_mean(ratios);
    return group;
  }

  const std::vector<Case>& cases_;
  const std::vector<Features>& features_;
  const PerfResult& perf_;
};

}  // namespace

std::vector<Group> bottleneck_groups(const std::vector<Case>& cases,
                                     const std::vector<Features>& features, const PerfResult& perf,
                                     bool forced) {
  KSPLIT_CHECK(cases.size() == features.size(), "features of every case");
  const Attribution attribution(cases, features, perf);
  std::vector<Group> groups = attribution.groups({kBottleneckRatio, nullptr, false});
  if (!groups.empty() || !forced) return groups;
  groups = attribution.groups({kTriggerRatio, "forced: below 0.8x torch", false});
  if (!groups.empty()) return groups;
  return attribution.groups({std::nullopt, "forced: all cases", true});
}

}  // namespace ksplit
