// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "analyze/grouping.h"
#include "core/files.h"
#include "traces.h"

namespace ksplit {
namespace {

// groups.json of whole case lists. Our own lists lie beside the expected files; the published lists
// are read from where KSPLIT_SHARED_CASES says, and only their expected groups are kept here.
// KSPLIT_UPDATE_GOLDEN=1 writes the expected files anew.

struct List {
  const char* name;       // expected groups: tests/golden/groups/<name>.groups.json
  const char* published;  // file name of a published list; nullptr: <name>.jsonl of our own
  ReferenceGraph (*trace)(const Case&);
};

const List kLists[] = {
    {"sum_own", nullptr, sum_trace},           {"add_own", nullptr, add_trace},
    {"cumsum_own", nullptr, cumsum_trace},     {"sum_published", "Sum.jsonl", sum_trace},
    {"add_published", "Add.jsonl", add_trace}, {"cumsum_published", "Cumsum.jsonl", cumsum_trace},
};

const std::filesystem::path kSource = KSPLIT_SOURCE_DIR;
const std::filesystem::path kGolden = kSource / "tests" / "golden" / "groups";

std::filesystem::path published_lists() {
  const char* named = std::getenv("KSPLIT_SHARED_CASES");
  return named ? std::filesystem::path(named) : kSource / ".." / "shared" / "cases";
}

/// Ratios between 0.05 and 1.8 that depend on nothing but the case's number.
PerfResult made_up_perf(const Task& task) {
  std::vector<ShapeResult> shapes;
  for (const Case& sample : task.cases) {
    ShapeResult& shape = shapes.emplace_back();
    shape.case_idx = sample.index;
    shape.speedup_vs_torch = 0.05 + 0.25 * (sample.index * 5 % 8);
  }
  return summarize_perf(task.op_name, 5, 50, shapes);
}

class GoldenGroups : public testing::TestWithParam<List> {};

TEST_P(GoldenGroups, AreAsExpected) {
  const List& list = GetParam();
  const auto cases_file = list.published ? published_lists() / list.published
                                         : kGolden / (std::string(list.name) + ".jsonl");
  const auto text = read_file(cases_file);
  if (!text && list.published) GTEST_SKIP() << text.error().message;
  ASSERT_TRUE(text) << text.error().message;

  const Task task = read_cases("op", *text);
  std::vector<ReferenceGraph> graphs;
  for (const Case& sample : task.cases) graphs.push_back(list.trace(sample));
  const auto groups =
      make_groups(task, graphs, made_up_perf(task), load_rules({}).value(), /*forced=*/false);
  ASSERT_TRUE(groups) << groups.error().message;

  std::set<int> grouped;
  for (const Group& group : *groups) {
    EXPECT_TRUE(std::is_sorted(group.case_indices.begin(), group.case_indices.end()));
    for (const int index : group.case_indices) {
      EXPECT_TRUE(grouped.insert(index).second) << "case " << index << " is in two groups";
    }
    for (const unsigned char c : group.group_id) EXPECT_TRUE(std::isalnum(c) || c == '_');
  }

  const auto golden_file = kGolden / (std::string(list.name) + ".groups.json");
  const std::string actual = to_json(*groups).dump(2) + "\n";
  if (std::getenv("KSPLIT_UPDATE_GOLDEN")) {
    ASSERT_TRUE(write_file(golden_file, actual));
  }
  EXPECT_EQ(actual, read_file(golden_file).value_or("no file " + golden_file.string()));
}

INSTANTIATE_TEST_SUITE_P(Lists, GoldenGroups, testing::ValuesIn(kLists),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ksplit
