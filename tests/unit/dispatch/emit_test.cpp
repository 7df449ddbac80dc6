// SPDX-License-Identifier: Apache-2.0
#include "dispatch/emit.h"

#include <gtest/gtest.h>

#include "base_samples.h"
#include "generate/configure.h"
#include "source.h"

namespace ksplit {
namespace {

using test::Sample;

const Header kHeader{
    "0.1.0", "2026-11-30", "NVIDIA H200", {{"torch", "2.13.0"}, {"triton", "3.6.0"}}, {}};

Task one_tensor() {
  Task task;
  task.op_name = "op";
  task.parameters = {{"x", Parameter::Kind::positional, ""}};
  return task;
}

std::string emitted(const std::string& base, const std::vector<Candidate>& candidates = {},
                    const Task& task = one_tensor()) {
  const auto text = emit_file(test::module_of(base), task, candidates,
                              "return " + base_call(task) + "\n", kHeader);
  if (!text) return text.error().message;
  EXPECT_EQ(test::compile_error(*text), "") << *text;
  return *text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The first candidate that chose these values.
Candidate chosen(const Sample& sample, const std::map<std::string, Literal>& parameters) {
  const auto candidates = configure(sample.context());
  for (const Candidate& candidate : candidates.value()) {
    bool all = true;
    for (const auto& [name, value] : parameters) {
      const auto found = candidate.parameters.find(name);
      all = all && found != candidate.parameters.end() && found->second == value;
    }
    if (all) return candidate;
  }
  ADD_FAILURE() << "no such candidate";
  return candidates->front();
}

void expect_golden(const Sample& sample, const Candidate& candidate, const std::string& name) {
  const auto text = emit_candidate_file(sample.base, sample.task, candidate, kHeader);
  ASSERT_TRUE(text.has_value()) << text.error().message;
  EXPECT_EQ(*text, test::golden("emit/" + name, *text));
}

// tests/golden/emit/test_golden_files.py runs these files against their bases.
TEST(EmitGolden, RowSumWithAnotherBlock) {
  const Sample sample = test::row_sum_sample();
  expect_golden(sample, chosen(sample, {{"BLOCK", 128}, {"num_warps", 2}}), "row_sum.py");
}

TEST(EmitGolden, LayersWithAnotherModuleConstant) {
  const Sample sample = test::layers_sample();
  expect_golden(sample, chosen(sample, {{"add_kernel.BLOCK", 256}}), "layers_block.py");
}

TEST(EmitGolden, LayersWithOtherWarps) {
  const Sample sample = test::layers_sample();
  expect_golden(sample, chosen(sample, {{"relu_kernel.num_warps", 2}}), "layers_warps.py");
}

TEST(EmitGolden, TunedWithAFrozenConfiguration) {
  const Sample sample = test::tuned_sample();
  expect_golden(sample, chosen(sample, {{"BLOCK", 64}, {"num_warps", 4}}), "tuned.py");
}

TEST(Emit, RenamesTheClassWhereverItIsMeant) {
  const std::string text = emitted(
      "import torch\nimport triton\nimport triton.language as tl\n\n\n"
      "class ModelNew(torch.nn.Module):\n"
      "    def __init__(self):\n        super(ModelNew, self).__init__()\n\n"
      "    def forward(self, x):\n        return ModelNew.twice(x)  # not \"ModelNew\"\n\n"
      "    @staticmethod\n    def twice(x):\n        return 2 * x\n\n\n"
      "def other(ModelNew):\n    return ModelNew\n\n\nshared = ModelNew()\n");
  EXPECT_TRUE(contains(text, "class ModelBase(torch.nn.Module):\n"));
  EXPECT_TRUE(contains(text, "super(ModelBase, self).__init__()"));
  EXPECT_TRUE(contains(text, "return ModelBase.twice(x)  # not \"ModelNew\"\n"));
  EXPECT_TRUE(contains(text, "def other(ModelNew):\n    return ModelNew\n"));
  EXPECT_TRUE(contains(text, "shared = ModelBase()\n"));
  EXPECT_TRUE(contains(text, "\n\n\nclass ModelNew(ModelBase):\n"));
}

TEST(Emit, ChoosesFreeNamesInASplitFileThatIsSplitAgain) {
  const std::string text = emitted(
      "import torch\nimport triton\nimport triton.language as tl\n\n\n"
      "class ModelBase(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
      "class ModelNew(ModelBase):\n    def forward(self, x):\n        return self._route(x)\n\n"
      "    def _route(self, x):\n        return super().forward(x)\n");
  EXPECT_TRUE(contains(text, "class ModelBase_(ModelBase):\n"));
  EXPECT_TRUE(contains(text, "return self._route_base(x)\n"));
  EXPECT_TRUE(contains(text, "def _route_base(self, x):\n"));
  EXPECT_TRUE(contains(text, "class ModelNew(ModelBase_):\n"));
}

TEST(Emit, AddsOnlyTheImportsThatAreMissing) {
  Candidate candidate;
  candidate.group_id = "g";
  candidate.imports = {"import math", "import torch"};
  const std::string text = emitted(
      "\"\"\"Doc.\"\"\"\n\nfrom __future__ import annotations\n\nimport torch\n\n\n"
      "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n",
      {candidate});
  EXPECT_TRUE(contains(text,
                       "\n\"\"\"Doc.\"\"\"\n\nfrom __future__ import annotations\n\nimport torch\n"
                       "import triton\nimport triton.language as tl\nimport math\n\n\nclass"));
}

TEST(Emit, KeepsInterpreterAndEncodingLinesOnTop) {
  const std::string text = emitted(
      "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n# Mine.\nimport torch\n\n\n"
      "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n");
  EXPECT_TRUE(text.starts_with("#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n# Written by"));
  EXPECT_TRUE(contains(text, "\n\n# Mine.\nimport torch\nimport triton\n"));
}

TEST(Emit, MainBlocksMoveToTheEndAndMeetTheSplitClass) {
  const std::string text = emitted(
      "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
      "        return x\n\n\n# Try it.\nif __name__ == \"__main__\":\n    print(ModelNew())\n\n\n"
      "VALUE = 1\n");
  EXPECT_TRUE(contains(text, "        return x\n\n\nVALUE = 1\n\n\nclass ModelNew(ModelBase):\n"));
  EXPECT_TRUE(
      text.ends_with("\n\n\n# Try it.\nif __name__ == \"__main__\":\n    print(ModelNew())\n"));
}

TEST(Emit, SignaturesKeepDefaultsAnnotationsAndSeparators) {
  Task task;
  task.parameters = {{"x", Parameter::Kind::positional, ""},
                     {"rest", Parameter::Kind::var_positional, ""},
                     {"dim", Parameter::Kind::keyword_only, "AXIS"},
                     {"more", Parameter::Kind::var_keyword, ""}};
  EXPECT_EQ(call_arguments(task), "x, *rest, dim=dim, **more");
  EXPECT_EQ(host_call("f", task), "f(self, x, *rest, dim=dim, **more)");
  EXPECT_EQ(base_call(task), "super().forward(x, *rest, dim=dim, **more)");
  EXPECT_EQ(host_call("f", Task{}), "f(self)");
  const std::string text = emitted(
      "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    AXIS = -1\n\n"
      "    def forward(model, x: torch.Tensor, *rest, dim: int = AXIS, **more) -> torch.Tensor:\n"
      "        return x.sum(dim)\n",
      {}, task);
  EXPECT_TRUE(contains(text,
                       "    def forward(self, x: torch.Tensor, *rest, dim: int = ModelBase.AXIS, "
                       "**more) -> torch.Tensor:\n"
                       "        return self._route(x, *rest, dim=dim, **more)\n"));
}

TEST(Emit, LongSignaturesAreBroken) {
  std::string signature = "self";
  Task task;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    const std::string name(30, letter);
    signature += ", " + name;
    task.parameters.push_back({name, Parameter::Kind::positional, ""});
  }
  const std::string text = emitted(
      "import torch\n\n\nclass ModelNew(torch.nn.Module):\n"
      "    def forward(" +
          signature + "):\n        return 0\n",
      {}, task);
  EXPECT_TRUE(
      contains(text, "    def _route(\n        self,\n        " + std::string(30, 'a') + ",\n"));
  EXPECT_TRUE(
      contains(text, "        return self._route(\n            " + std::string(30, 'a') + ",\n"));
}

TEST(Emit, Refusals) {
  const std::string model =
      "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
  EXPECT_EQ(emitted("import torch\n"), "base_kernel.py: no class ModelNew with a forward method");
  EXPECT_EQ(emitted("import torch\ntl = 3\n\n\n" + model),
            "base_kernel.py:2: `tl` is not triton.language, which the specialised kernels call so");
  Candidate candidate;
  candidate.group_id = "g";
  candidate.definitions = "def helper(x):\n    return x\n";
  EXPECT_EQ(emitted("import torch\n\n\ndef helper():\n    pass\n\n\n" + model, {candidate}),
            "base_kernel.py: the specialised kernel for g defines `helper`, a name already taken");
  EXPECT_EQ(emitted("import torch\n\n\n" + model, {candidate, candidate}),
            "base_kernel.py: the specialised kernel for g defines `helper`, a name already taken");
}

}  // namespace
}  // namespace ksplit
