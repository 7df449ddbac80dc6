// SPDX-License-Identifier: Apache-2.0
#include "dispatch/router.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <random>
#include <set>

#include "core/files.h"
#include "dispatch/route_order.h"

namespace ksplit {
namespace {

using Kind = Subject::Kind;

// A tensor argument x, an integer dim and a flag keepdim: what a reduction takes.
Task reduction_task() {
  Task task;
  task.op_name = "sum";
  task.parameters = {{"x", Parameter::Kind::positional, ""},
                     {"dim", Parameter::Kind::positional, ""},
                     {"keepdim", Parameter::Kind::positional, "False"}};
  return task;
}

Case reduction_case(int index, std::vector<std::int64_t> shape, std::string dtype,
                    std::int64_t dim = 0, bool contiguous = true) {
  TensorSpec x;
  x.dtype = std::move(dtype);
  x.strides.resize(shape.size());
  std::int64_t stride = contiguous ? 1 : 2;
  for (std::size_t d = shape.size(); d-- > 0;) {
    x.strides[d] = stride;
    stride *= shape[d];
  }
  x.contiguous = contiguous;
  x.shape = std::move(shape);
  return {index, {{"x", x}, {"dim", Literal(dim)}, {"keepdim", Literal(false)}}};
}

Subject of_x(Kind kind, std::int64_t dimension = 0) {
  return {kind, 0, dimension, std::nullopt};
}
Subject reduced() {
  return {Kind::size, 0, 0, 1};
}

ksplit::Test equals(const Subject& subject, Literal value) {
  return {subject, ksplit::Test::Kind::equals, {std::move(value)}, {}};
}
ksplit::Test between(const Subject& subject, std::int64_t low, std::int64_t high) {
  return {subject, ksplit::Test::Kind::between, {low, high}, {}};
}
ksplit::Test is_axis() {
  return {{Kind::value, 1, 0, std::nullopt}, ksplit::Test::Kind::axis_of, {}, of_x(Kind::rank)};
}
ksplit::Test type_of(int argument, const char* name) {
  return equals({Kind::type, argument, 0, std::nullopt}, name);
}

// What a reduction template states for one dtype.
Guard reduction_guard(const std::string& dtype) {
  return {type_of(0, "Tensor"), type_of(1, "int"), equals(of_x(Kind::dtype), "torch." + dtype),
          equals(of_x(Kind::contiguous), true), is_axis()};
}

Candidate reduction_candidate(const std::string& group, std::vector<std::string> dtypes) {
  Candidate candidate;
  candidate.id = group + "#1";
  candidate.group_id = group;
  candidate.host = "sum_" + group;
  for (const std::string& dtype : dtypes) {
    candidate.preconditions.push_back(reduction_guard(dtype));
  }
  candidate.envelope = {of_x(Kind::numel), reduced()};
  return candidate;
}

std::vector<const Case*> pointers(const std::deque<Case>& cases) {
  std::vector<const Case*> result;
  for (const Case& sample : cases) result.push_back(&sample);
  return result;
}

std::vector<const Case*> chosen(const std::deque<Case>& cases, std::vector<int> indices) {
  std::vector<const Case*> result;
  for (const int index : indices) result.push_back(&cases[static_cast<std::size_t>(index - 1)]);
  return result;
}

std::string texts(const std::vector<Guard>& guards, const Task& task) {
  std::string text;
  for (const Guard& guard : guards) {
    for (const ksplit::Test& test : guard) text += to_python(test, task.parameters) + "; ";
    text += "\n";
  }
  return text;
}

TEST(BuildBranch, PreconditionEnvelopeAndNothingElse) {
  const Task task = reduction_task();
  const std::deque<Case> cases = {reduction_case(1, {64, 8}, "float16"),
                                  reduction_case(2, {256, 8}, "float16")};
  const Candidate candidate = reduction_candidate("grp_small", {"float16", "float32"});
  const RouteBranch branch = build_branch({&candidate, pointers(cases), {}}, {}, task).value();
  EXPECT_EQ(branch.host, "sum_grp_small");
  // One alternative: no case is float32.
  EXPECT_EQ(texts(branch.accepts, task),
            "type(x) is torch.Tensor; type(dim) is int; x.dtype == torch.float16; "
            "x.is_contiguous(); -x.dim() <= dim < x.dim(); 512 <= x.numel() <= 2048; "
            "64 <= x.size(dim) <= 256; \n");
}

TEST(BuildBranch, EqualMeasuresBecomeEqualities) {
  const Task task = reduction_task();
  const std::deque<Case> cases = {reduction_case(1, {64, 8}, "float16"),
                                  reduction_case(2, {64, 16}, "float16")};
  const Candidate candidate = reduction_candidate("grp", {"float16"});
  const RouteBranch branch = build_branch({&candidate, pointers(cases), {}}, {}, task).value();
  EXPECT_NE(texts(branch.accepts, task).find("x.size(dim) == 64;"), std::string::npos);
}

TEST(BuildBranch, OutsidersInsideTheEnvelopeAreExcluded) {
  const Task task = reduction_task();
  const std::deque<Case> cases = {reduction_case(1, {64, 8}, "float16"),
                                  reduction_case(2, {256, 8}, "float16"),
                                  reduction_case(3, {8, 128}, "float16", 1)};
  const Candidate candidate = reduction_candidate("grp", {"float16"});
  const RouteBranch branch =
      build_branch({&candidate, chosen(cases, {1, 2}), {}}, chosen(cases, {3}), task).value();
  EXPECT_EQ(route({branch}, cases[0]), 0);
  EXPECT_EQ(route({branch}, cases[1]), 0);
  EXPECT_EQ(route({branch}, cases[2]), -1);
}

TEST(BuildBranch, TestsAddedAreSafeOnAnyInput) {
  // Only the last size tells the cases apart; asking it needs the rank first.
  const Task task = reduction_task();
  const std::deque<Case> cases = {reduction_case(1, {16, 4, 16}, "float16", 1),
                                  reduction_case(2, {4, 4, 64}, "float16", 1)};
  Candidate candidate = reduction_candidate("grp", {"float16"});
  candidate.envelope.clear();
  const RouteBranch branch =
      build_branch({&candidate, chosen(cases, {1}), {equals(of_x(Kind::size, 2), 16)}},
                   chosen(cases, {2}), task)
          .value();
  const std::string text = texts(branch.accepts, task);
  const auto rank = text.find("x.dim() == 3"), size = text.find("x.size(2) == 16");
  EXPECT_LT(rank, size) << text;
  EXPECT_NE(size, std::string::npos) << text;
}

TEST(BuildBranch, CasesThatDifferInNothingCannotBeRouted) {
  const Task task = reduction_task();
  const std::deque<Case> cases = {reduction_case(1, {64}, "float16"),
                                  reduction_case(2, {64}, "float16")};
  const Candidate candidate = reduction_candidate("grp_x", {"float16"});
  const auto branch = build_branch({&candidate, chosen(cases, {1}), {}}, chosen(cases, {2}), task);
  ASSERT_FALSE(branch);
  EXPECT_EQ(branch.error().code, ErrorCode::unsupported);
  EXPECT_EQ(branch.error().message, "no simple test tells cases 1 from cases 2");
  const auto branches =
      build_branches({{&candidate, chosen(cases, {1}), {}}}, pointers(cases), task);
  ASSERT_FALSE(branches);
  EXPECT_TRUE(branches.error().message.starts_with("grp_x: no simple test"));
}

TEST(BuildBranch, ACaseOutsideThePreconditionsIsAnError) {
  const Task task = reduction_task();
  const std::deque<Case> cases = {reduction_case(1, {64}, "float64")};
  const Candidate candidate = reduction_candidate("grp", {"float16"});
  const auto branch = build_branch({&candidate, pointers(cases), {}}, {}, task);
  ASSERT_FALSE(branch);
  EXPECT_NE(branch.error().message.find("no precondition that holds on cases 1"),
            std::string::npos);
}

TEST(BuildBranch, ScatteredCasesTakeSeveralGuards) {
  // Two corners of a square against the other two: no conjunction of ranges does it.
  const Task task = reduction_task();
  const std::deque<Case> cases = {
      reduction_case(1, {16, 16, 4}, "float16", 2), reduction_case(2, {64, 64, 4}, "float16", 2),
      reduction_case(3, {16, 64, 4}, "float16", 2), reduction_case(4, {64, 16, 4}, "float16", 2)};
  Candidate candidate = reduction_candidate("grp", {"float16"});
  candidate.envelope.clear();
  const RouteBranch branch =
      build_branch({&candidate, chosen(cases, {3, 4}), {}}, chosen(cases, {1, 2}), task).value();
  EXPECT_EQ(route({branch}, cases[0]), -1);
  EXPECT_EQ(route({branch}, cases[1]), -1);
  EXPECT_EQ(route({branch}, cases[2]), 0);
  EXPECT_EQ(route({branch}, cases[3]), 0);
}

TEST(Order, TestsOnOneSubjectAreMerged) {
  const Guard guard = {
      type_of(0, "Tensor"),           between(of_x(Kind::rank), 1, 8), is_axis(),
      between(reduced(), 1, 1 << 20), equals(of_x(Kind::rank), 2),     between(reduced(), 64, 256)};
  EXPECT_EQ(texts({simplified(guard)}, reduction_task()),
            "type(x) is torch.Tensor; x.dim() == 2; -x.dim() <= dim < x.dim(); "
            "64 <= x.size(dim) <= 256; \n");
}

TEST(Order, ExcludesOnlyWhatCannotHoldTogether) {
  EXPECT_TRUE(excludes(equals(of_x(Kind::dtype), "torch.float16"),
                       equals(of_x(Kind::dtype), "torch.float32")));
  EXPECT_TRUE(excludes(between(reduced(), 1, 256), between(reduced(), 257, 4096)));
  EXPECT_FALSE(excludes(between(reduced(), 1, 256), between(reduced(), 256, 4096)));
  EXPECT_FALSE(excludes(between(reduced(), 1, 4096), between(reduced(), 16, 64)));
  EXPECT_TRUE(excludes(equals(reduced(), 7), between(reduced(), 8, 9)));
  EXPECT_FALSE(excludes(equals(reduced(), 8), between(reduced(), 8, 9)));
  EXPECT_FALSE(excludes(equals(reduced(), 8), between(of_x(Kind::numel), 9, 9)));
  const Subject dim{Kind::value, 1, 0, std::nullopt};
  EXPECT_FALSE(excludes(equals(dim, 1), equals(dim, true)));  // 1 == True
  EXPECT_FALSE(excludes(equals(dim, 1), equals(dim, 1.0)));
}

// The branches of a split reduction: dtype by size class.
std::vector<RouteBranch> reduction_branches() {
  const auto guard = [](const char* dtype, std::int64_t low, std::int64_t high) {
    Guard result = reduction_guard(dtype);
    result.push_back(between(reduced(), low, high));
    return result;
  };
  return {{"sum_small", {guard("float16", 1, 256), guard("float32", 1, 256)}},
          {"sum_medium", {guard("float16", 257, 4096)}},
          {"sum_wide", {guard("float32", 257, 4096)}}};
}

TEST(Print, SharedTestsOnceAndSubjectsAskedOnce) {
  Task task = reduction_task();
  for (const std::int64_t n : {64, 128, 1024}) {
    task.cases.push_back(reduction_case(1, {n, 8}, "float16"));
    task.cases.push_back(reduction_case(2, {n, 8}, "float32"));
  }
  EXPECT_EQ(route_body(reduction_branches(), task, "super().forward(x, dim, keepdim)"),
            R"(if type(x) is torch.Tensor and type(dim) is int and x.is_contiguous():
    x_shape = x.shape
    x_dim = len(x_shape)
    if -x_dim <= dim < x_dim:
        x_dtype = x.dtype
        x_size_dim = x_shape[dim]
        if x_dtype == torch.float16:
            if 1 <= x_size_dim <= 256:
                return sum_small(self, x, dim, keepdim)
            if 257 <= x_size_dim <= 4096:
                return sum_medium(self, x, dim, keepdim)
        if x_dtype == torch.float32:
            if 1 <= x_size_dim <= 256:
                return sum_small(self, x, dim, keepdim)
            if 257 <= x_size_dim <= 4096:
                return sum_wide(self, x, dim, keepdim)
return super().forward(x, dim, keepdim)
)");
}

TEST(Print, NoBranchesIsTheFallback) {
  EXPECT_EQ(route_body({}, reduction_task(), "super().forward(x)"), "return super().forward(x)\n");
}

TEST(Print, OneBranchIsOneCondition) {
  const std::vector<RouteBranch> branches = {
      {"sum_a", {{type_of(0, "Tensor"), equals(of_x(Kind::rank), 2)}}}};
  EXPECT_EQ(route_body(branches, reduction_task(), "super().forward(x)"),
            "if type(x) is torch.Tensor and x.dim() == 2:\n"
            "    return sum_a(self, x, dim, keepdim)\n"
            "return super().forward(x)\n");
}

TEST(Print, AVariableIsNotReadWhereItWasNotSet) {
  // x.size(1) may be asked only of matrices, so the two ranks cannot share a variable set before.
  const auto guard = [](std::int64_t rank, std::int64_t size) {
    return Guard{type_of(0, "Tensor"), equals(of_x(Kind::rank), rank),
                 equals(of_x(Kind::size, 1), size)};
  };
  const std::vector<RouteBranch> branches = {
      {"a", {guard(2, 8)}}, {"b", {guard(2, 16)}}, {"c", {guard(3, 8)}}};
  Task task = reduction_task();
  EXPECT_EQ(route_body(branches, task, "super().forward(x)"),
            R"(if type(x) is torch.Tensor:
    x_shape = x.shape
    x_dim = len(x_shape)
    if x_dim == 2:
        x_size_1 = x_shape[1]
        if x_size_1 == 8:
            return a(self, x, dim, keepdim)
        if x_size_1 == 16:
            return b(self, x, dim, keepdim)
    if x_dim == 3 and x_shape[1] == 8:
        return c(self, x, dim, keepdim)
return super().forward(x)
)");
}

TEST(Print, LongConditionsAreWrappedAndNamesDoNotCollide) {
  Task task = reduction_task();
  task.parameters.push_back({"x_numel", Parameter::Kind::positional, ""});
  Guard guard = reduction_guard("float16");
  guard.push_back(type_of(2, "bool"));
  const auto with_numel = [&](std::int64_t low, std::int64_t high) {
    Guard result = guard;
    result.push_back(between(of_x(Kind::numel), low, high));
    return result;
  };
  const std::vector<RouteBranch> branches = {{"a", {with_numel(1, 9)}},
                                             {"b", {with_numel(10, 99)}}};
  EXPECT_EQ(route_body(branches, task, "super().forward(x, dim, keepdim, x_numel)"),
            R"(if (
    type(x) is torch.Tensor
    and type(dim) is int
    and type(keepdim) is bool
    and x.is_contiguous()
    and x.dtype == torch.float16
):
    x_dim = x.dim()
    if -x_dim <= dim < x_dim:
        x_numel_ = x.numel()
        if 1 <= x_numel_ <= 9:
            return a(self, x, dim, keepdim, x_numel)
        if 10 <= x_numel_ <= 99:
            return b(self, x, dim, keepdim, x_numel)
return super().forward(x, dim, keepdim, x_numel)
)");
}

TEST(Print, ComparingRanksProtectsTheSizesOfBoth) {
  Task task = reduction_task();
  task.parameters[1].name = "y";
  const Subject y_rank{Kind::rank, 1, 0, std::nullopt}, y_size{Kind::size, 1, 1, std::nullopt};
  const Guard types = {type_of(0, "Tensor"), type_of(1, "Tensor")};
  Guard by_comparison = types, by_value = types;
  by_comparison.push_back(equals(of_x(Kind::dtype), "torch.float16"));
  by_comparison.push_back(equals(of_x(Kind::rank), 2));
  by_comparison.push_back({of_x(Kind::rank), ksplit::Test::Kind::equals_subject, {}, y_rank});
  by_comparison.push_back(equals(y_size, 8));
  by_value.push_back(equals(of_x(Kind::dtype), "torch.float32"));
  by_value.push_back(equals(y_rank, 2));
  by_value.push_back(equals(y_size, 16));
  const std::vector<RouteBranch> branches = {{"a", {by_comparison}}, {"b", {by_value}}};
  const std::string text = route_body(branches, task, "super().forward(x, y)");
  const auto type = text.find("type(y)"), first_if = text.find("if x_dtype"),
             size = text.find("y_shape[1]");
  EXPECT_LT(type, first_if) << text;
  EXPECT_LT(first_if, size) << text;
}

// Random branches over a small space of subjects, so that inputs hit many of them.
struct RandomRouter {
  std::vector<RouteBranch> branches;
  std::deque<Case> cases;

