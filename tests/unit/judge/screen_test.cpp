// SPDX-License-Identifier: Apache-2.0
#include "judge/screen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>
#include <set>

namespace ksplit {
namespace {

TensorSpec tensor(std::vector<std::int64_t> shape, std::string dtype = "float16") {
  TensorSpec spec;
  spec.dtype = std::move(dtype);
  spec.strides.resize(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    spec.strides[d] = stride;
    stride *= shape[d];
  }
  spec.shape = std::move(shape);
  return spec;
}

struct Fixture {
  Task task;
  std::deque<Case> cases;  // stable addresses
  Screening screening;

  Fixture() {
    task.op_name = "sum";
    task.parameters = {{"x", Parameter::Kind::positional, ""},
                       {"dim", Parameter::Kind::positional, ""}};
  }

  void add(TensorSpec x, std::vector<std::optional<double>> ratios, std::int64_t dim = 0) {
    Case sample;
    sample.index = static_cast<int>(cases.size()) + 1;
    sample.inputs = {{"x", std::move(x)}, {"dim", Literal(dim)}};
    cases.push_back(std::move(sample));
    screening.cases.push_back(&cases.back());
    screening.ratios.push_back(std::move(ratios));
  }

  std::vector<Part> divide(const DivisionPolicy& policy = {}) {
    for (std::size_t c = screening.candidates.size(); c < screening.ratios.front().size(); ++c) {
      screening.candidates.push_back("c" + std::to_string(c));
    }
    return divide_group(screening, distinguishing_subjects(task, screening.cases), policy);
  }
};

using Indices = std::vector<int>;
using Ids = std::vector<std::string>;

TEST(Division, OneCandidateGoodEverywhereIsOnePart) {
  Fixture f;
  for (int n = 1; n <= 6; ++n) f.add(tensor({n * 100}), {0.5, 0.6});
  const std::vector<Part> parts = f.divide();
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].case_indices, (Indices{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(parts[0].ranked, (Ids{"c0", "c1"}));
  EXPECT_TRUE(parts[0].separating.empty());
  EXPECT_NEAR(parts[0].ratio, 0.5, 1e-12);
}

TEST(Division, SmallAndLargeGetTheirOwnKernels) {
  Fixture f;
  for (const std::int64_t n : {64, 128, 256}) f.add(tensor({n}), {0.5, 0.9});
  for (const std::int64_t n : {4096, 8192}) f.add(tensor({n}), {0.9, 0.4});
  const std::vector<Part> parts = f.divide();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].case_indices, (Indices{1, 2, 3}));
  EXPECT_EQ(parts[0].ranked.front(), "c0");
  EXPECT_EQ(parts[1].case_indices, (Indices{4, 5}));
  EXPECT_EQ(parts[1].ranked.front(), "c1");
  ASSERT_EQ(parts[0].separating.size(), 1U);
  EXPECT_EQ(to_python(parts[0].separating[0], f.task.parameters), "64 <= x.size(dim) <= 256");
}

TEST(Division, GainBelowThePriceOfASplitIsNotWorthIt) {
  Fixture f;
  for (const std::int64_t n : {64, 128, 256}) f.add(tensor({n}), {0.50, 0.51});
  for (const std::int64_t n : {4096, 8192, 9999}) f.add(tensor({n}), {0.51, 0.50});
  EXPECT_EQ(f.divide().size(), 1U);
}

TEST(Division, CasesNoCandidateHelpsStayOnBase) {
  Fixture f;
  for (const std::int64_t n : {64, 128, 256}) f.add(tensor({n}), {0.6});
  for (const std::int64_t n : {4096, 8192}) f.add(tensor({n}), {1.2});
  const std::vector<Part> parts = f.divide();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].case_indices, (Indices{1, 2, 3}));
  EXPECT_TRUE(parts[1].ranked.empty());
  EXPECT_EQ(parts[1].case_indices, (Indices{4, 5}));
  EXPECT_EQ(parts[1].ratio, 1);
}

