// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"

namespace ksplit {

/// Cases that behave alike and will share one specialised kernel.
struct Group {
  std::string group_id;           // "grp_reduce_last_small"; also a Python identifier
  std::vector<int> case_indices;  // ascending
  std::vector<std::pair<std::string, std::string>> features;  // ordered, printed in groups.json
  std::string bottleneck_reason;
  std::optional<double> baseline_speedup;  // geometric mean over its cases; none if unknown
  /// The kernel family its rule asks for; empty for bottleneck groups. The rules of the binary know
  /// "reduce-last", "reduce-non-last", "flat", "broadcast-2d-dim0", "broadcast-2d-dim1" and
  /// "broadcast-nd". A family says how to work, not that a template knows the operator.
  std::string kernel;
  std::vector<std::map<std::string, std::int64_t>> blocks;  // block sizes that the rule wants among
                                                            // the candidates: {BLOCK_RED: 1024}
};

/// groups.json exactly as the contract states it.
nlohmann::ordered_json to_json(const std::vector<Group>& groups);

}  // namespace ksplit
