// SPDX-License-Identifier: Apache-2.0
#include "analyze/rules.h"

#include <gtest/gtest.h>

#include "core/files.h"

namespace ksplit {
namespace {

/// A rule that is complete, with more lines under its last table (`hit`) or after it.
std::string rule_with(const std::string& rest) {
  return "[[rule]]\nname = \"r\"\nprefix = \"p\"\nhit = { only = [\"add\"] }\n" + rest;
}

const std::string kKernel = "[[rule.kernel]]\nfamily = \"flat\"\n";

Error error_of(const std::string& text) {
  const auto rules = parse_rules(text, "mine.toml");
  return rules ? Error{ErrorCode::usage, "parsed"} : rules.error();
}

TEST(Rules, TheBinaryCarriesTheRulesOfTheContract) {
  const auto rules = load_rules({});
  ASSERT_TRUE(rules) << rules.error().message;
  ASSERT_EQ(rules->rules.size(), 3u);
  const Rule& reduction = rules->rules[0];
  EXPECT_EQ(reduction.name, "reduction");
  ASSERT_EQ(reduction.dimensions.size(), 3u);

  const auto label = [&](std::size_t dimension, std::int64_t value) -> std::string {
    for (const auto& one : reduction.dimensions[dimension].classes) {
      if (one.test.holds(value)) return one.label;
    }
    return "none";
  };
  EXPECT_EQ(label(0, 1), "last");
  EXPECT_EQ(label(0, 2), "non_last");
  EXPECT_EQ(label(0, 0), "none");
  EXPECT_EQ(label(1, 255), "small");
  EXPECT_EQ(label(1, 256), "medium");
  EXPECT_EQ(label(1, 4096), "medium");
  EXPECT_EQ(label(1, 4097), "large");
}

TEST(Rules, BlockSizesAreEveryCombination) {
  const auto rules = load_rules({});
  ASSERT_TRUE(rules);
  const Rule& broadcast = rules->rules[2];
  const std::vector<BlockRule>& blocks = broadcast.kernels[0].blocks;
  ASSERT_EQ(blocks.size(), 9u);
  EXPECT_EQ(blocks[1].blocks,
            (std::map<std::string, std::int64_t>{{"BLOCK_M", 4}, {"BLOCK_N", 1024}}));
  EXPECT_EQ(blocks[8].blocks,
            (std::map<std::string, std::int64_t>{{"BLOCK_M", 16}, {"BLOCK_N", 2048}}));
}

TEST(Rules, Comparisons) {
  struct Row {
    const char* written;
    std::vector<std::int64_t> yes, no;
    const char* text;
  };
  const Row table[] = {
      {"\"< 256\"", {0, 255}, {256}, "<256"},
      {"\"<=256\"", {256}, {257}, "<=256"},
      {"\"> 1\"", {2}, {1}, ">1"},
      {"\">= 2 \"", {2}, {1}, ">=2"},
      {"\"256..4096\"", {256, 4096}, {255, 4097}, "256..4096"},
      {"7", {7}, {8}, "7"},
  };
  for (const Row& row : table) {
    const auto rules = parse_rules(
        rule_with("cases = { reduce_size = " + std::string(row.written) + " }\n" + kKernel), "f");
    ASSERT_TRUE(rules) << row.written << ": " << rules.error().message;
    const Condition& condition = rules->rules[0].cases.at("reduce_size");
    EXPECT_EQ(condition.text, row.text);
    for (const std::int64_t value : row.yes)
      EXPECT_TRUE(condition.holds(value)) << row.written << value;
    for (const std::int64_t value : row.no)
      EXPECT_FALSE(condition.holds(value)) << row.written << value;
    EXPECT_FALSE(condition.holds("text"));
  }
}

TEST(Rules, AMissingFeatureMeetsNoCondition) {
  const auto rules = parse_rules(rule_with("cases = { contiguous = true }\n" + kKernel), "f");
  ASSERT_TRUE(rules);
  EXPECT_TRUE(hold(rules->rules[0].cases, {{"contiguous", true}}));
  EXPECT_FALSE(hold(rules->rules[0].cases, {{"contiguous", false}}));
  EXPECT_FALSE(hold(rules->rules[0].cases, {}));
}

TEST(Rules, ErrorsHaveTheirPlace) {
  struct Row {
    std::string text;
    const char* message;
    int line, column;
  };
  const Row table[] = {
      {"[[rule]\n",
       "Error while parsing table header: encountered unexpected character 0x0A \"\\n\"", 0, 0},
      {"[[rules]]\nname = \"r\"\n", "unknown key `rules`", 1, 1},
      {"[[rule]]\nprefix = \"p\"\nhit = { only = [\"add\"] }\n" + kKernel, "no `name` here", 1, 1},
      {rule_with(""), "rule `r` has no `kernel`", 1, 1},
      {rule_with("color = 3\n" + kKernel), "unknown key `color`", 5, 9},
      {rule_with("cases = { size = 3 }\n" + kKernel), "unknown feature `size`", 5, 18},
      {rule_with("cases = { reduce_size = \"about 3\" }\n" + kKernel), "`about 3` is no comparison",
       5, 25},
      {rule_with("cases = { reduce_size = \"9..3\" }\n" + kKernel), "`9..3` is no comparison", 5,
       25},
      {rule_with("cases = { reduce_size = \"< x\" }\n" + kKernel), "`< x` is no comparison", 5, 25},
      {rule_with("cases = { dtype = 3 }\n" + kKernel), "the test of `dtype` must be a string", 5,
       19},
      {rule_with("cases = { contiguous = \"yes\" }\n" + kKernel),
       "the test of `contiguous` must be true or false", 5, 24},
      {rule_with("[[rule.kernel]]\nfamily = 3\n"), "`family` must be a string", 6, 10},
      {rule_with("[[rule.kernel]]\nfamily = \"f\"\nblocks = [{ sizes = { BLOCK = 0 } }]\n"),
       "`BLOCK` must be sizes above 0", 7, 31},
      {rule_with("[[rule.dimension]]\nname = \"a b\"\nfeature = \"dtype\"\n" + kKernel),
       "`name` must consist of letters, digits and _, not `a b`", 6, 8},
      {rule_with("[[rule.dimension]]\nname = \"a\"\nfeature = \"dtype\"\nlabel = \"x\"\n" +
                 kKernel),
       "`label` must hold `{}` for the value, and classes have labels of their own", 8, 9},
      {rule_with(kKernel + "[rule.merge]\njoin = [{ differ = [\"size\"] }]\n"),
       "rule `r` has no dimension `size`", 8, 20},
      {rule_with(kKernel + "[rule.merge]\njoin = [{ distance = -1 }]\n"),
       "`distance` must be a number from 0 on", 8, 22},
      {rule_with(kKernel + "[rule.merge]\njoin = [{ same = [\"size\"] }]\n"),
       "unknown feature `size`", 8, 18},
      {rule_with("[[rule.dimension]]\nname = \"a\"\nfeature = \"dtype\"\nopen = \"unit_dims\"\n" +
                 kKernel),
       "`open` names a list feature, for a list feature", 8, 8},
      {rule_with(kKernel + "[rule.merge]\nmin_group = 0\n"),
       "`min_group` must be a number from 1 on", 8, 13},
      {"[[rule]]\nname = \"r\"\nprefix = \"p\"\nhit = { min_cases = 2 }\n" + kKernel,
       "`hit` names no operation", 4, 7},
      {"rule = 3\n", "`rule` must be a list of tables", 1, 8},
  };
  for (const Row& row : table) {
    const Error error = error_of(row.text);
    EXPECT_EQ(error.code, ErrorCode::input_malformed) << row.text;
    ASSERT_TRUE(error.at) << row.text;
    EXPECT_EQ(error.at->file, "mine.toml");
    if (row.line == 0) {  // the words are the TOML parser's
      EXPECT_GT(error.at->line, 0);
      continue;
    }
    EXPECT_EQ(error.message, row.message);
    EXPECT_EQ((std::pair{error.at->line, error.at->column}), (std::pair{row.line, row.column}))
        << row.text;
  }
}

TEST(Rules, HintsListWhatIsAccepted) {
  EXPECT_NE(error_of(rule_with("cases = { size = 3 }\n" + kKernel)).hint.find("reduce_size"),
            std::string::npos);
  EXPECT_NE(error_of(rule_with("color = 3\n" + kKernel)).hint.find("dimension"), std::string::npos);
}

TEST(Rules, TheUsersFilesComeFirst) {
  const auto file = std::filesystem::temp_directory_path() / "ksplit_rules_test.toml";
  ASSERT_TRUE(write_file(file, rule_with(kKernel)));
  const auto rules = load_rules({file});
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->rules.size(), 4u);
  EXPECT_EQ(rules->rules[0].name, "r");
  std::filesystem::remove(file);
  EXPECT_EQ(load_rules({file}).error().code, ErrorCode::input_missing);
}

}  // namespace
}  // namespace ksplit
