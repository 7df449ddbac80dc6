// SPDX-License-Identifier: Apache-2.0
#include "analyze/facts.h"

#include <gtest/gtest.h>

#include "traces.h"

namespace ksplit {
namespace {

using List = Literal::List;

Argument tensor(const char* name, std::vector<std::int64_t> shape, const char* dtype = "float32") {
  return {name, tensor_spec(dtype, std::move(shape))};
}

/// forward(x, dim, keepdim) with torch.sum.
Task sum_task(const std::vector<std::pair<std::vector<std::int64_t>, Literal>>& cases) {
  std::vector<std::vector<Argument>> lists;
  for (const auto& [shape, dim] : cases) {
    lists.push_back(
        {tensor("x", shape), {"dim", dim}, {"keepdim", Literal{lists.size() % 2 == 1}}});
  }
  return task_of("sum", lists);
}

template <class Trace>
OperatorFacts facts_of(const Task& task, Trace trace) {
  std::vector<ReferenceGraph> graphs;
  for (const Case& sample : task.cases) graphs.push_back(trace(sample));
  return operator_facts(task, graphs);
}

bool is_other(const OperatorFacts& facts) {
  return std::holds_alternative<std::monostate>(facts);
}

void expect_sizes(const ReductionFacts& facts, int index, std::array<std::int64_t, 3> expected) {
  const auto& sizes = facts.sizes.at(index);
  EXPECT_EQ((std::array{sizes.outer, sizes.reduce, sizes.inner}), expected) << "case " << index;
}

TEST(ReductionFacts, ShapesSplitAroundTheAxesHoweverTheyAreWritten) {
  const Task task = sum_task({{{2, 3, 5}, 1},
                              {{2, 3, 5}, -1},
                              {{2, 3, 5}, List{-3, 1}},
                              {{2, 3, 5}, Literal{}},
                              {{2, 3, 5}, List{}},
                              {{7}, 0},
                              {{4, 0, 3}, 1}});
  const auto facts = std::get<ReductionFacts>(facts_of(task, sum_trace));
  EXPECT_EQ(facts.op, "sum");
  EXPECT_EQ(facts.input, 0);
  EXPECT_EQ(facts.dim.argument, 1);
  EXPECT_EQ(facts.keepdim.argument, 2);
  expect_sizes(facts, 1, {2, 3, 5});
  expect_sizes(facts, 2, {6, 5, 1});
  expect_sizes(facts, 3, {1, 6, 5});
  expect_sizes(facts, 4, {1, 30, 1});
  expect_sizes(facts, 5, {1, 30, 1});
  expect_sizes(facts, 6, {1, 7, 1});
  expect_sizes(facts, 7, {4, 0, 3});
}

TEST(ReductionFacts, AxesApartAreDeclined) {
  EXPECT_TRUE(is_other(facts_of(sum_task({{{2, 3, 5}, List{0, 2}}}), sum_trace)));
}

TEST(ReductionFacts, EveryOverload) {
  struct Row {
    const char* op;
    std::vector<Operand> arguments;
    const char* fact;
  };
  const Row table[] = {
      {"aten.sum.default", {input(0)}, "sum"},
      {"aten.mean.default", {input(0)}, "mean"},
      {"aten.mean.dim", {input(0), constant(List{1})}, "mean"},
      {"aten.amax.default", {input(0), constant(List{1}), constant(false)}, "max"},
      {"aten.amin.default", {input(0), constant(List{})}, "min"},
      {"aten.max.default", {input(0)}, "max"},
      {"aten.max.dim", {input(0), constant(1), constant(false)}, "max"},
      {"aten.min.dim", {input(0), constant(1)}, "min"},
      {"aten.prod.default", {input(0)}, "prod"},
      {"aten.prod.dim_int", {input(0), constant(-1)}, "prod"},
  };
  for (const Row& row : table) {
    const Task task = task_of("op", {{tensor("x", {4, 8})}});
    const auto facts = facts_of(task, [&](const Case&) {
      return single(row.op, row.arguments, tensor_spec("float32", {4}));
    });
    const auto* reduction = std::get_if<ReductionFacts>(&facts);
    ASSERT_TRUE(reduction) << row.op;
    EXPECT_EQ(reduction->op, row.fact);
  }
}

TEST(ReductionFacts, TheMaximumOfTwoTensorsIsNone) {
  const Task task = task_of("op", {{tensor("x", {4}), tensor("y", {4})}});
  EXPECT_TRUE(is_other(facts_of(task, [](const Case&) {
    return single("aten.max.other", {input(0), input(1)}, tensor_spec("float32", {4}));
  })));
}

TEST(ReductionFacts, AChangeOfDtypeIsDeclined) {
  const Task task = task_of("op", {{tensor("x", {4}, "int32")}});
  EXPECT_TRUE(is_other(facts_of(task, [](const Case&) {
    return single("aten.sum.default", {input(0)}, tensor_spec("int64", {}));
  })));
}

TEST(ReductionFacts, AnArgumentThatFitsOneCaseByAccidentIsNotTaken) {
  // `k` equals the axis on the first case only, `axis` on both.
  const Task task = task_of("sum", {{tensor("x", {4, 8}), {"k", 1}, {"axis", -1}},
                                    {tensor("x", {4, 8}), {"k", 1}, {"axis", 0}}});
  const auto facts = std::get<ReductionFacts>(facts_of(task, [](const Case& sample) {
    return single("aten.sum.dim_IntList",
                  {input(0), constant(List{*sample.inputs[2].literal()}), constant(false)},
                  tensor_spec("float32", {4}));
  }));
  EXPECT_EQ(facts.dim.argument, 2);
}

TEST(ReductionFacts, ANamedArgumentIsPreferredToAnotherThatAlwaysFits) {
  const Task task = task_of("sum", {{tensor("x", {4, 8}), {"k", 1}, {"dim", 1}}});
  const auto facts = std::get<ReductionFacts>(facts_of(task, [](const Case&) {
    return single("aten.sum.dim_IntList", {input(0), constant(List{1}), constant(false)},
                  tensor_spec("float32", {4}));
  }));
  EXPECT_EQ(facts.dim.argument, 2);
}

TEST(ReductionFacts, ConstantAxes) {
  // The model writes the axis into its code; forward(x) has no argument for it.
  struct Row {
    const char* name;
    std::vector<std::pair<std::vector<std::int64_t>, List>> cases;  // shape, axes in the trace
    std::optional<Literal> expected;
  };
  const Row table[] = {
      {"as written", {{{4, 8}, {-1}}, {{2, 4, 8}, {-1}}}, Literal{-1}},
      {"a list stays one", {{{4, 8, 2}, {0, 1}}, {{5, 8, 2}, {0, 1}}}, Literal{List{0, 1}}},
      {"from the front", {{{4, 8}, {0}}, {{2, 4, 8}, {-3}}}, Literal{0}},
      {"from the back", {{{4, 8}, {1}}, {{2, 4, 8}, {2}}}, Literal{-1}},
      {"all axes", {{{4, 8}, {0, 1}}, {{8}, {0}}}, Literal{}},
      {"no rule", {{{4, 8}, {0}}, {{2, 4, 8}, {1}}, {{2, 4, 8}, {2}}}, std::nullopt},
  };
  for (const Row& row : table) {
    std::vector<std::vector<Argument>> lists;
    for (const auto& [shape, axes] : row.cases) lists.push_back({tensor("x", shape)});
    const auto facts = facts_of(task_of("sum", lists), [&](const Case& sample) {
      const List& axes = row.cases[static_cast<std::size_t>(sample.index) - 1].second;
      return single("aten.sum.dim_IntList", {input(0), constant(axes), constant(false)},
                    tensor_spec("float32", {4}));
    });
    const auto* reduction = std::get_if<ReductionFacts>(&facts);
    ASSERT_EQ(reduction != nullptr, row.expected.has_value()) << row.name;
    if (!reduction) continue;
    EXPECT_EQ(reduction->dim.argument, std::nullopt) << row.name;
    EXPECT_EQ(to_python(reduction->dim.constant), to_python(*row.expected)) << row.name;
    EXPECT_EQ(reduction->keepdim.constant, Literal{false});
  }
}

TEST(ReductionFacts, OnlyIdentitiesMayStandBesideTheReduction) {
  const Task task = sum_task({{{4, 8}, 1}});
  const auto with_view = [](const char* op, std::vector<std::int64_t> shape) {
    return [=](const Case& sample) {
      ReferenceGraph graph = sum_trace(sample);
      graph.nodes.insert(graph.nodes.begin(),
                         {op, {input(0)}, {}, {tensor_spec("float32", shape)}});
      graph.nodes[1].arguments[0] = node(0);
      graph.outputs = {node(1)};
      return graph;
    };
  };
  EXPECT_TRUE(std::holds_alternative<ReductionFacts>(
      facts_of(task, with_view("aten.detach.default", {4, 8}))));
  EXPECT_TRUE(std::holds_alternative<ReductionFacts>(
      facts_of(task, with_view("aten.view.default", {4, 8}))));
  EXPECT_TRUE(is_other(facts_of(task, with_view("aten.view.default", {8, 4}))));
  EXPECT_TRUE(is_other(facts_of(task, with_view("aten.relu.default", {4, 8}))));
}

TEST(ReductionFacts, OtherResultsAreDeclined) {
  const Task task = task_of("max", {{tensor("x", {4, 8})}});
  const auto max_with = [](std::vector<Operand> outputs) {
    return [=](const Case&) {
      ReferenceGraph graph = single("aten.max.dim", {input(0), constant(1), constant(false)},
                                    tensor_spec("float32", {4}));
      graph.nodes[0].outputs.push_back(tensor_spec("int64", {4}));
      graph.outputs = outputs;
      return graph;
    };
  };
  EXPECT_FALSE(is_other(facts_of(task, max_with({node(0, 0)}))));
  EXPECT_TRUE(is_other(facts_of(task, max_with({node(0, 1)})))) << "the indices";
  EXPECT_TRUE(is_other(facts_of(task, max_with({node(0, 0), node(0, 1)}))));
}

TEST(ReductionFacts, AllCasesMustAgree) {
  const Task task = task_of("op", {{tensor("x", {4})}, {tensor("x", {4})}});
  EXPECT_TRUE(is_other(facts_of(task, [](const Case& sample) {
    return single(sample.index == 1 ? "aten.sum.default" : "aten.mean.default", {input(0)},
                  tensor_spec("float32", {}));
  })));
}

TEST(BroadcastFacts, AddWithAlpha) {
  const Task task = task_of("add", {{tensor("x", {4, 8}), tensor("y", {8}), {"alpha", 1.0}},
                                    {tensor("x", {4, 8}), tensor("y", {4, 1}), {"alpha", 0.5}}});
  const auto facts = std::get<BroadcastFacts>(facts_of(task, add_trace));
  EXPECT_EQ(facts.op, "add");
  EXPECT_EQ(facts.lhs, 0);
  EXPECT_EQ(facts.rhs, 1);
  EXPECT_EQ(facts.alpha.argument, 2);
}

TEST(BroadcastFacts, AlphaOfOneIsItsArgumentOnlyByName) {
  const auto facts_with = [](const char* name, const Literal& value) {
    const Task task = task_of("add", {{tensor("x", {4}), tensor("y", {4}), {name, value}}});
    return std::get<BroadcastFacts>(facts_of(task, [](const Case&) {
      return single("aten.add.Tensor", {input(0), input(1)}, tensor_spec("float32", {4}));
    }));
  };
  EXPECT_EQ(facts_with("alpha", 1.0).alpha.argument, 2);
  EXPECT_EQ(facts_with("axis", 1).alpha.argument, std::nullopt);
  EXPECT_EQ(facts_with("axis", 1).alpha.constant, Literal{1});
}

TEST(BroadcastFacts, NumbersAsOperands) {
  const Task task = task_of("sub", {{tensor("x", {4}), {"value", 2}, {"other", 2}},
                                    {tensor("x", {4}), {"value", 3.5}, {"other", 2}}});
  const auto trace = [](const char* op) {
    return [=](const Case& sample) {
      return single(op, {input(0), constant(*sample.inputs[1].literal())},
                    tensor_spec("float32", {4}));
    };
  };
  const auto sub = std::get<BroadcastFacts>(facts_of(task, trace("aten.sub.Tensor")));
  EXPECT_EQ(sub.lhs, 0);
  EXPECT_EQ(sub.rhs, 1);
  const auto rsub = std::get<BroadcastFacts>(facts_of(task, trace("aten.rsub.Scalar")));
  EXPECT_EQ(rsub.op, "sub");
  EXPECT_EQ(rsub.lhs, 1);
  EXPECT_EQ(rsub.rhs, 0);
}

TEST(BroadcastFacts, ANumberThatIsNoArgumentIsDeclined) {
  const Task task = task_of("mul", {{tensor("x", {4})}});
  EXPECT_TRUE(is_other(facts_of(task, [](const Case&) {
    return single("aten.mul.Tensor", {input(0), constant(2)}, tensor_spec("float32", {4}));
  })));
}

TEST(BroadcastFacts, PromotionAndRoundingModesAreDeclined) {
  const Task task = task_of("op", {{tensor("x", {4}, "float16"), tensor("y", {4})}});
  EXPECT_TRUE(is_other(facts_of(task, [](const Case&) {
    return single("aten.add.Tensor", {input(0), input(1)}, tensor_spec("float32", {4}));
  })));
  const Task same = task_of("op", {{tensor("x", {4}), tensor("y", {4})}});
  EXPECT_TRUE(is_other(facts_of(same, [](const Case&) {
    return single("aten.div.Tensor_mode", {input(0), input(1)}, tensor_spec("float32", {4}));
  })));
}

TEST(BroadcastFacts, ATensorInAListIsNoOperand) {
  const Task task = task_of("op", {{{"xs", Opaque{"[tensor, tensor]"}}}});
  EXPECT_TRUE(is_other(facts_of(task, [](const Case&) {
    return single("aten.add.Tensor", {input(0), input(0)}, tensor_spec("float32", {4}));
  })));
  EXPECT_TRUE(is_other(facts_of(task, [](const Case&) {
    return single("aten.sum.default", {input(0)}, tensor_spec("float32", {}));
  })));
}

TEST(OperatorFacts, NothingFitsEmptyTasksAndEmptyTraces) {
  EXPECT_TRUE(is_other(operator_facts(Task{}, {})));
  const Task task = task_of("identity", {{tensor("x", {4})}});
  EXPECT_TRUE(is_other(facts_of(task, [](const Case&) {
    ReferenceGraph graph;
    graph.outputs = {input(0)};
    return graph;
  })));
}

}  // namespace
}  // namespace ksplit