TEST(Division, NothingBeatsTheBase) {
  Fixture f;
  f.add(tensor({64}), {1.0, 1.3});
  f.add(tensor({128}), {1.005, std::nullopt});
  const std::vector<Part> parts = f.divide();
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_TRUE(parts[0].ranked.empty());
}

TEST(Division, NoKernelForASingleCaseUnlessItGainsMuch) {
  const auto parts_with = [](double alone) {
    Fixture f;
    for (const std::int64_t n : {64, 128, 256, 512}) f.add(tensor({n}), {0.8, 1.5});
    f.add(tensor({9000}), {0.8, alone});
    return f.divide().size();
  };
  EXPECT_EQ(parts_with(0.70), 1U);
  EXPECT_EQ(parts_with(0.50), 2U);
}

TEST(Division, FailedCandidatesServeNobody) {
  Fixture f;
  f.add(tensor({64}), {0.1, 0.7});
  f.add(tensor({128}), {std::nullopt, 0.7});
  f.add(tensor({64}), {0.1, 0.7});
  f.add(tensor({128}), {std::nullopt, 0.7});
  const std::vector<Part> parts = f.divide();
  ASSERT_EQ(parts.size(), 2U);
  for (const Part& part : parts) {
    const bool small = part.case_indices == Indices{1, 3};
    EXPECT_EQ(part.ranked.front(), small ? "c0" : "c1");
  }
}

TEST(Division, ByDivisibilityWhenOnlyThatTellsCasesApart) {
  // Sizes interleave, so no range separates the maskless kernel's cases.
  Fixture f;
  for (const std::int64_t n : {1024, 2048, 4096}) f.add(tensor({n}), {0.4, 0.8});
  for (const std::int64_t n : {1000, 3001, 5003}) f.add(tensor({n}), {std::nullopt, 0.8});
  const std::vector<Part> parts = f.divide();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].case_indices, (Indices{1, 2, 3}));
  ASSERT_EQ(parts[0].separating.size(), 1U);
  EXPECT_EQ(parts[0].separating[0].kind, ksplit::Test::Kind::divisible);
}

TEST(Division, ThreeWaysThroughAMiddleRange) {
  Fixture f;
  for (const std::int64_t n : {16, 32, 64}) f.add(tensor({n}), {0.5, 2.0, 2.0});
  for (const std::int64_t n : {512, 700, 900}) f.add(tensor({n}), {2.0, 0.5, 2.0});
  for (const std::int64_t n : {5000, 7000, 9000}) f.add(tensor({n}), {2.0, 2.0, 0.5});
  const std::vector<Part> parts = f.divide();
  ASSERT_EQ(parts.size(), 3U);
  for (const Part& part : parts) EXPECT_EQ(part.case_indices.size(), 3U);
}

TEST(Division, NeverMorePartsThanAllowed) {
  Fixture f;
  for (int k = 0; k < 8; ++k) {
    for (int i = 0; i < 2; ++i) {
      std::vector<std::optional<double>> ratios(8, 0.9);
      ratios[static_cast<std::size_t>(k)] = 0.1;
      f.add(tensor({100 * k + 10 * i + 16}), ratios);
    }
  }
  EXPECT_EQ(f.divide().size(), 4U);
  DivisionPolicy wide;
  wide.max_parts = 8;
  EXPECT_EQ(f.divide(wide).size(), 8U);
}

TEST(Division, RanksTheWinnersForConfirmation) {
  Fixture f;
  for (const std::int64_t n : {64, 128}) f.add(tensor({n}), {0.9, 0.7, 0.5, 1.2, 0.6, 0.99});
  const std::vector<Part> parts = f.divide();
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].ranked, (Ids{"c2", "c4", "c1"}));
}

