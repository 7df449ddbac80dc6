// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"

namespace ksplit {

/// Cases that behave alike and will share one specialised kernel.
struct Group {
  std::string group_id;  // "grp_reduce_last_small"; also a Python identifier
  std::vector<int> case_indices;  // ascending
  std::vector<std::pair<std::string, std::string>> features;  // ordered, printed in groups.json
  std::string bottleneck_reason;
  std::optional<double> baseline_speedup;  // geometric mean over its cases; none if unknown
  std::string kernel;  // kernel family the rule asks for ("reduce-last"); empty: none
};

/// groups.json exactly as the contract states it.
nlohmann::ordered_json to_json(const std::vector<Group>& groups);

}  // namespace ksplit
