// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "task/case.h"

// How the dimensions of a broadcast collapse.
//
// A dimension of the result is written as one letter: B when both operands span it, X when only the
// left one does, Y when only the right one does. Neighbouring dimensions with the same letter are
// one dimension in memory, since operands are contiguous, so the letters collapse to their runs:
//
//   [2, 64, 56, 56] + [1, 64, 1, 1]   XBXX   levels XBX of sizes 2, 64, 3136
//   [4096, 8192] + [8192]             XB     levels XB of sizes 4096, 8192
//   [1, 16, 64, 64] + [64, 64]        ?XBB   levels XB: a dimension of one element joins any run

namespace ksplit::templates {

/// Ranks that occur together, with the letters of the result's dimensions, outermost first.
/// Layouts with equal result ranks have equal letters.
struct BroadcastLayout {
  std::size_t left_rank = 0, right_rank = 0;
  std::string letters;
};

struct Broadcast {
  std::vector<BroadcastLayout> layouts;
  std::string levels;  // of all layouts; empty when they do not collapse alike, or to more than 4
  std::vector<std::array<std::int64_t, 4>> level_sizes;  // by pair, ones after the last level
  std::vector<double> result_elements;                   // by pair, also where levels are empty
};

/// Letters that fit all pairs of operands. None when shapes do not broadcast.
std::optional<Broadcast> read_broadcast(
    const std::vector<std::pair<const TensorSpec*, const TensorSpec*>>& operands);

}  // namespace ksplit::templates