  explicit RandomRouter(std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int below) {
      return static_cast<int>(random() % static_cast<unsigned>(below));
    };
    const std::vector<std::string> dtypes = {"float16", "float32", "bfloat16"};
    const auto random_guard = [&] {
      Guard guard = {type_of(0, "Tensor")};
      if (pick(2)) guard.push_back(equals(of_x(Kind::dtype), "torch." + dtypes[pick(3)]));
      if (pick(2)) guard.push_back(equals(of_x(Kind::contiguous), pick(3) > 0));
      guard.push_back(type_of(1, "int"));
      guard.push_back(is_axis());
      if (pick(3) > 0) {
        const int low = pick(6);
        guard.push_back(between(reduced(), low, low + pick(6)));
      }
      if (pick(2)) {
        guard.push_back(equals(of_x(Kind::rank), 2));
        guard.push_back(between(of_x(Kind::size, 1), pick(4), 4 + pick(4)));
      }
      return simplified(guard);
    };
    const int count = 1 + pick(6);
    for (int b = 0; b < count; ++b) {
      RouteBranch branch{"host" + std::to_string(b), {}};
      for (int g = 0; g <= pick(3); ++g) branch.accepts.push_back(random_guard());
      branches.push_back(std::move(branch));
    }
    for (int i = 0; i < 60; ++i) {
      std::vector<std::int64_t> shape;
      for (int d = 0; d <= pick(3); ++d) shape.push_back(1 + pick(9));
      const int dim = pick(static_cast<int>(shape.size()));
      cases.push_back(reduction_case(i + 1, shape, dtypes[pick(3)], dim, pick(4) > 0));
    }
  }
};

