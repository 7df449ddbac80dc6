// SPDX-License-Identifier: Apache-2.0
#include "ttir/parser.h"

#include <gtest/gtest.h>

#include "golden.h"
#include "ttir/printer.h"
#include "ttir/verifier.h"

namespace ksplit::ttir {
namespace {

std::string in_function(const std::string& body, const std::string& arguments = "%a: i32") {
  return "module {\n  tt.func public @k(" + arguments + ") {\n" + body +
         "\n    tt.return\n  }\n}\n";
}

const Operation& first_operation(const Module& module, std::string_view name) {
  const Operation* found = nullptr;
  for (const auto& function : module.functions) {
    walk(function->body, [&](const Operation& op) {
      if (found == nullptr && op.name == name) found = &op;
    });
  }
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

TEST(Parser, KernelAndItsArguments) {
  const Module module = parse(golden_text("3.6/softmax.opt.ttir"), "softmax").value();
  const Function* kernel = module.kernel();
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->name, "softmax");
  ASSERT_EQ(kernel->inputs.size(), 4U);
  EXPECT_EQ(kernel->inputs[0].str(), "!tt.ptr<f32>");
  const Attribute* divisibility = kernel->argument_attributes[0].find("tt.divisibility");
  ASSERT_NE(divisibility, nullptr);
  EXPECT_EQ(divisibility->as<IntegerAttr>()->value, 16);
  EXPECT_TRUE(kernel->argument_attributes[2].empty());
  EXPECT_EQ(kernel->body.entry().arguments[3]->name, "columns");
  EXPECT_EQ(module.find("no such function"), nullptr);
}

TEST(Parser, OperandGroupsOfALoad) {
  const Module module = parse(golden_text("3.6/memory.opt.ttir"), "memory").value();
  int plain = 0;
  int masked = 0;
  int full = 0;
  walk(module.kernel()->body, [&](const Operation& op) {
    if (!op.is("tt.load")) return;
    ASSERT_EQ(op.segments.size(), 3U);
    EXPECT_EQ(op.operand_group(0).size(), 1U);
    const bool mask = !op.operand_group(1).empty();
    const bool other = !op.operand_group(2).empty();
    ++(other ? full : mask ? masked : plain);
    for (const Value* value : op.operand_group(1)) {
      EXPECT_EQ(value->type.element(), Type::integer(1));
    }
    for (const Value* value : op.operand_group(2)) EXPECT_EQ(value->type, op.result().type);
    EXPECT_TRUE(op.operand_group(3).empty());
  });
  EXPECT_EQ(plain, 3);
  EXPECT_EQ(masked, 1);
  EXPECT_EQ(full, 1);
}

TEST(Parser, EnumerationsBecomeWordsAndDefaultsGo) {
  const std::string compact = in_function(
      "    %v = tt.load %p cacheModifier = cg evictionPolicy = evict_first {isVolatile = true} : "
      "!tt.ptr<f32>\n    %c = arith.cmpf une, %v, %v fastmath<nnan,contract> : f32",
      "%p: !tt.ptr<f32>");
  const std::string generic = in_function(
      "    %v = \"tt.load\"(%p) <{boundaryCheck = array<i32>, cache = 3 : i32, evict = 2 : i32, "
      "isVolatile = true, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> f32\n"
      "    %c = \"arith.cmpf\"(%v, %v) <{fastmath = #arith.fastmath<nnan, contract>, predicate = "
      "13 "
      ": i64}> : (f32, f32) -> i1",
      "%p: !tt.ptr<f32>");
  const Module a = parse(compact, "compact").value();
  const Module b = parse(generic, "generic").value();
  EXPECT_EQ(print(a), print(b));
  const Operation& load = first_operation(b, "tt.load");
  EXPECT_EQ(load.keyword("cache"), "cg");
  EXPECT_EQ(load.keyword("evict"), "evict_first");
  EXPECT_EQ(load.integer("isVolatile"), 1);
  EXPECT_EQ(load.attribute("boundaryCheck"), nullptr);
  EXPECT_EQ(load.keyword("padding", "none"), "none");
  EXPECT_EQ(first_operation(a, "arith.cmpf").keyword("predicate"), "une");
}

TEST(Parser, ResultsInGroups) {
  const std::string text = in_function(
      "    %p:2 = tt.call @pair(%a) : (i32) -> (i32, i32)\n"
      "    %low, %high = arith.mulsi_extended %p#1, %p#0 : i32\n"
      "    %s = arith.addi %low, %high : i32");
  const Module module = parse(text, "groups").value();
  const Operation& wide = first_operation(module, "arith.mulsi_extended");
  EXPECT_EQ(wide.operands[0]->index, 1);
  EXPECT_EQ(wide.operands[1]->index, 0);
  EXPECT_EQ(wide.results[1]->name, "high");
  EXPECT_EQ(print(wide), "%low, %high = arith.mulsi_extended %p#1, %p#0 : i32");
  EXPECT_EQ(print(module), text);
}

TEST(Parser, StructuredControlFlow) {
  const Module module = parse(golden_text("3.6/control_flow.opt.ttir"), "control").value();
  const Operation& loop = first_operation(module, "scf.for");
  ASSERT_EQ(loop.operand_group(3).size(), 2U);
  EXPECT_EQ(loop.regions[0]->entry().arguments.size(), 3U);
  EXPECT_EQ(loop.regions[0]->parent, &loop);
  EXPECT_EQ(loop.results[0]->name, loop.results[1]->name);
  const Operation& branch = first_operation(module, "cf.cond_br");
  ASSERT_EQ(branch.successors.size(), 2U);
  EXPECT_EQ(branch.successors[0].block->index, 1);
  const Operation& repeat = first_operation(module, "scf.while");
  EXPECT_TRUE(repeat.regions[0]->entry().terminator()->is("scf.condition"));
}

TEST(Parser, LoopsWithoutResultsGetTheirYield) {
  const Module module = parse(in_function(R"(    %c = arith.constant true
    scf.for %i = %a to %a step %a  : i32 {
    }
    scf.if %c {
    } else {
    })"),
                              "implied")
                            .value();
  ASSERT_TRUE(verify(module));
  EXPECT_TRUE(first_operation(module, "scf.for").regions[0]->entry().terminator()->is("scf.yield"));
  EXPECT_EQ(first_operation(module, "scf.if").regions[1]->blocks.size(), 1U);
}

// Blocks may be written in any order that dominance allows; uses then precede definitions.
TEST(Parser, ValuesMayBeUsedAboveTheirDefinition) {
  const std::string text = in_function(R"(    cf.br ^bb2
  ^bb1:  // pred: ^bb2
    %y = arith.addi %x, %x : i32
    tt.return
  ^bb2:  // pred: ^bb0
    %x = arith.addi %a, %a : i32
    cf.br ^bb1
  ^bb3:  // no predecessors)");
  const auto module = parse(text, "order");
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_TRUE(verify(*module));
  EXPECT_EQ(first_operation(*module, "arith.addi").operand(0).definition->operand(0).name, "a");
  EXPECT_EQ(print(*module), text);
}

struct BadText {
  const char* body;
  int line;
  int column;
  ErrorCode code;
  const char* message;
};

TEST(Parser, ErrorsNameLineColumnAndCause) {
  using enum ErrorCode;
  const BadText rows[] = {
      {"    %x = arith.addi %a, %b : i32", 3, 25, input_malformed, "'%b' is not defined"},
      {"    %x = arith.addi %a, %a : i64", 3, 10, input_malformed,
       "'arith.addi': operand 0 should have type i64 but has i32"},
      {"    %x = arith.addi %a %a : i32", 3, 24, input_malformed, "expected ',' but found '%a'"},
      {"    %x = arith.addi %a, %a : float", 3, 30, unsupported, "type 'float' is not covered"},
      {"    %x = foo.bar %a : i32 loc(\"k.py\":7:3)", 3, 10, unsupported,
       "operation 'foo.bar' is not covered (k.py:7:4)"},
      {"    %x = foo.bar %a : i32", 3, 10, unsupported, "operation 'foo.bar' is not covered"},
      {"    %x, %y = arith.addi %a, %a : i32", 3, 5, input_malformed,
       "'arith.addi' has 1 results, but 2 are named"},
      {"    %a = arith.addi %a, %a : i32", 3, 5, input_malformed, "'%a' is defined twice"},
      {"    %x = arith.cmpi foo, %a, %a : i32", 3, 21, unsupported,
       "predicate 'foo' of 'arith.cmpi' is not covered"},
      {"    cf.br ^bb7", 3, 11, input_malformed, "block '^bb7' is not defined"},
      {"    %x = arith.addi %a, %a : i32 loc(#nowhere)", 3, 38, input_malformed,
       "'#nowhere' is not defined"},
      {"    %x = tt.call @f(%a) : (i32, i32) -> i32", 3, 10, input_malformed,
       "'tt.call' has 1 operands but 2 types"},
      {"    \"tt.load\"(%a, %a) : (i32) -> i32", 3, 5, input_malformed,
       "'tt.load' has 2 operands but 1 types"},
      {"    %x = arith.constant \"text", 3, 25, input_malformed,
       "expected a type but found a string without an end"},
      {"    ?", 3, 5, input_malformed, "expected an operation but found '?'"},
      {"    \x01", 3, 5, input_malformed, "expected an operation but found byte 0x01"},
      {"    %x = tt.reduce %a", 3, 10, input_malformed, "'tt.reduce' needs the generic syntax"},
      {"    %x = tt.load %a : i32", 3, 10, input_malformed,
       "the result type of 'tt.load' can't be told from its operands"},
  };
  for (const BadText& row : rows) {
    const auto module = parse(in_function(row.body), "bad.ttir");
    ASSERT_FALSE(module) << row.body;
    const Error& error = module.error();
    EXPECT_EQ(error.message, row.message) << row.body;
    EXPECT_EQ(error.code, row.code) << row.body;
    EXPECT_EQ(error.at, (SourceSpan{"bad.ttir", row.line, row.column})) << row.body;
  }
}

TEST(Parser, ErrorsOutsideFunctions) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "expected 'module' but found the end of the text"},
      {"module", "expected '{' but found the end of the text"},
      {"module {", "expected a function but found the end of the text"},
      {"module { } }", "expected the end of the text but found '}'"},
      {"module { llvm.func @f() }", "'llvm.func' is not covered in a module"},
      {"module { tt.func @f(%a: i32) { tt.return ",
       "expected an operation but found the end of the text"},
      {"#a = loc(#b)\n#b = loc(#a)\nmodule { }", "'#b' is defined by itself"},
      {"#loc1 = loc(\"x\"(#loc1))\nmodule { }", "'#loc1' is defined by itself"},
      {"#blocked = #ttg.blocked<{}>\nmodule { }", "alias 'blocked' is not covered"},
      {"\"builtin.module\"() ({ \"tt.func\"() <{}> ({}) : () -> () }) : () -> ()",
       "a function needs sym_name and function_type"},
  };
  for (const auto& [text, message] : rows) {
    const auto module = parse(text, "bad.ttir");
    ASSERT_FALSE(module) << text;
    EXPECT_EQ(module.error().message, message) << text;
    EXPECT_TRUE(module.error().at);
  }
}

