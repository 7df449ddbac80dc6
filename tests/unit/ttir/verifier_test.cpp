// SPDX-License-Identifier: Apache-2.0
#include "ttir/verifier.h"

#include <gtest/gtest.h>

#include "ttir/parser.h"

namespace ksplit::ttir {
namespace {

constexpr const char* kArguments =
    "%i: i32, %f: f32, %c: i1, %p: !tt.ptr<f32>, %t: tensor<4xf32>, %m: tensor<4x8xf32>, "
    "%q: tensor<4x!tt.ptr<f32>>, %n: tensor<4xi32>, %b: tensor<4xi1>";

Status verify_body(const std::string& body) {
  const std::string text =
      "module {\n  tt.func private @g(%x: i32) -> i32 {\n    tt.return %x : i32\n"
      "  }\n  tt.func public @k(" +
      std::string(kArguments) + ") {\n" + body + "\n  }\n}\n";
  return parse(text, "test").and_then([](const Module& module) { return verify(module); });
}

struct Row {
  const char* body;     // followed by tt.return unless it ends a block itself
  const char* message;  // empty: legal
};

void expect(const Row& row, bool returns = true) {
  const auto status =
      verify_body(std::string("    ") + row.body + (returns ? "\n    tt.return" : ""));
  const std::string message = status ? "" : status.error().message;
  EXPECT_EQ(message, row.message) << row.body;
}

TEST(Verifier, SignaturesAndAttributes) {
  const Row rows[] = {
      {"%0 = arith.addi %i, %i : i32", ""},
      {"%0 = arith.addi %f, %f : f32",
       "'arith.addi': operand 0 should be an integer but has type f32"},
      {"%0 = arith.addf %i, %i : i32",
       "'arith.addf': operand 0 should be a float but has type i32"},
      {"%0 = \"arith.addi\"(%i) : (i32) -> i32",
       "the operands of 'arith.addi' don't fit its groups"},
      {"%0 = \"arith.addi\"(%i, %i) : (i32, i32) -> i64",
       "'arith.addi': result 0 should have type i32 but has i64"},
      {"%0 = \"arith.cmpi\"(%i, %i) : (i32, i32) -> i1",
       "'arith.cmpi': attribute 'predicate' is missing"},
      {"%0 = \"arith.cmpi\"(%i, %i) <{predicate = 99 : i64}> : (i32, i32) -> i1",
       "'arith.cmpi': attribute 'predicate' has no meaning: 99 : i64"},
      {"%0 = \"arith.cmpi\"(%n, %n) <{predicate = 2 : i64}> : (tensor<4xi32>, tensor<4xi32>) -> i1",
       "'arith.cmpi': result 0 should have type tensor<4xi1> but has i1"},
      {"%0 = arith.sitofp %n : tensor<4xi32> to tensor<8xf32>",
       "'arith.sitofp': result 0 should have the shape of tensor<4xi32> but has type "
       "tensor<8xf32>"},
      {"%0 = \"foo.bar\"(%i) : (i32) -> i32", "'foo.bar': this operation is not covered"},
      {"%0 = \"tt.splat\"(%f) ({\n    }) : (f32) -> tensor<4xf32>",
       "'tt.splat': should have 0 regions and 0 successors"},
      {"%0 = tt.addptr %q, %n : tensor<4x!tt.ptr<f32>>, tensor<4xi32>", ""},
      {"%0 = tt.addptr %q, %i : tensor<4x!tt.ptr<f32>>, i32",
       "'tt.addptr': operand 1 should have the shape of tensor<4x!tt.ptr<f32>> but has type i32"},
      {"%0 = tt.load %q, %b, %t : tensor<4x!tt.ptr<f32>>", ""},
      {"%0 = tt.load %q, %c : tensor<4x!tt.ptr<f32>>",
       "'tt.load': operand 1 should have type tensor<4xi1> but has i1"},
      {"tt.store %q, %n : tensor<4x!tt.ptr<f32>>",
       "'tt.store': operand 1 should have type tensor<4xf32> but has tensor<4xi32>"},
      {"%0 = tt.call @g(%i) : (i32) -> i32", ""},
      {"%0 = tt.call @h(%i) : (i32) -> i32", "'tt.call': calls a function that is not there"},
      {"%0 = tt.call @g(%f) : (f32) -> i32", "'tt.call': doesn't fit the type of 'g'"},
  };
  for (const Row& row : rows) expect(row);
}

TEST(Verifier, RulesOfSingleOperations) {
  const Row rows[] = {
      {"%0 = \"arith.constant\"() <{value = 1 : i32}> : () -> i64",
       "'arith.constant': a value of type i32 for a result of type i64"},
      {"%0 = arith.select %b, %t, %t : tensor<4xi1>, tensor<4xf32>", ""},
      {"%0 = arith.select %b, %m, %m : tensor<4xi1>, tensor<4x8xf32>",
       "'arith.select': the condition tensor<4xi1> should have the result's shape"},
      {"%0 = arith.extsi %i : i32 to i16", "'arith.extsi': i32 to i16 is not wider"},
      {"%0 = arith.truncf %f : f32 to f32", "'arith.truncf': f32 to f32 is not narrower"},
      {"%0 = arith.bitcast %f : f32 to i64", "'arith.bitcast': f32 and i64 have no bits in common"},
      {"%0 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<8xi32>",
       "'tt.make_range': a range from 0 to 4 can't be tensor<8xi32>"},
      {"%0 = tt.splat %f : f32 -> tensor<4xi32>",
       "'tt.splat': the result should have type tensor<4xf32> but has tensor<4xi32>"},
      {"%0 = tt.unsplat %t : tensor<4xf32>",
       "'tt.unsplat': tensor<4xf32> has more than one element"},
      {"%0 = tt.broadcast %m : tensor<4x8xf32> -> tensor<4x16xf32>",
       "'tt.broadcast': tensor<4x8xf32> can't be broadcast to tensor<4x16xf32>"},
      {"%0 = tt.expand_dims %t {axis = 1 : i32} : tensor<4xf32> -> tensor<4x1xf32>", ""},
      {"%0 = tt.expand_dims %t {axis = 2 : i32} : tensor<4xf32> -> tensor<4x1xf32>",
       "'tt.expand_dims': the axis is out of range"},
      {"%0 = tt.reshape %m : tensor<4x8xf32> -> tensor<16xf32>",
       "'tt.reshape': tensor<4x8xf32> and tensor<16xf32> differ in elements"},
      {"%0 = tt.trans %m {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>", ""},
      {"%0 = tt.trans %m {order = array<i32: 1, 1>} : tensor<4x8xf32> -> tensor<8x8xf32>",
       "'tt.trans': the order should name each dimension once"},
      {"%0 = tt.join %t, %t : tensor<4xf32> -> tensor<4x3xf32>",
       "'tt.join': the result should have type tensor<4x2xf32> but has tensor<4x3xf32>"},
      {"%0, %1 = tt.split %m : tensor<4x8xf32> -> tensor<4xf32>",
       "'tt.split': the last dimension should have size 2"},
      {"%0 = tt.cat %t, %t : tensor<4xf32> -> tensor<4xf32>",
       "'tt.cat': the result should have type tensor<8xf32> but has tensor<4xf32>"},
      {"%0 = tt.dot %m, %m, %m : tensor<4x8xf32> * tensor<4x8xf32> -> tensor<4x8xf32>",
       "'tt.dot': tensor<4x8xf32> times tensor<4x8xf32> can't be tensor<4x8xf32>"},
      {"%0 = tt.advance %p, [%i] : <f32>", "'tt.advance': the result should point to a tensor"},
  };
  for (const Row& row : rows) expect(row);
}

TEST(Verifier, RegionsOfReductions) {
  const std::string head = "%0 = \"tt.reduce\"(%m) <{axis = 1 : i32}> ({\n    ^bb0(";
  const std::string tail = "    }) : (tensor<4x8xf32>) -> tensor<4xf32>";
  const std::string good = head + "%x: f32, %y: f32):\n      tt.reduce.return %x : f32\n" + tail;
  const std::string arguments = head + "%x: f32):\n      tt.reduce.return %x : f32\n" + tail;
  const std::string ending = head + "%x: f32, %y: f32):\n      scf.yield %x : f32\n" + tail;
  const std::string passed = head + "%x: f32, %y: f32):\n      tt.reduce.return %i : i32\n" + tail;
  std::string shape = good;
  shape.replace(shape.rfind("tensor<4xf32>"), 13, "tensor<8xf32>");
  expect({good.c_str(), ""});
  expect({arguments.c_str(), "'tt.reduce': region 0 should take f32, f32 but takes f32"});
  expect({ending.c_str(), "'tt.reduce': region 0 should end in 'tt.reduce.return'"});
  expect({passed.c_str(), "'tt.reduce': 'tt.reduce.return' should pass f32 but passes i32"});
  expect({shape.c_str(), "'tt.reduce': the results should be tensor<4xf32> but are tensor<8xf32>"});
}

TEST(Verifier, StructuredControlFlow) {
  const Row rows[] = {
      {"%0 = scf.for %k = %i to %i step %i iter_args(%s = %f) -> (f32)  : i32 {\n"
       "      scf.yield %s : f32\n    }",
       ""},
      {"%0 = scf.for %k = %i to %i step %i iter_args(%s = %f) -> (f32)  : i32 {\n"
       "      scf.yield %k : i32\n    }",
       "'scf.for': 'scf.yield' should pass f32 but passes i32"},
      {"%0 = scf.if %c -> (f32) {\n      scf.yield %f : f32\n    }",
       "'scf.if': results need an else branch"},
      {"%0 = scf.while (%s = %i) : (i32) -> f32 {\n      scf.condition(%c) %f : f32\n    } do {\n"
       "    ^bb0(%v: f32):\n      scf.yield %i : i32\n    }",
       ""},
      {"%0 = scf.while (%s = %i) : (i32) -> f32 {\n      scf.condition(%c) %s : i32\n    } do {\n"
       "    ^bb0(%v: f32):\n      scf.yield %i : i32\n    }",
       "'scf.while': 'scf.condition' should pass f32 but passes i32"},
  };
  for (const Row& row : rows) expect(row);
}

TEST(Verifier, BlocksAndBranches) {
  const Row rows[] = {
      {"%0 = arith.addi %i, %i : i32", "'arith.addi': a block can't end here"},
      {"tt.return\n    tt.return", "'tt.return': only a block's end may be this"},
      {"tt.return %i : i32", "'tt.return': should return what the function's type says"},
      {"scf.yield", "'scf.yield': can't end a function's block"},
      {"cf.br ^bb1(%i : i32)\n  ^bb1(%v: i32):\n    tt.return", ""},
      {"cf.br ^bb1(%f : f32)\n  ^bb1(%v: i32):\n    tt.return",
       "'cf.br': should pass block 1 the values it takes"},
      {"cf.cond_br %c, ^bb1, ^bb2\n  ^bb1:\n    %0 = arith.addi %i, %i : i32\n    cf.br ^bb2\n"
       "  ^bb2:\n    %1 = arith.addi %0, %i : i32\n    tt.return",
       "'arith.addi': '%0' is not defined on every path to here"},
      {"%0 = arith.addi %1, %i : i32\n    %1 = arith.addi %i, %i : i32\n    tt.return",
       "'arith.addi': '%1' is not defined on every path to here"},
      {"cf.br ^bb1\n  ^bb1:\n    cf.br ^bb0\n  ^bb0:\n    tt.return", ""},
  };
  for (const Row& row : rows) expect(row, /*returns=*/false);
}

// A loop of blocks: the value is defined before the loop's head on every path.
TEST(Verifier, DominanceThroughLoops) {
  expect({"cf.br ^bb1(%i : i32)\n  ^bb1(%v: i32):\n    %0 = arith.addi %v, %i : i32\n"
          "    cf.cond_br %c, ^bb2, ^bb3\n  ^bb2:\n    cf.br ^bb1(%0 : i32)\n"
          "  ^bb3:\n    %1 = arith.addi %0, %v : i32\n    tt.return",
          ""},
         /*returns=*/false);
}

TEST(Verifier, ErrorsLeadToTheKernelsLine) {
  const auto status = verify_body(
      "    %0 = tt.splat %f : f32 -> tensor<4xi32> loc(callsite(\"a.py\":3:4 at \"k.py\":9:8))\n"
      "    tt.return");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().at, (SourceSpan{"a.py", 3, 5}));
}

TEST(Verifier, FunctionsHaveNamesOfTheirOwn) {
  const auto module = parse(
      "module {\n  tt.func @f() {\n    tt.return\n  }\n  tt.func @f() {\n"
      "    tt.return\n  }\n}\n",
      "t");
  EXPECT_EQ(verify(*module).error().message, "function 'f' is defined twice");
}

}  // namespace
}  // namespace ksplit::ttir