// What the tree returns is what the list of branches returns, on cases the search was shown and on
// others; and the guard of the branch taken holds.
TEST(RouteTree, MeansTheFirstBranchThatAccepts) {
  std::set<int> taken;
  for (std::uint32_t seed = 0; seed < 120; ++seed) {
    const RandomRouter router(seed);
    std::vector<const Case*> shown = pointers(router.cases);
    shown.resize(20);
    const RouteBlock tree = build_route_tree(router.branches, shown);
    for (const Case& sample : router.cases) {
      const int expected = route(router.branches, sample);
      EXPECT_EQ(walk(tree, sample).branch, expected) << "seed " << seed << " case " << sample.index;
      taken.insert(expected);
    }
  }
  EXPECT_GE(taken.size(), 5U);
}

// The same in Python, with stand-ins for tensors; inputs of the wrong kind go to the base, and
// nothing raises.
TEST(RouteTree, PrintedFormMeansTheSame) {
  Task task = reduction_task();
  std::string script = R"(import sys
from types import SimpleNamespace

class Tensor:
    def __init__(self, dtype, shape, strides, contiguous):
        self.dtype, self.shape, self.strides, self.contiguous = dtype, shape, strides, contiguous
    def dim(self): return len(self.shape)
    def size(self, d): return self.shape[d]
    def is_contiguous(self): return self.contiguous

torch = SimpleNamespace(Tensor=Tensor, float16=16, float32=32, bfloat16=8)
wrong = 0
)";
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const RandomRouter router(seed);
    task.cases.assign(router.cases.begin(), router.cases.begin() + 20);
    script += "def route(self, x, dim, keepdim):\n    ";
    for (const char c : route_body(router.branches, task, "-1")) {
      script += c;
      if (c == '\n') script += "    ";
    }
    script += "pass\n";
    for (std::size_t b = 0; b < router.branches.size(); ++b) {
      script += fmt::format("{} = lambda *_: {}\n", router.branches[b].host, b);
    }
    for (const Case& sample : router.cases) {
      const TensorSpec& x = *sample.inputs[0].tensor();
      script += fmt::format("wrong += route(0, Tensor(torch.{}, {}, {}, {}), {}, False) != {}\n",
                            x.dtype, x.shape, x.strides, x.contiguous ? "True" : "False",
                            to_python(*sample.inputs[1].literal()), route(router.branches, sample));
    }
    script += "wrong += route(0, None, 0, False) != -1\n";
    for (const char* dim : {"None", "True", "0.0", "7", "-7"}) {
      script += fmt::format(
          "wrong += route(0, Tensor(torch.float16, [4, 4], [4, 1], True), {}, False) != -1\n", dim);
    }
  }
  script += "sys.exit(wrong != 0)\n";
  const auto path = std::filesystem::path(testing::TempDir()) / "ksplit_router_test.py";
  ASSERT_TRUE(write_file(path, script));
  EXPECT_EQ(std::system(fmt::format("python3 '{}'", path.string()).c_str()), 0);
}