std::string repeated(std::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// Each of these would overflow the stack of a parser without a limit.
TEST(Parser, DeepNestingIsAnError) {
  constexpr int kDeep = 200000;
  const std::string types = "module { tt.func @f(%a: " + repeated("!tt.ptr<", kDeep) + "i32";
  const std::string arrays = "module attributes {a = " + repeated("[", kDeep) + "} { }";
  const std::string dense = "module attributes {a = dense<" + repeated("[", kDeep) + "> : i32} { }";
  const std::string regions =
      in_function("    %c = arith.constant true\n" + repeated("scf.if %c {\n", kDeep));
  const std::string functions = "module attributes {a = " + repeated("() -> (", kDeep) + "} { }";
  const std::string places = "module { } loc(" + repeated("\"x\"(", kDeep) + "unknown";
  for (const std::string& text : {types, arrays, dense, regions, functions}) {
    const auto module = parse(text, "deep.ttir");
    ASSERT_FALSE(module) << text.substr(0, 60);
    EXPECT_EQ(module.error().message, "nested more than 200 deep") << text.substr(0, 60);
  }
  EXPECT_EQ(parse(places, "deep.ttir").error().message, "a location more than 512 deep");

  std::string chain = "module { } loc(#loc0)\n";
  for (int i = 0; i < 20000; ++i) {
    chain += "#loc" + std::to_string(i) + " = loc(\"x\"(#loc" + std::to_string(i + 1) + "))\n";
  }
  EXPECT_EQ(parse(chain, "deep.ttir").error().message, "a location more than 512 deep");
}

TEST(Parser, OrdinaryNestingIsNone) {
  const auto module = parse(in_function("    %c = arith.constant true\n" +
                                        repeated("scf.if %c {\n", 100) + repeated("}\n", 100)),
                            "nested.ttir");
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_TRUE(verify(*module));
}

}  // namespace
}  // namespace ksplit::ttir
