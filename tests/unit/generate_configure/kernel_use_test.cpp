// SPDX-License-Identifier: Apache-2.0
#include "generate/configure/kernel_use.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base_samples.h"

namespace ksplit {
namespace {

struct Row {
  const char* name;
  const char* body;        // of a kernel with parameters x, n, m, f
  const char* annotation;  // of n
  Literal n;
  const char* expected;
};

std::string fixable(const Row& row) {
  const std::string text =
      "import torch\nimport triton\nimport triton.language as tl\n\n\n"
      "@triton.jit\ndef inner(a):\n    return a.to(tl.int64)\n\n\n"
      "@triton.jit\ndef outer(b, c):\n    return inner(a=c) + b\n\n\n"
      "@triton.jit\ndef k(x, n" +
      std::string(row.annotation) + ", m, f):\n    " + row.body +
      "\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
      "        k[(1,)](x, 1, 2, 0.5)\n";
  Launch launch;
  launch.kernel = "k";
  launch.arguments = {test::pointer("x"), test::value("n", row.n), test::value("m", 8),
                      test::value("f", 0.5)};
  const test::Sample sample = test::small_sample(text, {launch});
  const Result<HostGraph> graph = host_graph(sample.base);
  const auto uses = kernel_uses(*graph, sample.context());
  const FixableParameters parameters = fixable_parameters(*graph, uses->front());
  std::string names;
  for (const auto& parameter : parameters.integers) names += parameter.name + " ";
  names += "|";
  for (const auto& parameter : parameters.floats) names += " " + parameter.name;
  return names;
}

class Fixable : public testing::TestWithParam<Row> {};

TEST_P(Fixable, OnlyWhereAConstantMeansTheSame) {
  EXPECT_EQ(fixable(GetParam()), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, Fixable,
    testing::Values(
        Row{"plain", "tl.store(x, n + m)", "", 3, "n m | f"},
        Row{"flag", "pass", "", true, "n m | f"}, Row{"zero", "pass", "", 0, "n m | f"},
        Row{"negative", "pass", "", -1, "m | f"},
        Row{"beyond_int32", "pass", "", Literal(std::int64_t{1} << 31), "m | f"},
        Row{"none", "pass", "", Literal{}, "m | f"},
        Row{"annotated_int", "pass", ": int", 3, "n m | f"},
        Row{"annotated_width", "pass", ": tl.int64", 3, "m | f"},
        Row{"assigned", "n = n * 2", "", 3, "m | f"}, Row{"augmented", "n += 1", "", 3, "m | f"},
        Row{"attribute", "tl.store(x, n.to(tl.int64))", "", 3, "m | f"},
        Row{"tensor_only_function", "tl.store(x, tl.multiple_of(n, 16))", "", 3, "m | f"},
        Row{"helper_that_refuses", "tl.store(x, inner(n))", "", 3, "m | f"},
        Row{"helper_of_a_helper", "tl.store(x, outer(n, m))", "", 3, "n | f"},
        Row{"expression_to_helper", "tl.store(x, inner(n * tl.program_id(0)))", "", 3, "n m | f"}),
    [](const auto& info) { return info.param.name; });

TEST(KernelUse, ValuesThatVaryOverTheGroupAreNoConstants) {
  const test::Sample sample = test::layers_sample();
  const Result<HostGraph> graph = host_graph(sample.base);
  const auto uses = kernel_uses(*graph, sample.context());
  ASSERT_EQ(uses->size(), 2U);
  EXPECT_EQ((*uses)[0].launches.size(), 2U);
  EXPECT_EQ(constant_argument((*uses)[0], "n"), std::nullopt);
  EXPECT_EQ(constant_argument((*uses)[0], "BLOCK"), Literal(128));
  EXPECT_EQ(constant_argument((*uses)[0], "x_ptr"), std::nullopt);
  EXPECT_EQ(constant_argument((*uses)[0], "absent"), std::nullopt);
}

}  // namespace
}  // namespace ksplit