// On random screenings: every case in exactly one part, in index order; the tests route cases to
// their parts in the order given, and no part's best candidate breaks the limit on its cases.
TEST(Division, PropertiesOnRandomScreenings) {
  const std::vector<std::string> dtypes = {"float16", "float32", "bfloat16"};
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    Fixture f;
    const int cases = 3 + static_cast<int>(random() % 14);
    for (int i = 0; i < cases; ++i) {
      std::vector<std::optional<double>> ratios;
      for (int c = 0; c < 5; ++c) {
        ratios.emplace_back(0.4 + 0.1 * static_cast<double>(random() % 9));
        if (random() % 6 == 0) ratios.back().reset();
      }
      const std::int64_t rows = 1 << (random() % 8), columns = 1 + random() % 300;
      f.add(tensor({rows, columns}, dtypes[random() % 3]), ratios, random() % 2);
    }
    const std::vector<Part> parts = f.divide();
    std::multiset<int> seen;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      EXPECT_TRUE(std::is_sorted(parts[p].case_indices.begin(), parts[p].case_indices.end()));
      seen.insert(parts[p].case_indices.begin(), parts[p].case_indices.end());
      if (parts[p].ranked.empty()) {
        EXPECT_EQ(p, parts.size() - 1);
        continue;
      }
      for (const int index : parts[p].case_indices) {
        const auto position = static_cast<std::size_t>(index - 1);
        EXPECT_TRUE(holds(parts[p].separating, f.cases[position]));
        const auto candidate = static_cast<std::size_t>(parts[p].ranked.front()[1] - '0');
        ASSERT_TRUE(f.screening.ratios[position][candidate].has_value());
        EXPECT_LE(*f.screening.ratios[position][candidate], 1.01);
      }
      for (std::size_t later = p + 1; later < parts.size(); ++later) {
        for (const int index : parts[later].case_indices) {
          EXPECT_FALSE(holds(parts[p].separating, f.cases[static_cast<std::size_t>(index - 1)]))
              << "seed " << seed << " part " << p << " case " << index;
        }
      }
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(cases));
    EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), seen.size());
    EXPECT_LE(parts.size(), 5U);
  }
}

TEST(Subjects, OnlyWhatDiffersCheapFirst) {
  Fixture f;
  f.add(tensor({4, 64}, "float16"), {}, 1);
  f.add(tensor({4, 128}, "float32"), {}, 1);
  std::vector<std::string> texts;
  for (const Subject& subject : distinguishing_subjects(f.task, f.screening.cases)) {
    texts.push_back(to_python(subject, f.task.parameters));
  }
  EXPECT_EQ(texts, (Ids{"x.dtype", "x.size(dim)", "x.size(1)", "x.numel()", "x.stride(0)"}));
}

TEST(SeparatingTest, BroadestTestThatExcludes) {
  Fixture f;
  for (const std::int64_t n : {64, 128, 4096, 100}) f.add(tensor({n}), {});
  const Subject size{Subject::Kind::size, 0, 0, std::nullopt};
  const auto test = [&](std::vector<int> inside, std::vector<int> outside) {
    std::vector<const Case*> in, out;
    for (const int i : inside) in.push_back(f.screening.cases[static_cast<std::size_t>(i)]);
    for (const int i : outside) out.push_back(f.screening.cases[static_cast<std::size_t>(i)]);
    const std::optional<ksplit::Test> found = separating_test(size, in, out);
    return found ? to_python(*found, f.task.parameters) : "none";
  };
  EXPECT_EQ(test({0, 1}, {2}), "64 <= x.size(0) <= 128");
  EXPECT_EQ(test({0, 1}, {3}), "x.size(0) % 16 == 0");
  EXPECT_EQ(test({0, 2}, {1}), "x.size(0) in (64, 4096)");
  EXPECT_EQ(test({0}, {1, 2, 3}), "x.size(0) == 64");
  EXPECT_EQ(test({0}, {0}), "none");
}

}  // namespace
}  // namespace ksplit
