// SPDX-License-Identifier: Apache-2.0
#include "ttir/analysis/affine.h"

#include <gtest/gtest.h>

#include "golden.h"
#include "ttir/parser.h"
#include "ttir/verifier.h"

namespace ksplit::ttir {
namespace {

// The forms of the addresses that a kernel loads from and stores to, in order; "?" where none.
std::vector<std::string> addresses(const Module& module) {
  const Function& kernel = *module.kernel();
  const AffineForms forms(module, kernel);
  std::vector<std::string> found;
  walk(kernel.body, [&](const Operation& op) {
    if (!op.is("tt.load") && !op.is("tt.store")) return;
    const AffineForm* form = forms.of(op.operand(0));
    found.push_back(form != nullptr ? form->str() : "?");
  });
  return found;
}

std::vector<std::string> golden_addresses(const std::string& name) {
  return addresses(parse(golden_text(name), name).value());
}

std::vector<std::string> body_addresses(const std::string& body) {
  const auto module = parse(
      "module {\n  tt.func public @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 "
      "{tt.divisibility = 16 : i32}, %m: i32, %c: i1, %q: !tt.ptr<i32>) {\n"
      "    %zero = arith.constant 0 : i32\n    %one = arith.constant 1 : i32\n"
      "    %lanes = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
      "    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n" +
          body + "\n    tt.return\n  }\n}\n",
      "body");
  EXPECT_TRUE(module) << module.error().message;
  EXPECT_TRUE(verify(*module)) << verify(*module).error().message;
  return addresses(*module);
}

using Lines = std::vector<std::string>;

// The expected formulas are read off the kernels in tests/golden/ttir/kernels.py by hand.
TEST(AffineForms, Rows) {
  for (const char* name :
       {"3.4/softmax.opt.ttir", "3.5/softmax.opt.ttir", "3.6/softmax.opt.ttir"}) {
    const auto found = golden_addresses(name);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_TRUE(found[0].ends_with(" + i0"));
  }
  EXPECT_EQ(golden_addresses("3.6/softmax.opt.ttir"),
            (Lines{"X + pid.x*stride + i0", "Out + pid.x*stride + i0"}));
}

TEST(AffineForms, TilesOfAMatrixProduct) {
  EXPECT_EQ(golden_addresses("3.6/matmul.opt.ttir"),
            (Lines{"A + 64*pid.x*am + 32*ak*round(k) + am*i0 + ak*i1",
                   "B + 64*pid.y*bn + 32*bk*round(k) + bk*i0 + bn*i1",
                   "C + 64*pid.x*cm + 64*pid.y*cn + cm*i0 + cn*i1"}));
}

TEST(AffineForms, LoopsOverARow) {
  EXPECT_EQ(golden_addresses("3.6/layer_norm.opt.ttir"),
            (Lines{"X + pid.x*stride + 256*round(start) + i0", "Mean + pid.x", "Rstd + pid.x",
                   "X + pid.x*stride + 256*round(start) + i0", "W + 256*round(start) + i0",
                   "Bias + 256*round(start) + i0", "Out + pid.x*stride + 256*round(start) + i0"}));
}

TEST(AffineForms, TilesOfAttention) {
  EXPECT_EQ(golden_addresses("3.6/attention.opt.ttir"),
            (Lines{"Q + 2048*pid.x + 64*pid.y*n + 64*i0 + i1",
                   "K + 64*pid.y*n + 2048*round(start) + 64*i0 + i1",
                   "V + 64*pid.y*n + 2048*round(start) + 64*i0 + i1",
                   "Out + 2048*pid.x + 64*pid.y*n + 64*i0 + i1"}));
}

TEST(AffineForms, BlockPointersOnceLowered) {
  EXPECT_EQ(golden_addresses("3.6/block_pointers.opt.ttir"),
            (Lines{"A + 16*pid.x*N + 32*round(q_7) + N*i0 + i1",
                   "A + 16*pid.x*N + 32*round(q_7) + N*i0 + i1",
                   "Out + 16*pid.x*N + 32*round(q_7) + N*i0 + i1"}));
}

struct Row {
  const char* body;
  Lines addresses;
};

constexpr const char* kLoad = "\n    %v = tt.load %a : tensor<64x!tt.ptr<f32>>";
constexpr const char* kAddress =
    "\n    %a = tt.addptr %ps, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi32>";

TEST(AffineForms, SingleOperations) {
  const Row rows[] = {
      {"%o = arith.muli %lanes, %lanes : tensor<64xi32>", {"?"}},
      {"%o = arith.subi %lanes, %lanes : tensor<64xi32>", {"p"}},
      {"%three = arith.constant dense<3> : tensor<64xi32>\n"
       "    %o = arith.shli %lanes, %three : tensor<64xi32>",
       {"p + 8*i0"}},
      {"%ns = tt.splat %n : i32 -> tensor<64xi32>\n"
       "    %o = arith.muli %ns, %lanes : tensor<64xi32>",
       {"p + n*i0"}},
      {"%ns = tt.splat %n : i32 -> tensor<64xi32>\n"
       "    %o = arith.remsi %lanes, %ns : tensor<64xi32>",
       {"?"}},
      {"%half = arith.divsi %n, %m : i32\n    %hs = tt.splat %half : i32 -> tensor<64xi32>\n"
       "    %o = arith.addi %hs, %lanes : tensor<64xi32>",
       {"p + half + i0"}},
      {"%x = scf.if %c -> (i32) {\n      scf.yield %n : i32\n    } else {\n"
       "      scf.yield %m : i32\n    }\n    %o = tt.splat %x : i32 -> tensor<64xi32>",
       {"p + x"}},
      {"%x = scf.if %c -> (i32) {\n      scf.yield %n : i32\n    } else {\n"
       "      scf.yield %n : i32\n    }\n    %o = tt.splat %x : i32 -> tensor<64xi32>",
       {"p + n"}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(body_addresses("    " + std::string(row.body) + kAddress + kLoad), row.addresses)
        << row.body;
  }
}

std::string loop(const std::string& yielded, const std::string& inside = "") {
  return "    %r = scf.for %k = %zero to %n step %one iter_args(%a = %ps) -> "
         "(tensor<64x!tt.ptr<f32>>)  : i32 {\n" +
         inside +
         "      %v = tt.load %a : tensor<64x!tt.ptr<f32>>\n"
         "      %next = tt.addptr %a, " +
         yielded +
         " : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
         "      scf.yield %next : tensor<64x!tt.ptr<f32>>\n    }";
}

TEST(AffineForms, CarriedPointersMoveEvenlyOrNotAtAll) {
  const std::string uniform_step = "    %ms = tt.splat %m : i32 -> tensor<64xi32>\n";
  EXPECT_EQ(body_addresses(uniform_step + loop("%ms")), Lines{"p + m*round(k)"});
  // The step differs from lane to lane, from round to round, or is loaded anew each round.
  EXPECT_EQ(body_addresses(loop("%lanes")), Lines{"?"});
  EXPECT_EQ(body_addresses(loop("%ks", "      %ks = tt.splat %k : i32 -> tensor<64xi32>\n")),
            Lines{"?"});
  EXPECT_EQ(body_addresses(loop("%ls",
                                "      %l = tt.load %q : !tt.ptr<i32>\n"
                                "      %ls = tt.splat %l : i32 -> tensor<64xi32>\n")),
            (Lines{"q", "?"}));
}

// Two values that trade places each round are not carried evenly, though each looks uniform.
TEST(AffineForms, SwappedValuesAreNotSolved) {
  EXPECT_EQ(body_addresses(
                "    %r:2 = scf.for %k = %zero to %n step %one iter_args(%x = %n, %y = %m) -> "
                "(i32, i32)  : i32 {\n      %a = tt.addptr %p, %x : !tt.ptr<f32>, i32\n"
                "      %v = tt.load %a : !tt.ptr<f32>\n      scf.yield %y, %x : i32, i32\n    }"),
            (Lines{"p + x"}));
}

// A value that a loop carries unchanged is the same after it.
TEST(AffineForms, UnchangedValuesOutliveTheLoop) {
  EXPECT_EQ(
      body_addresses("    %r:2 = scf.for %k = %zero to %n step %one iter_args(%x = %n, %y = %m) -> "
                     "(i32, i32)  : i32 {\n      %z = arith.addi %y, %one : i32\n"
                     "      scf.yield %x, %z : i32, i32\n    }\n"
                     "    %a = tt.addptr %p, %r#0 : !tt.ptr<f32>, i32\n"
                     "    %v = tt.load %a : !tt.ptr<f32>\n"
                     "    %b = tt.addptr %p, %r#1 : !tt.ptr<f32>, i32\n"
                     "    %w = tt.load %b : !tt.ptr<f32>"),
      (Lines{"p + n", "p + r"}));
}

TEST(AffineForms, DeepNestsEnd) {
  std::string open;
  std::string close;
  for (int i = 0; i < 60; ++i) {
    const std::string k = "%k" + std::to_string(i);
    open += "    scf.for " + k + " = %zero to %n step %one  : i32 {\n";
    close += "    }\n";
  }
  EXPECT_EQ(body_addresses(open + "    %v = tt.load %p : !tt.ptr<f32>\n" + close), Lines{"p"});
}

TEST(LaneRun, WhatTritonCallsAxisInformation) {
  const Module module = parse(golden_text("3.6/attention.opt.ttir"), "attention").value();
  const Function& kernel = *module.kernel();
  const AffineForms forms(module, kernel);
  const Value* address = nullptr;
  walk(kernel.body, [&](const Operation& op) {
    if (address == nullptr && op.is("tt.load")) address = &op.operand(0);
  });
  const AffineForm& form = *forms.of(*address);
  const LaneRun along = lane_run(form, address->type, 1, kernel);
  EXPECT_EQ(along.contiguity, 64);
  EXPECT_EQ(along.constancy, 1);
  EXPECT_EQ(along.divisibility, 16);  // bytes: all offsets are multiples of 128, the base of 16
  const LaneRun across = lane_run(form, address->type, 0, kernel);
  EXPECT_EQ(across.contiguity, 1);
  EXPECT_EQ(across.divisibility, 2);  // lane i1 = 1 starts one f16 further on
}

TEST(Polynomial, Arithmetic) {
  const Symbol x{Symbol::Kind::program_id, 0, nullptr};
  const Symbol y{Symbol::Kind::program_id, 1, nullptr};
  const Polynomial a = sum(Polynomial(x), Polynomial(2)).value();
  const Polynomial b = difference(Polynomial(y), Polynomial(2)).value();
  EXPECT_EQ(product(a, b)->str(), "-4 + -2*pid.x + pid.x*pid.y + 2*pid.y");
  EXPECT_EQ(product(a, b), product(b, a));
  EXPECT_EQ(difference(a, a), Polynomial());
  EXPECT_EQ(Polynomial().str(), "0");
  EXPECT_EQ(Polynomial(7).constant(), 7);
  EXPECT_EQ(Polynomial().constant(), 0);
  EXPECT_EQ(a.constant(), std::nullopt);
  EXPECT_FALSE(product(Polynomial(INT64_MAX), Polynomial(2)));
  EXPECT_FALSE(sum(Polynomial(INT64_MAX), Polynomial(1)));
}

// Repeated squaring stays bounded, in terms and in degree, instead of growing without end.
TEST(Polynomial, SizeIsLimited) {
  const Polynomial x(Symbol{Symbol::Kind::program_id, 0, nullptr});
  const Polynomial y(Symbol{Symbol::Kind::program_id, 1, nullptr});
  for (const Polynomial& start : {x, sum(x, y).value()}) {
    Polynomial power = start;
    int squarings = 0;
    for (std::optional<Polynomial> next = power; next && squarings < 50; ++squarings) {
      power = *next;
      next = product(power, power);
    }
    EXPECT_EQ(squarings, 4);  // the first, squared, to the 4th, to the 8th
    EXPECT_LE(power.terms().size(), Polynomial::kMaxTerms);
  }
  Polynomial many;
  bool fits = true;
  for (int axis = 0; fits && axis < 100; ++axis) {
    const auto more = sum(many, Symbol{Symbol::Kind::program_id, axis, nullptr});
    fits = more.has_value();
    if (fits) many = *more;
  }
  EXPECT_FALSE(fits);
  EXPECT_EQ(many.terms().size(), Polynomial::kMaxTerms);
}

}  // namespace
}  // namespace ksplit::ttir