// A walk that fails at once on a test without a value would hide an unsafe order: each size must
// come after the tests that its guard states before it.
void expect_protected(const RouteBlock& block, Guard known,
                      const std::vector<RouteBranch>& branches, std::uint32_t seed) {
  for (const RouteBlock::Statement& statement : block.statements) {
    Guard path = known;
    for (const ksplit::Test& test : statement.tests) {
      bool safe = false;
      for (const RouteBranch& branch : branches) {
        for (const Guard& guard : branch.accepts) {
          const auto at = std::find(guard.begin(), guard.end(), test);
          if (at == guard.end()) continue;
          safe = safe || std::all_of(guard.begin(), at, [&](const ksplit::Test& earlier) {
                   return !protects(earlier, test) ||
                          std::find(path.begin(), path.end(), earlier) != path.end();
                 });
        }
      }
      EXPECT_TRUE(safe) << "seed " << seed;
      path.push_back(test);
    }
    expect_protected(statement.body, path, branches, seed);
  }
}

TEST(RouteTree, NeverAsksBeforeItIsSafe) {
  for (std::uint32_t seed = 0; seed < 120; ++seed) {
    const RandomRouter router(seed);
    expect_protected(build_route_tree(router.branches, pointers(router.cases)), {}, router.branches,
                     seed);
  }
}

