// SPDX-License-Identifier: Apache-2.0
#include "cpu/affine.h"

#include <gtest/gtest.h>

#include "ttir/parser.h"

namespace ksplit::cpu {
namespace {

using ttir::Value;

TEST(Uniform, SumsCompareEqualHoweverTheyWereMade) {
  const Uniform a = Uniform::of("a"), b = Uniform::of("b");
  EXPECT_EQ(a + b * Uniform::of(2) - a, b + b);
  EXPECT_TRUE((a - a).is(0));
  EXPECT_EQ((a * Uniform::of(3) - b + Uniform::of(-4)).str(), "a * 3 - b - 4");
  EXPECT_EQ((a * b).str(), "((a) * (b))");
  EXPECT_EQ(a * b * Uniform::of(0), Uniform::of(0));
}

class AffineTest : public ::testing::Test {
 protected:
  /// The form of the value called `name`, in a function of this body.
  const Affine* form_of(const std::string& body, const std::string& name) {
    const std::string text =
        "module {\n  tt.func public @k(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %n: i32, %s: i64) {\n" +
        body + "    tt.return\n  }\n}\n";
    auto parsed = ttir::parse(text, "test");
    EXPECT_TRUE(parsed.has_value()) << parsed.error().message;
    module_ = std::move(*parsed);
    for (const Value& value : module_.values) {
      if (value.name == name) return analysis_.of(value);
    }
    return nullptr;
  }

  ttir::Module module_;
  AffineAnalysis analysis_{[](const Value& value) { return value.name; }};
};

TEST_F(AffineTest, TileOfAMatrix) {
  const Affine* form = form_of(R"(
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %c = tt.make_range {end = 80 : i32, start = 16 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %stride = tt.splat %n : i32 -> tensor<32x1xi32>
    %offsets = arith.muli %rows, %stride : tensor<32x1xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>>
    %at = tt.addptr %base, %offsets : tensor<32x1x!tt.ptr<f32>>, tensor<32x1xi32>
    %wide = tt.broadcast %at : tensor<32x1x!tt.ptr<f32>> -> tensor<32x64x!tt.ptr<f32>>
    %columns = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %all = tt.broadcast %columns : tensor<1x64xi32> -> tensor<32x64xi32>
    %x = tt.addptr %wide, %all : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
)",
                               "x");
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->base, "p");
  EXPECT_TRUE(form->offset.is(16));
  EXPECT_EQ(form->stride[0].str(), "int64_t(n)");
  EXPECT_TRUE(form->stride[1].is(1));
  EXPECT_TRUE(form->addends.empty());
}

TEST_F(AffineTest, RemainderIsAnAddendAlongItsAxis) {
  const Affine* form = form_of(R"(
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %size = tt.splat %n : i32 -> tensor<32xi32>
    %wrapped = arith.remsi %r, %size : tensor<32xi32>
    %rows = tt.expand_dims %wrapped {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %four = arith.constant dense<4> : tensor<32x1xi32>
    %x = arith.muli %rows, %four : tensor<32x1xi32>
)",
                               "x");
  ASSERT_NE(form, nullptr);
  ASSERT_EQ(form->addends.size(), 1U);
  EXPECT_EQ(form->addends[0].value->name, "wrapped");
  EXPECT_EQ(form->addends[0].axis, std::vector<int>{0});
  EXPECT_TRUE(form->addends[0].scale.is(4));
  EXPECT_TRUE(form->follows(0));
  EXPECT_FALSE(form->follows(1));
}

TEST_F(AffineTest, SplitAxisKeepsItsStride) {
  const Affine* form = form_of(R"(
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %x = tt.reshape %r : tensor<64xi32> -> tensor<4x1x16xi32>
)",
                               "x");
  ASSERT_NE(form, nullptr);
  EXPECT_TRUE(form->stride[0].is(16));
  EXPECT_TRUE(form->stride[1].is(0));
  EXPECT_TRUE(form->stride[2].is(1));
}

TEST_F(AffineTest, LoadedPointersHaveNoForm) {
  EXPECT_EQ(form_of(R"(
    %b = tt.splat %q : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %i = tt.load %b : tensor<8x!tt.ptr<i32>>
    %w = arith.extsi %i : tensor<8xi32> to tensor<8xi64>
    %x = tt.int_to_ptr %w : tensor<8xi64> -> tensor<8x!tt.ptr<f32>>
)",
                    "x"),
            nullptr);
}

TEST_F(AffineTest, NarrowIntegersHaveNoForm) {
  EXPECT_EQ(form_of(R"(
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %x = arith.trunci %r : tensor<8xi32> to tensor<8xi8>
)",
                    "x"),
            nullptr);
}

}  // namespace
}  // namespace ksplit::cpu
