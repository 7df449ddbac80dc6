// SPDX-License-Identifier: Apache-2.0
#include "generate/templates/elementwise_layout.h"

#include <algorithm>
#include <map>

namespace ksplit::templates {
namespace {

constexpr std::size_t kMostLevels = 4;
constexpr char kFree = '*';  // one element in both operands: takes any letter

std::int64_t size_from_right(const TensorSpec& tensor, std::size_t k) {
  return k < tensor.shape.size() ? tensor.shape[tensor.shape.size() - 1 - k] : 1;
}

/// Letters of one case; none if the shapes do not broadcast.
std::optional<std::string> letters_of(const TensorSpec& left, const TensorSpec& right) {
  const std::size_t rank = std::max(left.shape.size(), right.shape.size());
  std::string letters(rank, kFree);
  for (std::size_t k = 0; k < rank; ++k) {
    const std::int64_t a = size_from_right(left, k);
    const std::int64_t b = size_from_right(right, k);
    char& letter = letters[rank - 1 - k];
    if (a == b) {
      if (a != 1) letter = 'B';
    } else if (b == 1) {
      letter = 'X';
    } else if (a == 1) {
      letter = 'Y';
    } else {
      return std::nullopt;
    }
  }
  return letters;
}

double result_elements(const TensorSpec& left, const TensorSpec& right) {
  double product = 1;
  for (std::size_t k = 0; k < std::max(left.shape.size(), right.shape.size()); ++k) {
    product *= static_cast<double>(std::max(size_from_right(left, k), size_from_right(right, k)));
  }
  return product;
}

/// Whether two cases can share letters; then `into` has them.
bool unify(std::string& into, const std::string& letters) {
  for (std::size_t i = 0; i < into.size(); ++i) {
    if (into[i] == kFree) into[i] = letters[i];
    if (letters[i] != kFree && into[i] != letters[i]) return false;
  }
  return true;
}

/// A free dimension joins a neighbour, the right one first, so that it makes no level of its own.
void settle(std::string& letters) {
  for (std::size_t i = letters.size(); i-- > 1;) {
    if (letters[i - 1] == kFree) letters[i - 1] = letters[i];
  }
  for (std::size_t i = 1; i < letters.size(); ++i) {
    if (letters[i] == kFree) letters[i] = letters[i - 1];
  }
  std::replace(letters.begin(), letters.end(), kFree, 'B');  // one element in all
}

std::string runs(const std::string& letters) {
  std::string levels;
  for (const char letter : letters) {
    if (levels.empty() || levels.back() != letter) levels += letter;
  }
  return levels.empty() ? "B" : levels;
}

std::array<std::int64_t, 4> level_sizes(const std::string& letters, const TensorSpec& left,
                                        const TensorSpec& right) {
  std::array<std::int64_t, 4> sizes = {1, 1, 1, 1};
  std::size_t level = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (i > 0 && letters[i] != letters[i - 1]) ++level;
    const std::size_t k = letters.size() - 1 - i;
    sizes[level] *= std::max(size_from_right(left, k), size_from_right(right, k));
  }
  return sizes;
}

}  // namespace

std::optional<Broadcast> read_broadcast(
    const std::vector<std::pair<const TensorSpec*, const TensorSpec*>>& operands) {
  Broadcast broadcast;
  std::map<std::size_t, std::string> by_rank;
  bool alike = true;
  for (const auto& [left, right] : operands) {
    const std::optional<std::string> letters = letters_of(*left, *right);
    if (!letters) return std::nullopt;
    broadcast.result_elements.push_back(result_elements(*left, *right));
    const auto [entry, fresh] = by_rank.emplace(letters->size(), *letters);
    if (!fresh && !unify(entry->second, *letters)) alike = false;
  }
  for (auto& [rank, letters] : by_rank) {
    settle(letters);
    if (broadcast.levels.empty()) broadcast.levels = runs(letters);
    if (runs(letters) != broadcast.levels) alike = false;
  }
  if (!alike || broadcast.levels.size() > kMostLevels) {
    broadcast.levels.clear();
    return broadcast;
  }
  for (const auto& [left, right] : operands) {
    const std::size_t rank = std::max(left->shape.size(), right->shape.size());
    const BroadcastLayout layout{left->shape.size(), right->shape.size(), by_rank[rank]};
    broadcast.level_sizes.push_back(level_sizes(layout.letters, *left, *right));
    const auto same = [&](const BroadcastLayout& other) {
      return other.left_rank == layout.left_rank && other.right_rank == layout.right_rank;
    };
    if (std::none_of(broadcast.layouts.begin(), broadcast.layouts.end(), same)) {
      broadcast.layouts.push_back(layout);
    }
  }
  return broadcast;
}

}  // namespace ksplit::templates
