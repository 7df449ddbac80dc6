// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/literal.h"
#include "task/case.h"

namespace ksplit {

/// An argument of a kernel launch as the JIT saw it.
struct LaunchArgument {
  std::string name;
  bool constexpr_parameter = false;  // declared tl.constexpr
  std::variant<Literal, TensorSpec> value;
  std::optional<int> input;      // forward argument whose storage this tensor shares
  bool divisible_by_16 = false;  // what Triton specialised on
  bool equals_1 = false;
};

/// One launch of a Triton kernel.
struct Launch {
  std::string kernel;  // Python name of the jit function
  int line = 0;        // where the jit function is defined in the file
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::vector<LaunchArgument> arguments;
  int num_warps = 4;
  int num_stages = 3;
  bool autotuned = false;  // launched through @triton.autotune
};

/// Everything one call of an implementation launched, in order.
struct LaunchTrace {
  int case_index = 0;
  std::vector<Launch> launches;
};

}  // namespace ksplit
