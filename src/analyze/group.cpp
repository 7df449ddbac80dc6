// SPDX-License-Identifier: Apache-2.0
#include "analyze/group.h"

#include <nlohmann/json.hpp>

#include "task/perf.h"

namespace ksplit {

nlohmann::ordered_json to_json(const std::vector<Group>& groups) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Group& group : groups) {
    Json features = Json::object();
    for (const auto& [name, value] : group.features) features[name] = value;
    Json baseline = Json::object();
    const std::optional<double>& speedup = group.baseline_speedup;
    baseline["speedup_vs_torch"] = speedup ? Json(published(*speedup)) : Json(nullptr);
    Json json;
    json["group_id"] = group.group_id;
    json["case_indices"] = group.case_indices;
    json["features"] = std::move(features);
    json["bottleneck_reason"] = group.bottleneck_reason;
    json["baseline_perf"] = std::move(baseline);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace ksplit
