// SPDX-License-Identifier: Apache-2.0
// What the templates emit, word for word, against tests/golden/templates. The files are complete
// Python; KSPLIT_UPDATE_GOLDEN=1 rewrites them. That they compute the right thing is tested by
// running them (tests/templates).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "samples.h"

namespace ksplit {
namespace {

using nlohmann::json;

const std::filesystem::path kGolden = KSPLIT_GOLDEN_DIR;

json tensor(const std::vector<int>& shape, const char* dtype = "float32") {
  return {{"shape", shape}, {"dtype", dtype}};
}

json reduction(const char* op, const char* profile, const json& cases) {
  return {{"op_name", op},
          {"group_id", "grp_golden"},
          {"profile", profile},
          {"parameters", {"x", "dim", "keepdim"}},
          {"cases", cases},
          {"reduction",
           {{"op", op}, {"input", 0}, {"dim", {{"argument", 1}}}, {"keepdim", {{"argument", 2}}}}}};
}

json broadcast(const char* op, const char* profile, const json& cases) {
  return {{"op_name", op},
          {"group_id", "grp_golden"},
          {"profile", profile},
          {"parameters", {"x", "y", "alpha"}},
          {"cases", cases},
          {"broadcast", {{"op", op}, {"lhs", 0}, {"rhs", 1}, {"alpha", {{"argument", 2}}}}}};
}

const json kLast = {{tensor({64, 96}), 1, false}, {tensor({8, 8, 33}, "float16"), -1, true}};
const json kInner = {{tensor({6, 64, 96}), 1, false}, {tensor({16, 16, 16, 16}), 2, true}};
const json kLong = {{tensor({1, 1000000}), 1, false}};
const json kLongInner = {{tensor({100000, 3}), 0, false}};

struct GoldenRow {
  const char* name;
  json sample;
  const char* form;
};

void PrintTo(const GoldenRow& row, std::ostream* out) {
  *out << row.name;
}

class GoldenTemplate : public ::testing::TestWithParam<GoldenRow> {};

/// Preconditions as a comment, so that a change of them is seen too.
std::string file_text(const Candidate& candidate, const std::vector<Parameter>& parameters) {
  std::string text = "# SPDX-License-Identifier: Apache-2.0\n# right where\n";
  for (const Guard& guard : candidate.preconditions) {
    std::string line;
    for (const Test& test : guard) {
      line += (line.empty() ? "#   " : "\n#   and ") + to_python(test, parameters);
    }
    text += line + (&guard == &candidate.preconditions.back() ? "\n" : "\n# or\n");
  }
  text += "import torch\nimport triton\nimport triton.language as tl\n\n\n";
  return text + candidate.definitions;
}

TEST_P(GoldenTemplate, IsUnchanged) {
  const auto sample = testing::read_sample(GetParam().sample);
  const testing::Generated generated = testing::run_generators(*sample);
  EXPECT_TRUE(generated.refusals.empty());
  const auto found = std::find_if(
      generated.candidates.begin(), generated.candidates.end(), [](const Candidate& candidate) {
        return candidate.parameters.at("form") == Literal(GetParam().form);
      });
  ASSERT_NE(found, generated.candidates.end());
  const std::string text = file_text(*found, sample->task.parameters);
  const std::filesystem::path file = kGolden / (std::string(GetParam().name) + ".py");
  if (std::getenv("KSPLIT_UPDATE_GOLDEN")) {
    ASSERT_TRUE(write_file(file, text).has_value());
  }
  EXPECT_EQ(text, read_file(file).value_or("no such file: " + file.string()));
}

INSTANTIATE_TEST_SUITE_P(
    Files, GoldenTemplate,
    ::testing::Values(
        GoldenRow{"reduce_last_tile", reduction("sum", "h200", kLast), "tile"},
        GoldenRow{"reduce_last_loop", reduction("mean", "h200", kLast), "loop"},
        GoldenRow{"reduce_last_split", reduction("max", "h200", kLong), "split"},
        GoldenRow{"reduce_last_loop_npu", reduction("sum", "ascend910b", kLast), "loop"},
        GoldenRow{"reduce_non_last_tile", reduction("sum", "h200", kInner), "tile"},
        GoldenRow{"reduce_non_last_loop", reduction("prod", "h200", kInner), "loop"},
        GoldenRow{"reduce_non_last_loop_cpu", reduction("sum", "cpu", kInner), "loop"},
        GoldenRow{"reduce_non_last_block", reduction("min", "h200", kInner), "block"},
        GoldenRow{"reduce_non_last_split", reduction("mean", "h200", kLongInner), "split"},
        GoldenRow{"flat", broadcast("add", "h200", {{tensor({64, 64}), tensor({64, 64}), 0.5}}),
                  "flat"},
        GoldenRow{"broadcast_rows",
                  broadcast("add", "h200", {{tensor({64, 64}), tensor({64, 1}), 0.5}}), "tile"},
        GoldenRow{"broadcast_four_levels",
                  broadcast("sub", "h200", {{tensor({8, 6, 8, 64}), tensor({1, 6, 1, 64}), 2}}),
                  "adaptive"},
        GoldenRow{"broadcast_two_ranks_npu",
                  broadcast("add", "ascend910b",
                            {{tensor({2, 5, 6, 6}), tensor({1, 5, 1, 1}), 1.0},
                             {tensor({4, 5, 3}), tensor({1, 5, 1}), 1.0}}),
                  "adaptive"}),
    [](const auto& info) { return std::string(info.param.name); });

std::vector<Candidate> candidates_of(const json& sample) {
  const auto read = testing::read_sample(sample);
  return testing::run_generators(*read).candidates;
}

TEST(TemplatesTest, IdsAreUniqueAndListsBounded) {
  for (const char* profile : {"cpu", "h200", "a100", "generic-gpu", "ascend910b"}) {
    for (const json& cases : {kLast, kInner, kLong, kLongInner}) {
      const std::vector<Candidate> candidates = candidates_of(reduction("sum", profile, cases));
      std::set<std::string> ids;
      for (const Candidate& candidate : candidates) ids.insert(candidate.id);
      EXPECT_EQ(ids.size(), candidates.size());
      EXPECT_FALSE(candidates.empty());
      EXPECT_LE(candidates.size(), std::string(profile) == "cpu" ? 10u : 40u);
    }
  }
}

TEST(TemplatesTest, EveryCandidateIsRightOnEveryCase) {
  for (const json& cases : {kLast, kInner, kLong, kLongInner}) {
    const auto sample = testing::read_sample(reduction("max", "h200", cases));
    for (const Candidate& candidate : testing::run_generators(*sample).candidates) {
      for (const Case& one : sample->task.cases) {
        EXPECT_TRUE(std::any_of(candidate.preconditions.begin(), candidate.preconditions.end(),
                                [&](const Guard& guard) { return holds(guard, one); }))
            << candidate.id;
        for (const Subject& subject : candidate.envelope) {
          EXPECT_TRUE(evaluate(subject, one).has_value()) << candidate.id;
        }
      }
    }
  }
}

// Tests of each size let [64, 64] in, which a block of the longest run, 1024, would not cover.
TEST(TemplatesTest, BlocksCoverWhatSeveralAxesAreAllowed) {
  json json = reduction("sum", "h200",
                        {{tensor({4, 64, 16}), -1, false}, {tensor({4, 16, 64}), -1, false}});
  json["reduction"]["dim"] = {{"constant", {-2, -1}}};
  const auto sample = testing::read_sample(json);
  const Case wide =
      testing::read_case({tensor({4, 64, 64}), -1, false}, sample->task.parameters, 3);
  bool tiled = false;
  for (const Candidate& candidate : testing::run_generators(*sample).candidates) {
    if (candidate.parameters.at("form") != Literal("tile")) continue;
    tiled = true;
    EXPECT_FALSE(candidate.parameters.contains("BLOCK_RED")) << candidate.id;
    EXPECT_TRUE(std::ranges::any_of(candidate.preconditions, [&](const Guard& guard) {
      return holds(guard, wide);
    })) << candidate.id;
  }
  EXPECT_TRUE(tiled);
}

TEST(TemplatesTest, SilentWhereTheyHaveNothingToSay) {
  json sample = reduction("sum", "h200", kLast);
  sample.erase("reduction");
  const auto read = testing::read_sample(sample);
  const testing::Generated generated = testing::run_generators(*read);
  EXPECT_TRUE(generated.candidates.empty());
  EXPECT_TRUE(generated.refusals.empty());
}

}  // namespace
}  // namespace ksplit
