// SPDX-License-Identifier: Apache-2.0
#include "generate/configure.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base_samples.h"
#include "dispatch/emit.h"
#include "source.h"

namespace ksplit {
namespace {

using test::constant;
using test::pointer;
using test::Sample;
using test::value;

constexpr const char* kImports =
    "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n\n";
constexpr const char* kKernel =
    "@triton.jit\ndef k(x, n, B: tl.constexpr):\n    pass\n\n\n"
    "class ModelNew(nn.Module):\n";

Launch small_launch() {
  Launch launch;
  launch.kernel = "k";
  launch.arguments = {pointer("x"), value("n", 100), constant("B", 64)};
  return launch;
}

std::vector<Candidate> configured(const Sample& sample) {
  Result<std::vector<Candidate>> candidates = configure(sample.context());
  EXPECT_TRUE(candidates.has_value()) << candidates.error().message;
  return std::move(candidates).value();
}

std::string refusal(const std::string& model) {
  const Sample sample =
      test::small_sample(std::string(kImports) + kKernel + model, {small_launch()});
  const auto candidates = configure(sample.context());
  if (candidates) return fmt::format("{} candidates", candidates->size());
  EXPECT_EQ(candidates.error().code, ErrorCode::unsupported);
  return candidates.error().message;
}

bool holds_text(const Candidate& candidate, const std::string& text) {
  return candidate.definitions.find(text) != std::string::npos;
}

TEST(Configure, TheFirstCandidateOnlyFixesWhatTheGroupHasInCommon) {
  const Candidate first = configured(test::row_sum_sample()).front();
  const std::map<std::string, Literal> expected = {
      {"constexpr", Literal(Literal::List{"n_cols", "stride"})}};
  EXPECT_EQ(first.parameters, expected);
  EXPECT_EQ(first.id, "grp_small#configure-0");
  EXPECT_EQ(first.host, "sum_grp_small");
  EXPECT_TRUE(holds_text(first,
                         "@triton.jit(do_not_specialize=[\"scale\"])\n"
                         "def sum_kernel_grp_small(\n"));
  EXPECT_TRUE(holds_text(first, "n_cols: tl.constexpr, stride: tl.constexpr, scale, BLOCK"));
  EXPECT_TRUE(holds_text(first, "BLOCK = 64  # elements a step"));
}

TEST(Configure, PreconditionsAreTypesAndTheEnvelopeIsSizes) {
  Sample sample = test::row_sum_sample();
  std::get<TensorSpec>(sample.task.cases[1].inputs[0].value).dtype = "float16";
  const Candidate candidate = configured(sample).front();
  ASSERT_EQ(candidate.preconditions.size(), 1U);
  std::string text;
  for (const ksplit::Test& test : candidate.preconditions.front()) {
    text += to_python(test, sample.task.parameters) + "; ";
  }
  EXPECT_EQ(text,
            "type(x) is torch.Tensor; x.dtype in (torch.float16, torch.float32); "
            "x.dim() == 2; not x.requires_grad; ");
  ASSERT_EQ(candidate.envelope.size(), 3U);
  EXPECT_EQ(to_python(candidate.envelope[0], sample.task.parameters), "x.numel()");
  EXPECT_EQ(to_python(candidate.envelope[2], sample.task.parameters), "x.size(1)");
  for (const Case& one : sample.task.cases) {
    EXPECT_TRUE(holds(candidate.preconditions.front(), one)) << one.index;
  }
}

TEST(Configure, ArgumentsOfSeveralKindsGetAGuardForEach) {
  Sample sample = test::layers_sample();
  sample.task.cases[1].inputs[1].value = Literal{};
  const Candidate candidate = configured(sample).front();
  ASSERT_EQ(candidate.preconditions.size(), 2U);
  for (const Case& one : sample.task.cases) {
    EXPECT_NE(holds(candidate.preconditions[0], one), holds(candidate.preconditions[1], one));
  }
  EXPECT_EQ(candidate.envelope.size(), 2U);  // of x alone
}

TEST(Configure, EveryCandidateIsACompleteFile) {
  const Header header{"0.1.0", "2026-11-30", "test", {}, {}};
  for (const Sample& sample :
       {test::row_sum_sample(), test::layers_sample(), test::tuned_sample()}) {
    const std::vector<Candidate> candidates = configured(sample);
    EXPECT_GE(candidates.size(), 4U);
    EXPECT_LE(candidates.size(), kMaxConfigurations);
    std::set<std::string> definitions;
    for (const Candidate& candidate : candidates) {
      const auto text = emit_candidate_file(sample.base, sample.task, candidate, header);
      ASSERT_TRUE(text.has_value()) << text.error().message;
      EXPECT_EQ(test::compile_error(*text), "");
      EXPECT_TRUE(definitions.insert(candidate.definitions).second) << candidate.id;
    }
  }
}

TEST(Configure, TheListIsBoundedAndHoldsEveryKindOfChange) {
  Sample sample = test::layers_sample();
  for (int warps = 1; warps < 30; ++warps) sample.profile.warps.push_back(warps);
  const std::vector<Candidate> candidates = configured(sample);
  EXPECT_EQ(candidates.size(), kMaxConfigurations);
  std::set<std::string> changed;
  for (const Candidate& candidate : candidates) {
    for (const auto& [name, value] : candidate.parameters) changed.insert(name);
  }
  const std::set<std::string> expected = {"add_kernel.BLOCK", "add_kernel.num_warps",
                                          "relu_kernel.num_warps"};
  EXPECT_EQ(changed, expected);  // relu_kernel's grid divides by a 256 of its own
}

TEST(Configure, ADeviceWithoutWarpsGetsTilesOnly) {
  Sample sample = test::row_sum_sample();
  sample.profile.warps.clear();
  sample.profile.stages.clear();
  for (const Candidate& candidate : configured(sample)) {
    EXPECT_EQ(candidate.parameters.count("num_warps"), 0U);
    EXPECT_FALSE(holds_text(candidate, "num_"));
  }
}

TEST(Configure, TilesThatCoverASizeAlternateWithNeighbours) {
  Sample sample = test::row_sum_sample();  // BLOCK is 64, sizes are 100
  sample.profile.warps.clear();
  const auto tiles = [&] {
    std::string text;
    for (const Candidate& candidate : configured(sample)) {
      const auto block = candidate.parameters.find("BLOCK");
      const bool only = candidate.parameters.count("constexpr") == 1 &&
                        candidate.parameters.at("constexpr").as_list()->size() == 2;
      if (only && block != candidate.parameters.end()) text += to_python(block->second) + " ";
    }
    return text;
  };
  EXPECT_EQ(tiles(), "128 32 256 16 ");
  for (LaunchTrace& trace : sample.traces) {
    trace.launches[0].arguments[2].value = Literal(1000);  // n_cols
    trace.launches[0].arguments[3].value = Literal(3000);  // stride
  }
  EXPECT_EQ(tiles(), "1024 128 4096 32 256 16 ");
}

TEST(Configure, TilesThatExceedFastMemoryAreLeftOut) {
  Sample sample = test::row_sum_sample();
  sample.profile.fast_memory_bytes = 64 * 4;
  for (const Candidate& candidate : configured(sample)) {
    const auto block = candidate.parameters.find("BLOCK");
    if (block == candidate.parameters.end()) continue;
    EXPECT_LE(*block->second.as_int(), 64);
  }
}

TEST(Configure, NoThreadHoldsMoreThanItsRegistersCan) {
  Sample sample = test::row_sum_sample();
  sample.profile.warps = {1, 4, 16};
  for (LaunchTrace& trace : sample.traces) {
    trace.launches[0].arguments[2].value = Literal(60000);  // n_cols
    trace.launches[0].num_warps = 4;
  }
  std::int64_t largest = 0;
  for (const Candidate& candidate : configured(sample)) {
    const auto block = candidate.parameters.find("BLOCK");
    const auto warps = candidate.parameters.find("num_warps");
    const std::int64_t elements =
        block == candidate.parameters.end() ? 64 : *block->second.as_int();
    const std::int64_t threads =
        32 * (warps == candidate.parameters.end() ? 4 : *warps->second.as_int());
    EXPECT_LE(elements, 128 * threads) << candidate.id;
    largest = std::max(largest, elements);
  }
  EXPECT_EQ(largest, 65536);  // with 16 warps
}

TEST(Configure, FrozenConfigurationsBeginWithTheOneTheTunerChose) {
  const std::vector<Candidate> candidates = configured(test::tuned_sample());
  EXPECT_EQ(candidates.front().parameters.at("BLOCK"), Literal(256));
  EXPECT_EQ(candidates.front().parameters.at("num_warps"), Literal(1));
  std::set<std::pair<std::int64_t, std::int64_t>> frozen;
  for (const Candidate& candidate : candidates) {
    EXPECT_FALSE(holds_text(candidate, "autotune"));
    EXPECT_TRUE(holds_text(candidate, "@triton.heuristics({\"EVEN\""));
    frozen.emplace(*candidate.parameters.at("BLOCK").as_int(),
                   *candidate.parameters.at("num_warps").as_int());
  }
  EXPECT_EQ(frozen.size(), 4U);
}

TEST(Configure, NothingToChangeIsAnEmptyList) {
  Launch launch = small_launch();
  launch.arguments = {pointer("x"), pointer("n"), constant("B", 3)};
  Sample sample = test::small_sample(
      std::string(kImports) + kKernel + "    def forward(self, x):\n        k[(1,)](x, x, 3)\n",
      {launch});
  sample.profile.warps.clear();
  sample.profile.stages.clear();
  EXPECT_TRUE(configured(sample).empty());
}

TEST(Configure, RefusesWhatItCannotCopyAndSaysWhere) {
  EXPECT_EQ(refusal("    def forward(self, x):\n        return getattr(self, \"go\")(x)\n"),
            "base_kernel.py:12: ModelNew.forward reaches no kernel by name");
  EXPECT_EQ(refusal("    def forward(self, x):\n        super().check(x)\n"
                    "        k[(1,)](x, 100, 64)\n"),
            "base_kernel.py:13: `super` cannot stand outside of its class");
  EXPECT_EQ(refusal("    def forward(self, x):\n        k[(1,)](x, self.__n, 64)\n"),
            "base_kernel.py:13: the private name `__n` cannot stand outside of its class");
  EXPECT_EQ(refusal("    N = 3\n\n    def run(self, x, n=N):\n        k[(1,)](x, n, 64)\n\n"
                    "    def forward(self, x):\n        self.run(x)\n"),
            "base_kernel.py:14: `N` is a name of the class body");
  EXPECT_EQ(refusal("    @classmethod\n    def run(cls, x):\n        k[(1,)](x, 100, 64)\n\n"
                    "    def forward(self, x):\n        self.run(x)\n"),
            "base_kernel.py:12: @classmethod cannot stand outside of its class");
  EXPECT_EQ(refusal("    def forward(self, x):\n        k[(1,)](x, 100, 64)\n\n\n"
                    "op_kernel_grp_small = 1\n"),
            "base_kernel.py: already uses the name `op_kernel_grp_small`");
}

TEST(Configure, RefusesAKernelOfAnotherFile) {
  Launch launch = small_launch();
  launch.kernel = "imported_kernel";
  const Sample sample = test::small_sample(
      std::string(kImports) + kKernel + "    def forward(self, x):\n        k[(1,)](x, 1, 64)\n",
      {launch});
  const auto candidates = configure(sample.context());
  ASSERT_FALSE(candidates);
  EXPECT_EQ(candidates.error().message,
            "base_kernel.py: does not define the kernel it launches (imported_kernel)");
}

TEST(Configure, RefusesAKernelThatForwardReachesInHiddenWays) {
  Launch launch = small_launch();
  launch.kernel = "other";
  const Sample sample = test::small_sample(
      std::string(kImports) + "@triton.jit\ndef other(x, n, B: tl.constexpr):\n    pass\n\n\n" +
          kKernel +
          "    def forward(self, x):\n        globals()[\"other\"][(1,)](x, 100, 64)\n"
          "        if x is None:\n            k[(1,)](x, 1, 64)\n",
      {launch});
  const auto candidates = configure(sample.context());
  ASSERT_FALSE(candidates);
  EXPECT_EQ(candidates.error().message,
            "base_kernel.py: forward launches other in a way that its source does not show");
}

TEST(Configure, TabsAndCarriageReturnsStay) {
  const Sample sample = test::small_sample(
      "import torch\r\nimport triton\r\nimport triton.language as tl\r\n\r\n"
      "@triton.jit\r\ndef k(x, n, B: tl.constexpr):\r\n\tpass\r\n\r\n"
      "class ModelNew(torch.nn.Module):\r\n\tdef forward(self, x):\r\n"
      "\t\tif x is not None:\r\n\t\t\tk[(1,)](x, 100, B=64)\r\n",
      {small_launch()});
  const std::vector<Candidate> candidates = configured(sample);
  EXPECT_TRUE(holds_text(candidates.front(),
                         "def op_grp_small(self, x):\r\n\tif x is not None:\r\n"
                         "\t\top_kernel_grp_small[(1,)](x, 100, B=64)\r\n"));
  const auto text = emit_candidate_file(sample.base, sample.task, candidates.back(), {});
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(test::compile_error(*text), "");
}

TEST(Configure, ARegisteredOperatorIsNotCopied) {
  const Sample sample = test::small_sample(
      std::string(kImports) +
          "@triton.jit\ndef k(x, n, B: tl.constexpr):\n    pass\n\n\n"
          "@torch.library.custom_op(\"a::b\", mutates_args=())\n"
          "def run(x: torch.Tensor) -> None:\n    k[(1,)](x, 100, 64)\n\n\n"
          "class ModelNew(nn.Module):\n    def forward(self, x):\n        run(x)\n",
      {small_launch()});
  const auto candidates = configure(sample.context());
  ASSERT_FALSE(candidates);
  EXPECT_EQ(candidates.error().message,
            "base_kernel.py:11: `run` is a registered operator, of which there can be only one");
}

TEST(Configure, ACopyOfAFunctionNamedLikeTheOperatorGetsAnotherName) {
  const Sample sample = test::small_sample(
      std::string(kImports) +
          "@triton.jit\ndef k(x, n, B: tl.constexpr):\n    pass\n\n\n"
          "def op(x):\n    k[(1,)](x, 100, 64)\n\n\n"
          "class ModelNew(nn.Module):\n    def forward(self, x):\n        op(x)\n",
      {small_launch()});
  const Candidate candidate = configured(sample).front();
  EXPECT_TRUE(holds_text(candidate, "def op_grp_small(self, x):\n    op_host_grp_small(x)"));
  EXPECT_TRUE(holds_text(candidate, "def op_host_grp_small(x):\n"));
}

}  // namespace
}  // namespace ksplit
