// SPDX-License-Identifier: Apache-2.0
#include "cpu/generate.h"

#include <gtest/gtest.h>

#include <regex>

#include "ttir/parser.h"
#include "ttir/verifier.h"

namespace ksplit::cpu {
namespace {

std::string kernel_with(const std::string& body) {
  return "module {\n  tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {\n"
         "    %c = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>\n"
         "    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>\n"
         "    %xp = tt.addptr %xs, %c : tensor<128x!tt.ptr<f32>>, tensor<128xi32>\n"
         "    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>\n"
         "    %yp = tt.addptr %ys, %c : tensor<128x!tt.ptr<f32>>, tensor<128xi32>\n"
         "    %ns = tt.splat %n : i32 -> tensor<128xi32>\n"
         "    %m = arith.cmpi slt, %c, %ns : tensor<128xi32>\n" +
         body + "    tt.return\n  }\n}\n";
}

Result<std::string> generated(const std::string& text, GenerateOptions options = {}) {
  auto module = ttir::parse(text, "test.ttir");
  if (!module) return tl::unexpected(module.error());
  if (auto legal = ttir::verify(*module); !legal) return tl::unexpected(legal.error());
  return generate(*module, options);
}

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

constexpr const char* kCopy = R"(
    %v = tt.load %xp, %m : tensor<128x!tt.ptr<f32>>
    %w = arith.addf %v, %v : tensor<128xf32>
    tt.store %yp, %w, %m : tensor<128x!tt.ptr<f32>>
)";

TEST(Generate, ElementwiseChainIsOneLoopOverTheBound) {
  const std::string source = generated(kernel_with(kCopy)).value();
  EXPECT_EQ(count(source, "for (int32_t i0"), 1) << source;
  EXPECT_NE(source.find("i0 < bound_0"), source.npos) << source;
  EXPECT_EQ(count(source, "?"), 0) << "the bound leaves no condition: " << source;
  EXPECT_NE(source.find("keep_ahead("), source.npos) << "x and y may overlap: " << source;
}

TEST(Generate, InPlaceNeedsNoComparison) {
  const std::string source = generated(kernel_with(R"(
    %v = tt.load %xp, %m : tensor<128x!tt.ptr<f32>>
    %w = arith.addf %v, %v : tensor<128xf32>
    tt.store %xp, %w, %m : tensor<128x!tt.ptr<f32>>
)"))
                                 .value();
  EXPECT_EQ(source.find("keep_ahead("), source.npos) << source;
}

TEST(Generate, LoadAfterStoreStaysBehindIt) {
  const std::string source = generated(kernel_with(R"(
    %v = tt.load %xp : tensor<128x!tt.ptr<f32>>
    tt.store %yp, %v : tensor<128x!tt.ptr<f32>>
    %w = tt.load %xp : tensor<128x!tt.ptr<f32>>
    tt.store %yp, %w : tensor<128x!tt.ptr<f32>>
)"))
                                 .value();
  EXPECT_EQ(count(source, "for (int32_t i0"), 2) << source;
}

constexpr const char* kOverSum = R"(
    %v = tt.load %xp : tensor<128x!tt.ptr<f32>>
    %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      tt.reduce.return %t : f32
    }) : (tensor<128xf32>) -> f32
    %ss = tt.splat %s : f32 -> tensor<128xf32>
    %w = arith.divf %v, %ss : tensor<128xf32>
    tt.store %yp, %w : tensor<128x!tt.ptr<f32>>
)";

TEST(Generate, ReductionAndItsUseAreTwoLoops) {
  const std::string source = generated(kernel_with(kOverSum)).value();
  EXPECT_EQ(count(source, "#pragma GCC ivdep"), 3) << source;  // with the tree of partial sums
  EXPECT_NE(source.find("part = -0.0f"), source.npos) << source;
}

TEST(Generate, FoldingFetchesAheadAndWhatTheNextLoopStoresTo) {
  const std::string wide = std::regex_replace(kernel_with(kOverSum), std::regex("128"), "1024");
  const std::string source = generated(wide).value();
  EXPECT_EQ(count(source, "fetch_next_page<64>(x + chunk);"), 1) << source;
  EXPECT_EQ(count(source, "fetch_to_write<64>(y + chunk);"), 1) << source;
  EXPECT_EQ(count(generated(wide, {.check_access = true}).value(), "fetch_"), 0);
}

