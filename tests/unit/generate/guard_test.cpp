// SPDX-License-Identifier: Apache-2.0
#include "generate/guard.h"

#include <gtest/gtest.h>

namespace ksplit {
namespace {

using Kind = Subject::Kind;
using Is = Test::Kind;

/// forward(x, dim, alpha, y) on a [4, 1, 6] matrix, dim 1, alpha 2.0 and a transposed [6, 4] one.
Case example() {
  TensorSpec x{"float16", {4, 1, 6}, {6, 6, 1}, 0, 16, true};
  TensorSpec y{"float16", {6, 4}, {1, 6}, 3, 2, false};
  return Case{1, {{"x", x}, {"dim", Literal(1)}, {"alpha", Literal(2.0)}, {"y", y}}};
}

const std::vector<Parameter> kParameters = {{"x", Parameter::Kind::positional, ""},
                                            {"dim", Parameter::Kind::positional, ""},
                                            {"alpha", Parameter::Kind::positional, ""},
                                            {"y", Parameter::Kind::positional, ""}};

Subject subject(Kind kind, int argument, std::int64_t dimension = 0,
                std::optional<int> dimension_argument = {}) {
  return Subject{kind, argument, dimension, dimension_argument};
}

struct EvaluateRow {
  Subject subject;
  std::optional<Literal> value;
  const char* python;
};

class Evaluate : public ::testing::TestWithParam<EvaluateRow> {};

TEST_P(Evaluate, HasOneMeaning) {
  EXPECT_EQ(evaluate(GetParam().subject, example()), GetParam().value);
  EXPECT_EQ(to_python(GetParam().subject, kParameters), GetParam().python);
}

INSTANTIATE_TEST_SUITE_P(
    Subjects, Evaluate,
    ::testing::Values(EvaluateRow{subject(Kind::dtype, 0), "torch.float16", "x.dtype"},
                      EvaluateRow{subject(Kind::rank, 0), 3, "x.dim()"},
                      EvaluateRow{subject(Kind::size, 0, -1), 6, "x.size(-1)"},
                      EvaluateRow{subject(Kind::size, 0, 3), std::nullopt, "x.size(3)"},
                      EvaluateRow{subject(Kind::size, 0, -4), std::nullopt, "x.size(-4)"},
                      EvaluateRow{subject(Kind::size, 0, 0, 1), 1, "x.size(dim)"},
                      EvaluateRow{subject(Kind::size, 0, 0, 2), std::nullopt, "x.size(alpha)"},
                      EvaluateRow{subject(Kind::stride, 3, 1), 6, "y.stride(1)"},
                      EvaluateRow{subject(Kind::numel, 3), 24, "y.numel()"},
                      EvaluateRow{subject(Kind::shape, 3), Literal::List{6, 4}, "y.shape"},
                      EvaluateRow{subject(Kind::contiguous, 3), false, "y.is_contiguous()"},
                      EvaluateRow{subject(Kind::aligned, 3), false, "y.data_ptr() % 16 == 0"},
                      EvaluateRow{subject(Kind::aligned, 0), true, "x.data_ptr() % 16 == 0"},
                      EvaluateRow{subject(Kind::value, 2), 2.0, "alpha"},
                      EvaluateRow{subject(Kind::value, 0), std::nullopt, "x"},
                      EvaluateRow{subject(Kind::type, 1), "int", "type(dim)"},
                      EvaluateRow{subject(Kind::type, 0), "Tensor", "type(x)"},
                      EvaluateRow{subject(Kind::grad, 0), false, "x.requires_grad"},
                      EvaluateRow{subject(Kind::numel, 1), std::nullopt, "dim.numel()"}));

struct TestRow {
  Test test;
  bool holds;
  const char* python;
};

class Holds : public ::testing::TestWithParam<TestRow> {};

TEST_P(Holds, AsWritten) {
  EXPECT_EQ(holds(GetParam().test, example()), GetParam().holds);
  EXPECT_EQ(to_python(GetParam().test, kParameters), GetParam().python);
}

INSTANTIATE_TEST_SUITE_P(
    Tests, Holds,
    ::testing::Values(
        TestRow{{subject(Kind::dtype, 0), Is::equals, {"torch.float16"}, {}},
                true,
                "x.dtype == torch.float16"},
        TestRow{{subject(Kind::dtype, 0), Is::one_of, {"torch.float32", "torch.bfloat16"}, {}},
                false,
                "x.dtype in (torch.float32, torch.bfloat16)"},
        TestRow{{subject(Kind::size, 0, 2), Is::between, {2, 6}, {}}, true, "2 <= x.size(2) <= 6"},
        TestRow{{subject(Kind::size, 0, 2), Is::between, {7, 9}, {}}, false, "7 <= x.size(2) <= 9"},
        TestRow{{subject(Kind::size, 0, 5), Is::between, {0, 9}, {}}, false, "0 <= x.size(5) <= 9"},
        TestRow{{subject(Kind::numel, 0), Is::divisible, {8}, {}}, true, "x.numel() % 8 == 0"},
        TestRow{{subject(Kind::numel, 0), Is::divisible, {16}, {}}, false, "x.numel() % 16 == 0"},
        TestRow{
            {subject(Kind::contiguous, 3), Is::equals, {false}, {}}, true, "not y.is_contiguous()"},
        TestRow{{subject(Kind::grad, 0), Is::equals, {false}, {}}, true, "not x.requires_grad"},
        TestRow{{subject(Kind::type, 1), Is::equals, {"int"}, {}}, true, "type(dim) is int"},
        TestRow{{subject(Kind::type, 1), Is::equals, {"list"}, {}},
                false,
                "type(dim) in (list, tuple)"},
        TestRow{{subject(Kind::type, 1), Is::one_of, {"NoneType", "list"}, {}},
                false,
                "type(dim) in (type(None), list, tuple)"},
        TestRow{
            {subject(Kind::type, 0), Is::equals, {"Tensor"}, {}}, true, "type(x) is torch.Tensor"},
        TestRow{{subject(Kind::value, 1), Is::equals, {1.0}, {}}, true, "dim == 1.0"},
        TestRow{{subject(Kind::value, 1), Is::equals, {true}, {}}, false, "dim is True"},
        TestRow{{subject(Kind::value, 1), Is::equals, {Literal()}, {}}, false, "dim is None"},
        TestRow{{subject(Kind::value, 1), Is::one_of, {true, 7}, {}}, true, "dim in (True, 7)"},
        TestRow{{subject(Kind::value, 1), Is::equals, {Literal::List{1, 2}}, {}},
                false,
                "list(dim) == [1, 2]"},
        TestRow{{subject(Kind::shape, 3), Is::equals, {Literal::List{6, 4}}, {}},
                true,
                "y.shape == (6, 4)"},
        TestRow{{subject(Kind::shape, 3), Is::equals, {Literal::List{6}}, {}},
                false,
                "y.shape == (6,)"},
        TestRow{{subject(Kind::size, 0, 0), Is::equals_subject, {}, subject(Kind::size, 3, 1)},
                true,
                "x.size(0) == y.size(1)"},
        TestRow{{subject(Kind::device, 0), Is::equals_subject, {}, subject(Kind::device, 3)},
                true,
                "x.get_device() == y.get_device()"},
        TestRow{{subject(Kind::device, 0), Is::equals, {0}, {}}, false, "x.get_device() == 0"},
        TestRow{{subject(Kind::value, 1), Is::axis_of, {}, subject(Kind::rank, 0)},
                true,
                "-x.dim() <= dim < x.dim()"},
        TestRow{{subject(Kind::value, 1), Is::axis_of, {}, subject(Kind::rank, 1)},
                false,
                "-dim.dim() <= dim < dim.dim()"}));

TEST(GuardTest, HoldsWhenAllTestsDo) {
  const ksplit::Test yes{subject(Kind::rank, 0), Is::equals, {3}, {}};
  const ksplit::Test no{subject(Kind::rank, 0), Is::equals, {2}, {}};
  EXPECT_TRUE(holds(Guard{}, example()));
  EXPECT_TRUE(holds(Guard{yes, yes}, example()));
  EXPECT_FALSE(holds(Guard{yes, no}, example()));
}

TEST(GuardTest, ArgumentsWithoutValueFailEveryTest) {
  const Case sample{1, {{"x", Opaque{"<function>"}}}};
  EXPECT_EQ(evaluate(subject(Kind::type, 0), sample), std::nullopt);
  EXPECT_EQ(evaluate(subject(Kind::value, 4), sample), std::nullopt);
  EXPECT_FALSE(holds(ksplit::Test{subject(Kind::type, 0), Is::equals, {"Tensor"}, {}}, sample));
}

struct ImpliesRow {
  Guard known;
  Test test;
  bool implied;
};

class Implies : public ::testing::TestWithParam<ImpliesRow> {};

TEST_P(Implies, IsSound) {
  EXPECT_EQ(implies(GetParam().known, GetParam().test), GetParam().implied);
}

const Subject kSize = subject(Kind::size, 0, 1);
const Subject kOther = subject(Kind::size, 3, 0);

INSTANTIATE_TEST_SUITE_P(
    Pairs, Implies,
    ::testing::Values(
        ImpliesRow{{}, {kSize, Is::equals, {4}, {}}, false},
        ImpliesRow{{{kSize, Is::equals, {4}, {}}}, {kSize, Is::between, {1, 4}, {}}, true},
        ImpliesRow{{{kSize, Is::equals, {4}, {}}}, {kSize, Is::between, {5, 9}, {}}, false},
        ImpliesRow{{{kOther, Is::equals, {4}, {}}}, {kSize, Is::between, {1, 4}, {}}, false},
        ImpliesRow{{{kSize, Is::between, {2, 4}, {}}}, {kSize, Is::between, {1, 4}, {}}, true},
        ImpliesRow{{{kSize, Is::between, {0, 4}, {}}}, {kSize, Is::between, {1, 4}, {}}, false},
        ImpliesRow{{{kSize, Is::between, {4, 4}, {}}}, {kSize, Is::equals, {4}, {}}, true},
        ImpliesRow{{{kSize, Is::one_of, {4, 8}, {}}}, {kSize, Is::divisible, {4}, {}}, true},
        ImpliesRow{{{kSize, Is::one_of, {4, 6}, {}}}, {kSize, Is::divisible, {4}, {}}, false},
        ImpliesRow{{{kSize, Is::divisible, {16}, {}}}, {kSize, Is::divisible, {8}, {}}, true},
        ImpliesRow{{{kSize, Is::divisible, {8}, {}}}, {kSize, Is::divisible, {16}, {}}, false},
        ImpliesRow{{{kSize, Is::one_of, {1, 2}, {}}}, {kSize, Is::equals, {true}, {}}, false},
        ImpliesRow{{{kSize, Is::equals_subject, {}, kOther}},
                   {kOther, Is::equals_subject, {}, kSize},
                   true},
        ImpliesRow{{{kSize, Is::equals, {4}, {}}}, {kSize, Is::equals_subject, {}, kOther}, false},
        ImpliesRow{{{kSize, Is::between, {1, 9}, {}}, {kSize, Is::equals, {3}, {}}},
                   {kSize, Is::between, {2, 4}, {}},
                   true}));

}  // namespace
}  // namespace ksplit