TEST(RouteTree, CostsNoMoreTestsThanTheList) {
  std::int64_t tree_tests = 0, list_tests = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const RandomRouter router(seed);
    const RouteBlock tree = build_route_tree(router.branches, pointers(router.cases));
    std::int64_t in_tree = 0, in_list = 0;
    for (const Case& sample : router.cases) {
      in_tree += walk(tree, sample).tests;
      bool done = false;
      for (const RouteBranch& branch : router.branches) {
        for (const Guard& guard : branch.accepts) {
          if (done) break;
          std::size_t passed = 0;
          while (passed < guard.size() && holds(guard[passed], sample)) ++passed;
          done = passed == guard.size();
          in_list += static_cast<std::int64_t>(passed) + (done ? 0 : 1);
        }
      }
    }
    tree_tests += in_tree;
    list_tests += in_list;
  }
  EXPECT_LT(tree_tests, list_tests * 7 / 10);
}

// Parts of random groups: each case takes its part's branch, and whatever input takes a branch
// satisfies a precondition of its kernel and lies within the measured range.
TEST(BuildBranches, RouteEveryCaseHomeAndImplyThePreconditions) {
  const Task task = reduction_task();
  int routed = 0;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    std::deque<Case> cases, unseen;
    const std::vector<std::string> dtypes = {"float16", "float32"};
    const auto random_case = [&](int index) {
      const std::int64_t rows = 1 << (random() % 7), columns = 1 << (random() % 7);
      return reduction_case(index, {rows, columns}, dtypes[random() % 2],
                            static_cast<std::int64_t>(random() % 2), random() % 5 > 0);
    };
    for (int i = 1; i <= 12; ++i) cases.push_back(random_case(i));
    for (int i = 1; i <= 80; ++i) unseen.push_back(random_case(i));

    const Candidate small = reduction_candidate("grp_small", dtypes);
    const Candidate large = reduction_candidate("grp_large", dtypes);
    RoutedPart parts[2] = {{&small, {}, {}}, {&large, {}, {}}};
    for (const Case& sample : cases) {
      if (!holds(equals(of_x(Kind::contiguous), true), sample) || random() % 5 == 0) continue;
      const std::int64_t size = *evaluate(reduced(), sample)->as_int();
      parts[size > 8].cases.push_back(&sample);
    }
    std::vector<RoutedPart> present;
    for (RoutedPart& part : parts) {
      if (!part.cases.empty()) present.push_back(part);
    }
    const auto branches = build_branches(present, pointers(cases), task);
    if (!branches) {  // two cases alike in everything, one of them on the base
      EXPECT_EQ(branches.error().code, ErrorCode::unsupported);
      continue;
    }
    ++routed;
    for (const Case& sample : unseen) {
      const int taken = route(*branches, sample);
      if (taken < 0) continue;
      const RoutedPart& part = present[static_cast<std::size_t>(taken)];
      EXPECT_TRUE(std::any_of(part.candidate->preconditions.begin(),
                              part.candidate->preconditions.end(),
                              [&](const Guard& guard) { return holds(guard, sample); }));
      std::int64_t low = INT64_MAX, high = 0;
      for (const Case* measured : part.cases) {
        low = std::min(low, measured->inputs[0].tensor()->numel());
        high = std::max(high, measured->inputs[0].tensor()->numel());
      }
      EXPECT_LE(low, sample.inputs[0].tensor()->numel());
      EXPECT_GE(high, sample.inputs[0].tensor()->numel());
    }
  }
  EXPECT_GE(routed, 100);
}

}  // namespace
}  // namespace ksplit
