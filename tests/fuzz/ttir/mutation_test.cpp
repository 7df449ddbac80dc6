// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "../../unit/ttir/golden.h"
#include "ttir/parser.h"
#include "ttir/printer.h"
#include "ttir/verifier.h"

// Deterministic fuzzing: golden text, damaged in the ways files are damaged and in the ways that
// confuse parsers. Whatever comes out is refused with a place, or is a module that round-trips.
namespace ksplit::ttir {
namespace {

constexpr int kRounds = 1500;
constexpr std::size_t kLargest = 12000;  // bytes; larger texts add time, not constructs

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  std::string damage(std::string text, const std::string& donor) {
    const std::size_t at = below(text.size());
    const std::size_t length = 1 + below(1 + below(200));
    switch (below(8)) {
      case 0: text.resize(at); break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(below(text.size()), length)); break;
      case 3: text[at] = static_cast<char>(random_()); break;
      case 4: text[at] = static_cast<char>(text[at] ^ (1 << below(7))); break;
      case 5: text.insert(at, 1, kPunctuation[below(sizeof kPunctuation - 1)]); break;
      case 6: text.replace(at, length, donor.substr(below(donor.size()), length)); break;
      default: swap_words(text); break;
    }
    return text;
  }

 private:
  static constexpr char kPunctuation[] = "(){}[]<>,:=%^#!@\"\\-0x";

  // Puts one word of the text in the place of another: types, names and numbers trade places.
  void swap_words(std::string& text) {
    const auto word_at = [&](std::size_t from) {
      const std::size_t begin =
          std::min(text.find_first_of("%!0123456789tensorfi", from), text.size());
      const std::size_t end = std::min(text.find_first_of(" ,:()\n", begin), text.size());
      return std::pair(begin, end - begin);
    };
    const auto [begin, length] = word_at(below(text.size()));
    const auto [other, other_length] = word_at(below(text.size()));
    const std::string replacement = text.substr(other, other_length);
    text.replace(begin, length, replacement);
  }

  std::mt19937 random_;
};

TEST(Mutation, DamagedTextIsRefusedOrUnderstood) {
  std::vector<const Golden*> small;
  for (const Golden& golden : golden_files()) {
    if (golden.text.size() <= kLargest) small.push_back(&golden);
  }
  ASSERT_FALSE(small.empty());
  int refused = 0;
  int illegal = 0;
  int legal = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    Mutator mutator(round);
    std::string text = small[mutator.below(small.size())]->text;
    const std::size_t count = 1 + mutator.below(3);
    for (std::size_t i = 0; i < count && !text.empty(); ++i) {
      text = mutator.damage(std::move(text), small[mutator.below(small.size())]->text);
    }
    const auto module = parse(text, "damaged.ttir");
    if (!module) {
      ASSERT_TRUE(module.error().at && module.error().at->line >= 1) << "round " << round;
      ++refused;
    } else if (!verify(*module)) {
      ++illegal;
    } else {
      const std::string printed = print(*module);
      const auto again = parse(printed, "printed.ttir");
      ASSERT_TRUE(again) << "round " << round << ": " << again.error().message << "\n" << printed;
      ASSERT_TRUE(verify(*again)) << "round " << round;
      ASSERT_EQ(print(*again), printed) << "round " << round;
      ++legal;
    }
  }
  // The damage is neither always fatal nor always harmless, else this would test nothing.
  EXPECT_GT(refused, kRounds / 4);
  EXPECT_GT(illegal, 0);
  EXPECT_GT(legal, kRounds / 100);
}

}  // namespace
}  // namespace ksplit::ttir
