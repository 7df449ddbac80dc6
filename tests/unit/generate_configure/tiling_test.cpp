// SPDX-License-Identifier: Apache-2.0
#include "generate/configure/tiling.h"

#include <gtest/gtest.h>

#include "base_samples.h"

namespace ksplit {
namespace {

constexpr const char* kHead =
    "import torch\nimport triton\nimport triton.language as tl\n\nSIZE = 64\nMOVING = 64\n"
    "MOVING = 32\nSHARED = 64\n\n\n@triton.jit\ndef other(x):\n    tl.store(x, "
    "SHARED)\n\n\n@triton.jit\ndef k(x, n, B: tl.constexpr = 64):\n    pass\n\n\n";

// Where the tile size of 64 comes from, in the words of TileSource.
std::string source(const std::string& host) {
  Launch launch;
  launch.kernel = "k";
  launch.arguments = {test::pointer("x"), test::value("n", 100), test::constant("B", 64)};
  const test::Sample sample = test::small_sample(kHead + host, {launch});
  const Result<HostGraph> graph = host_graph(sample.base);
  if (!graph) return graph.error().message;
  const auto uses = kernel_uses(*graph, sample.context());
  const auto sources = tile_sources(sample.base, *graph, *uses);
  if (sources.empty()) return "none";
  EXPECT_EQ(sources.size(), 1U);
  const TileSource& only = sources.front();
  std::string text;
  for (const PythonNode* literal : only.literals) {
    text += "line " + std::to_string(literal->line) + " ";
  }
  if (!only.constant.empty()) text += "constant " + only.constant;
  if (!only.attribute.empty()) text += "attribute " + only.owner + "." + only.attribute;
  if (only.added) text += "added";
  return text;
}

std::string in_forward(const std::string& body) {
  return source("class ModelNew(torch.nn.Module):\n    def forward(self, x):\n" + body);
}

struct Row {
  const char* name;
  const char* body;
  const char* expected;
};

class InForward : public testing::TestWithParam<Row> {};

TEST_P(InForward, SourceOfATile) {
  EXPECT_EQ(in_forward(GetParam().body), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Tiles, InForward,
    testing::Values(
        Row{"keyword", "        k[(1,)](x, 100, B=64)\n", "line 23 "},
        Row{"position", "        k[(1,)](x, 100, 64)\n", "line 23 "},
        Row{"keyword_and_grid", "        k[(100 // 64,)](x, 100, B=64)\n", "none"},
        Row{"local", "        B = 64\n        k[(100 // B,)](x, 100, B=B)\n", "line 23 "},
        Row{"local_assigned_twice",
            "        B = 64\n        B = 64\n        k[(1,)](x, 100, B=B)\n", "none"},
        Row{"computed", "        B = triton.next_power_of_2(60)\n        k[(1,)](x, 100, B=B)\n",
            "none"},
        Row{"conditional", "        B = 64 if x else 32\n        k[(1,)](x, 100, B=B)\n", "none"},
        Row{"module_constant", "        k[(1,)](x, 100, B=SIZE)\n", "constant SIZE"},
        Row{"module_constant_of_a_kernel", "        k[(1,)](x, 100, B=SHARED)\n", "none"},
        Row{"module_variable", "        k[(1,)](x, 100, B=MOVING)\n", "none"},
        Row{"default_of_the_kernel", "        k[(1,)](x, 100)\n", "added"},
        Row{"hidden_in_keywords", "        k[(1,)](x, 100, **options)\n", "none"},
        Row{"other_value", "        B = 32\n        k[(1,)](x, 100, B=B)\n", "none"},
        Row{"two_sites",
            "        if x:\n            k[(1,)](x, 100, B=64)\n        else:\n"
            "            B = 64\n            k[(2,)](x, 100, B=B)\n",
            "none"}),
    [](const auto& info) { return info.param.name; });

TEST(Tiles, ThroughParametersOfHelpers) {
  EXPECT_EQ(source("def run(x, block=64):\n    k[(100 // block,)](x, 100, B=block)\n\n\n"
                   "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
                   "        run(x)\n        run(x)\n"),
            "line 21 ");
  EXPECT_EQ(source("def run(x, block):\n    k[(100 // block,)](x, 100, B=block)\n\n\n"
                   "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
                   "        run(x, block=64)\n"),
            "line 27 ");
  EXPECT_EQ(source("def run(x, block):\n    k[(100 // block,)](x, 100, B=block)\n\n\n"
                   "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
                   "        run(x, 64)\n        run(x, 32)\n"),
            "none");
}

TEST(Tiles, FromAnAttributeOfTheModel) {
  const std::string model =
      "class ModelNew(torch.nn.Module):\n    def __init__(self):\n        self.b = 64\n";
  const std::string forward = "    def forward(self, x):\n        k[(1,)](x, 100, B=self.b)\n";
  EXPECT_EQ(source(model + forward), "attribute ModelNew.b");
  EXPECT_EQ(source(model + "        self.b = 64\n" + forward), "none");
}

}  // namespace
}  // namespace ksplit