TEST(Generate, CarriedPointerIsAnOffset) {
  const std::string source = generated(kernel_with(R"(
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %init = arith.constant dense<0.0> : tensor<128xf32>
    %step = arith.constant dense<128> : tensor<128xi32>
    %r:2 = scf.for %k = %zero to %n step %one iter_args(%acc = %init, %p = %xp) -> (tensor<128xf32>, tensor<128x!tt.ptr<f32>>)  : i32 {
      %v = tt.load %p : tensor<128x!tt.ptr<f32>>
      %a = arith.addf %acc, %v : tensor<128xf32>
      %q = tt.addptr %p, %step : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
      scf.yield %a, %q : tensor<128xf32>, tensor<128x!tt.ptr<f32>>
    }
    tt.store %yp, %r#0 : tensor<128x!tt.ptr<f32>>
)"))
                                 .value();
  EXPECT_NE(source.find("int64_t p_1 = 0;"), source.npos) << source;
  EXPECT_NE(source.find("p_1 = p_1 + 128;"), source.npos) << source;
  EXPECT_EQ(source.find("exchange("), source.npos) << "the sum is kept in place: " << source;
}

TEST(Generate, CheckedAccessNamesItsLine) {
  const std::string text = R"(
#loc1 = loc("k.py":7:4)
module {
  tt.func public @k(%x: !tt.ptr<f32>) {
    %c = arith.constant 1.0 : f32
    tt.store %x, %c : !tt.ptr<f32> loc(#loc1)
    tt.return
  }
}
)";
  const std::string source = generated(text, {true}).value();
  EXPECT_NE(source.find("{\"k\", \"k.py\", 7, \"store\"}"), source.npos) << source;
  EXPECT_NE(source.find("*checked(p, &site_1, 0, x) = 1.0f;"), source.npos) << source;
}

TEST(Generate, RefusalNamesOperationAndLine) {
  const std::string text = R"(
#loc1 = loc("k.py":9:11)
module {
  tt.func public @k(%x: !tt.ptr<f32>) {
    %c = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %r = tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %c : tensor<8xi32> -> tensor<8xi32> loc(#loc1)
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %q = tt.addptr %p, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %v = arith.constant dense<0.0> : tensor<8xf32>
    tt.store %q, %v : tensor<8x!tt.ptr<f32>>
    tt.return
  }
}
)";
  const auto source = generated(text);
  ASSERT_FALSE(source.has_value());
  EXPECT_EQ(source.error().code, ErrorCode::unsupported);
  EXPECT_NE(source.error().message.find("tt.elementwise_inline_asm"), std::string::npos);
  ASSERT_TRUE(source.error().at.has_value());
  EXPECT_EQ(source.error().at->line, 9);
}

TEST(Generate, NamesNeverCollideWithCpp) {
  const std::string text = R"(
module {
  tt.func public @int(%for: !tt.ptr<f32>, %p: f32, %i0: f32) {
    %class = arith.addf %p, %i0 : f32
    %class_1 = arith.addf %class, %class : f32
    tt.store %for, %class_1 : !tt.ptr<f32>
    tt.return
  }
}
)";
  const std::string source = generated(text).value();
  EXPECT_FALSE(std::regex_search(source, std::regex(R"(\bvoid int\b|\bfloat const class\b)")));
  EXPECT_NE(source.find("*for_1 = class_1_1;"), source.npos) << source;
}

TEST(Generate, OneKernelIsAskedFor) {
  const auto source = generated("module {\n}\n");
  ASSERT_FALSE(source.has_value());
  EXPECT_EQ(source.error().code, ErrorCode::input_malformed);
}

TEST(Generate, SameModuleSameText) {
  EXPECT_EQ(generated(kernel_with(kCopy)).value(), generated(kernel_with(kCopy)).value());
}

}  // namespace
}  // namespace ksplit::cpu
