// SPDX-License-Identifier: Apache-2.0
#include "python/constants.h"

#include <gtest/gtest.h>

#include "python/kernels.h"
#include "python/query.h"
#include "source.h"

namespace ksplit {
namespace {

TEST(Constants, EvaluatesWhatIsWrittenOutAndNothingElse) {
  const PythonModule module = test::module_of(
      "A = 64\nB = A * 2\nC = -(3)\nD = [2**i for i in [4, 5]]\nE = (A << 1, 7 // 2, 7 % 4)\n"
      "F = triton.cdiv(A, 2)\nG = 1\nG = 2\nH = -7 // 2\nI = \"x\"\nJ: int = 5\n"
      "K = [a + b for a, b in [(1, 2), (3, 4)]]\nL = [i for i in [1, 2] if i]\n");
  const Constants constants = module_constants(module);
  const Constants expected = {{"A", 64},
                              {"B", 128},
                              {"C", -3},
                              {"D", Literal::List{16, 32}},
                              {"E", Literal::List{128, 3, 3}},
                              {"I", "x"},
                              {"J", 5},
                              {"K", Literal::List{3, 7}}};
  EXPECT_EQ(constants, expected);
}

std::vector<TunedConfig> configs(const std::string& before, const std::string& listed) {
  const PythonModule module = test::module_of(
      "import triton\nimport triton.language as tl\n" + before + "\n@triton.autotune(" + listed +
      ", key=[\"n\"])\n@triton.jit\ndef k(x, n, B: tl.constexpr):\n    pass\n");
  const auto kernels = kernels_of(module);
  EXPECT_EQ(kernels.size(), 1U);
  return configs_of(module, kernels.front()).value_or(std::vector<TunedConfig>{});
}

TEST(Configs, AreReadFromListsNamesAndComprehensions) {
  const std::vector<TunedConfig> two = {{{{"B", 64}}, {{"num_warps", 2}}},
                                        {{{"B", 128}}, {{"num_warps", 2}}}};
  EXPECT_EQ(configs("",
                    "configs=[triton.Config({\"B\": 64}, num_warps=2), "
                    "triton.Config({\"B\": 128}, 2)]"),
            two);
  EXPECT_EQ(configs("C = [triton.Config({\"B\": b}, num_warps=2) for b in (64, 128)]", "C"), two);
  EXPECT_EQ(configs("from triton import Config",
                    "[Config(kwargs={\"B\": 64}, num_warps=2), "
                    "Config({\"B\": 128}, num_warps=2)]"),
            two);
}

TEST(Configs, WhatCannotBeFrozenIsNotRead) {
  EXPECT_TRUE(configs("", "[triton.Config({\"B\": 64}, pre_hook=zero)]").empty());
  EXPECT_TRUE(configs("", "make_configs()").empty());
  EXPECT_TRUE(configs("", "[triton.Config({\"B\": b}) for b in sizes()]").empty());
}

TEST(Kernels, UnderAnyImportedName) {
  const PythonModule module = test::module_of(
      "import triton as t\nfrom triton import jit as compiled, heuristics\n"
      "@t.jit\ndef a(x):\n    pass\n"
      "@heuristics({\"EVEN\": lambda args: args[\"n\"] % 2 == "
      "0})\n@compiled(do_not_specialize=[\"n\"])\n"
      "def b(x, n, EVEN):\n    pass\n"
      "@other.jit\ndef c(x):\n    pass\n"
      "def d(x):\n    pass\n");
  const auto kernels = kernels_of(module);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].name, "a");
  EXPECT_EQ(kernels[1].name, "b");
  EXPECT_EQ(kernels[1].autotune, nullptr);
  EXPECT_EQ(heuristic_names(kernels[1]), std::vector<std::string>{"EVEN"});
}

}  // namespace
}  // namespace ksplit
