// SPDX-License-Identifier: Apache-2.0
#include "python/host_graph.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "source.h"

namespace ksplit {
namespace {

constexpr const char* kImports =
    "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n\n";
constexpr const char* kKernel = "@triton.jit\ndef k(x, n, B: tl.constexpr):\n    pass\n\n\n";

// "forward: launch k; helper: ..." in a form that tests can state.
std::string describe(const std::string& text) {
  const PythonModule module = test::module_of(kImports + text);
  const Result<HostGraph> graph = host_graph(module);
  if (!graph) return graph.error().message;
  std::string result;
  for (std::size_t i = 0; i < graph->units.size(); ++i) {
    const HostUnit& unit = graph->units[i];
    result += (unit.owner.empty() ? "" : unit.owner + ".") + unit.name;
    if (unit.launches) result += "!";
    result += ":";
    for (const HostReference& reference : graph->references) {
      if (reference.from != static_cast<int>(i)) continue;
      result += " " + std::string(module.source_of(*reference.node));
      if (reference.receiver != nullptr) {
        result += fmt::format("({})", module.source_of(*reference.receiver));
      }
    }
    for (const LaunchSite& launch : graph->launches) {
      if (launch.from != static_cast<int>(i)) continue;
      result += " launch";
      for (const int kernel : launch.kernels) {
        result += " " + graph->kernels[static_cast<std::size_t>(kernel)].name;
      }
    }
    result += "; ";
  }
  return result;
}

std::string with_forward(const std::string& body) {
  return std::string(kKernel) + "class ModelNew(nn.Module):\n    def forward(self, x):\n" + body;
}

TEST(HostGraph, LaunchInForward) {
  EXPECT_EQ(describe(with_forward("        k[(1,)](x, 3, B=16)\n")),
            "ModelNew.forward!: k launch k; ");
}

TEST(HostGraph, LaunchThroughFunctionsAndMethods) {
  EXPECT_EQ(describe(std::string(kKernel) +
                     "def size(n):\n    return n\n\n\n"
                     "def run(x):\n    grid = lambda meta: (triton.cdiv(size(3), meta[\"B\"]),)\n"
                     "    k[grid](x, 3, B=16)\n\n\n"
                     "class ModelNew(nn.Module):\n"
                     "    @staticmethod\n    def check(x):\n        return x\n\n"
                     "    def inner(self, x):\n        return run(x)\n\n"
                     "    def forward(self, x):\n        return self.inner(self.check(x))\n"),
            "ModelNew.forward!: self.inner(self) self.check; "
            "ModelNew.inner!: run; ModelNew.check:; run!: size k launch k; size:; ");
}

TEST(HostGraph, AliasesAndAttributes) {
  EXPECT_EQ(describe(std::string(kKernel) +
                     "@triton.jit\ndef other(x, n, B: tl.constexpr):\n    pass\n\n\n"
                     "class ModelNew(nn.Module):\n"
                     "    def __init__(self):\n        self.kernel = k\n\n"
                     "    def forward(self, x):\n        self.kernel[(1,)](x, 1, 16)\n"
                     "        f = k if x else other\n        f[(2,)](x, 1, 16)\n"),
            "ModelNew.forward!: k other self.kernel launch k launch k other; ");
}

TEST(HostGraph, AutogradFunctionsAndSubmodules) {
  EXPECT_EQ(
      describe(std::string(kKernel) + "class Op(torch.autograd.Function):\n    @staticmethod\n"
                                      "    def forward(ctx, x):\n        k[(1,)](x, 1, 16)\n\n\n"
                                      "class Layer(nn.Module):\n    def forward(self, x):\n"
                                      "        return Op.apply(x)\n\n\n"
                                      "class ModelNew(nn.Module):\n"
                                      "    def __init__(self):\n        self.layer = Layer()\n\n"
                                      "    def forward(self, x):\n        return self.layer(x)\n"),
      "ModelNew.forward!: self.layer(self.layer); Layer.forward!: Op; Op!: k launch k; ");
}

TEST(HostGraph, ForwardOfABaseClassCallsTheOverridingMethod) {
  EXPECT_EQ(describe(std::string(kKernel) +
                     "class Common(nn.Module):\n    def run(self, x):\n        return x\n\n"
                     "    def forward(self, x):\n        return self.run(x)\n\n\n"
                     "class ModelNew(Common):\n    def run(self, x):\n"
                     "        k[(1,)](x, 1, 16)\n"),
            "ModelNew.forward!: self.run(self); ModelNew.run!: k launch k; ");
}

TEST(HostGraph, ShadowedNamesAreNotKernels) {
  EXPECT_EQ(describe(with_forward("        k = make()\n        k[(1,)](x)\n")),
            "base_kernel.py:12: ModelNew.forward reaches no kernel by name");
}

TEST(HostGraph, RecursionEnds) {
  EXPECT_EQ(describe(std::string(kKernel) +
                     "def run(x):\n    k[(1,)](x, 1, 16)\n    return run(x)\n\n\n"
                     "class ModelNew(nn.Module):\n    def forward(self, x):\n        run(x)\n"),
            "ModelNew.forward!: run; run!: k run launch k; ");
}

TEST(HostGraph, RefusalsNameTheLine) {
  EXPECT_EQ(describe("x = 1\n"), "base_kernel.py: no class ModelNew");
  EXPECT_EQ(describe("class ModelNew(nn.Module):\n    pass\n"),
            "base_kernel.py:6: ModelNew has no forward in this file");
  EXPECT_EQ(describe("class ModelNew(nn.Module):\n    def forward(self, x):\n        return x\n"),
            "base_kernel.py: defines no @triton.jit kernel at the top level");
  EXPECT_EQ(describe(with_forward("        return getattr(self, \"k\")(x)\n")),
            "base_kernel.py:12: ModelNew.forward reaches no kernel by name");
}

TEST(Attributes, OneAssignmentOrNone) {
  const PythonModule module = test::module_of(
      "class ModelNew:\n    B = 64\n    def __init__(self):\n        self.a = 1\n"
      "        self.b = 1\n        self.b = 2\n        self.B.x = self.a\n");
  EXPECT_EQ(module.source_of(*attribute_value(module, "ModelNew", "a")), "1");
  EXPECT_EQ(module.source_of(*attribute_value(module, "ModelNew", "B")), "64");
  EXPECT_EQ(attribute_value(module, "ModelNew", "b"), nullptr);
  EXPECT_EQ(attribute_value(module, "ModelNew", "c"), nullptr);
}

}  // namespace
}  // namespace ksplit
