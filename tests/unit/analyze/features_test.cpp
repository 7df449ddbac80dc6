// SPDX-License-Identifier: Apache-2.0
#include "analyze/features.h"

#include <gtest/gtest.h>

#include "traces.h"

namespace ksplit {
namespace {

using List = Literal::List;

std::string text(const Features& features, const char* name) {
  const auto found = features.find(name);
  return found == features.end() ? "absent" : to_python(found->second);
}

Features of(std::vector<Argument> inputs, const ReferenceGraph& graph = {}) {
  return case_features({1, std::move(inputs)}, graph);
}

TEST(Features, TheLargestTensorStandsForTheCase) {
  const Features features =
      of({{"y", tensor_spec("bfloat16", {8})}, {"x", tensor_spec("float16", {4, 8})}, {"k", 3}});
  EXPECT_EQ(text(features, "element_count"), "32");
  EXPECT_EQ(text(features, "dtype"), "\"float16\"");
  EXPECT_EQ(text(features, "rank"), "2");
  EXPECT_EQ(text(features, "low_precision"), "True") << "any tensor counts";
  EXPECT_EQ(text(features, "reduce_size"), "absent");
  EXPECT_TRUE(of({{"k", 3}}).empty());
}

TEST(Features, PowersOfTwo) {
  const auto power = [](std::vector<std::int64_t> shape) {
    return text(of({{"x", tensor_spec("float32", std::move(shape))}}), "power_of_two");
  };
  EXPECT_EQ(power({1, 2, 1024}), "True");
  EXPECT_EQ(power({}), "True");
  EXPECT_EQ(power({100, 2}), "False");
  EXPECT_EQ(power({0}), "False");
}

TEST(Features, StridesAndAlignment) {
  TensorSpec transposed = tensor_spec("float32", {4, 8});
  transposed.strides = {1, 4};
  transposed.contiguous = false;
  TensorSpec expanded = tensor_spec("float32", {4});
  expanded.strides = {0};
  expanded.contiguous = false;
  expanded.alignment = 4;
  EXPECT_EQ(text(of({{"x", transposed}}), "strided"), "True");
  EXPECT_EQ(text(of({{"x", transposed}}), "contiguous"), "False");
  EXPECT_EQ(text(of({{"x", expanded}}), "strided"), "False");
  EXPECT_EQ(text(of({{"x", expanded}}), "aligned"), "False");
  EXPECT_EQ(text(of({{"x", tensor_spec("float32", {4, 8})}}), "strided"), "False");
}

TEST(Features, ReductionsInsideOtherOperators) {
  struct Row {
    const char* op;
    std::vector<Operand> arguments;
    std::array<const char*, 3> expected;
  };
  const Row table[] = {
      {"aten._softmax.default", {input(0), constant(1), constant(false)}, {"2", "3", "5"}},
      {"aten._log_softmax.default", {input(0), constant(-1), constant(false)}, {"6", "5", "1"}},
      {"aten.native_layer_norm.default", {input(0), constant(List{3, 5})}, {"2", "15", "1"}},
      {"aten.var.correction", {input(0), constant(List{2})}, {"6", "5", "1"}},
      {"aten.linalg_vector_norm.default",
       {input(0), constant(2), constant(List{0})},
       {"1", "2", "15"}},
      {"aten.amax.default", {input(0), constant(List{})}, {"1", "30", "1"}},
      {"aten.cumsum.default", {input(0), constant(1)}, {"absent", "absent", "absent"}},
      {"aten.sum.dim_IntList", {input(0), constant(List{7})}, {"absent", "absent", "absent"}},
      {"aten.sum.dim_IntList", {input(0), constant(List{1, 1})}, {"absent", "absent", "absent"}},
  };
  for (const Row& row : table) {
    const TensorSpec x = tensor_spec("float32", {2, 3, 5});
    const Features features = of({{"x", x}}, single(row.op, row.arguments, x));
    EXPECT_EQ(text(features, "outer_size"), row.expected[0]) << row.op;
    EXPECT_EQ(text(features, "reduce_size"), row.expected[1]) << row.op;
    EXPECT_EQ(text(features, "inner_size"), row.expected[2]) << row.op;
  }
}

TEST(Features, Broadcasting) {
  struct Row {
    std::vector<std::int64_t> x, y;
    const char *ndim, *dims, *equal, *repeated, *levels;
  };
  const Row table[] = {
      {{4, 8}, {4, 8}, "2", "[]", "True", "absent", "absent"},
      {{4, 8}, {4, 1}, "2", "[1]", "False", "\"right\"", "\"BL\""},
      {{4, 1}, {4, 8}, "2", "[1]", "False", "\"left\"", "\"BR\""},
      {{4, 8}, {8}, "2", "[0]", "False", "\"right\"", "\"LB\""},
      {{1, 8}, {8}, "2", "[]", "True", "absent", "absent"},
      {{4, 1}, {1, 8}, "2", "[0, 1]", "False", "\"both\"", "\"LR\""},
      {{2, 64, 56, 56}, {1, 64, 1, 1}, "4", "[0, 2, 3]", "False", "\"right\"", "\"LBL\""},
      {{1, 64, 56, 56}, {1, 64, 1, 1}, "4", "[2, 3]", "False", "\"right\"", "\"BL\""},
      {{4, 8}, {}, "2", "[0, 1]", "False", "\"right\"", "\"L\""},
  };
  for (const Row& row : table) {
    const Case sample{1,
                      {{"x", tensor_spec("float32", row.x)},
                       {"y", tensor_spec("float32", row.y)},
                       {"alpha", 1.0}}};
    const Features features = case_features(sample, add_trace(sample));
    EXPECT_EQ(text(features, "out_ndim"), row.ndim);
    EXPECT_EQ(text(features, "broadcast_dims"), row.dims);
    EXPECT_EQ(text(features, "equal_shapes"), row.equal);
    EXPECT_EQ(text(features, "repeated_operand"), row.repeated);
    EXPECT_EQ(text(features, "broadcast_levels"), row.levels);
  }
}

TEST(Features, MoreThanTwoOperands) {
  const TensorSpec x = tensor_spec("float32", {4, 8});
  const Features features = of({{"x", x}, {"y", x}, {"z", tensor_spec("float32", {1, 8})}},
                               single("aten.addcmul.default", {input(0), input(1), input(2)}, x));
  EXPECT_EQ(text(features, "broadcast_dims"), "[0]");
  EXPECT_EQ(text(features, "unit_dims"), "[]");
  EXPECT_EQ(text(features, "repeated_operand"), "\"several\"");
  EXPECT_EQ(text(features, "broadcast_levels"), "absent");
}

TEST(Features, AResultThatOperandsDoNotBroadcastToHasNoBroadcast) {
  const Case sample{1, {{"x", tensor_spec("float32", {4, 8})}, {"dim", 1}, {"keepdim", false}}};
  EXPECT_EQ(text(case_features(sample, sum_trace(sample)), "out_ndim"), "absent");
}

TEST(Features, EachIsInTheTable) {
  const Case sample{1,
                    {{"x", tensor_spec("float32", {4, 8})},
                     {"y", tensor_spec("float32", {4, 1})},
                     {"alpha", 1.0}}};
  ReferenceGraph graph = add_trace(sample);
  graph.nodes.push_back({"aten.sum.default", {input(0)}, {}, {tensor_spec("float32", {})}});
  const Features features = case_features(sample, graph);
  EXPECT_EQ(features.size(), feature_table().size());
  for (const FeatureInfo& info : feature_table()) {
    const auto found = features.find(info.name);
    ASSERT_NE(found, features.end()) << info.name;
    const Literal& value = found->second;
    switch (info.kind) {
      case FeatureInfo::Kind::integer: EXPECT_TRUE(value.as_int()) << info.name; break;
      case FeatureInfo::Kind::boolean: EXPECT_TRUE(value.as_bool()) << info.name; break;
      case FeatureInfo::Kind::text: EXPECT_TRUE(value.as_string()) << info.name; break;
      case FeatureInfo::Kind::list: EXPECT_TRUE(value.as_list()) << info.name; break;
    }
  }
}

}  // namespace
}  // namespace ksplit
