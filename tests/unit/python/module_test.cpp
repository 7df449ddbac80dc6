// SPDX-License-Identifier: Apache-2.0
#include "python/module.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "python/query.h"
#include "source.h"

namespace ksplit {
namespace {

using nlohmann::json;

json node(const std::string& type, json range, json fields = json::array()) {
  return {{"type", type}, {"line", 1}, {"range", std::move(range)}, {"fields", std::move(fields)}};
}

TEST(Module, RangesAreBytesOfTheText) {
  const PythonModule module = test::module_of("text = \"größe\"\nx = f(text, key=1)\n");
  const PythonNode* call = all_of_type(*module.root, "Call").front();
  EXPECT_EQ(module.source_of(*call), "f(text, key=1)");
  EXPECT_EQ(call->line, 2);
  EXPECT_EQ(module.source_of(*keyword_of(*call, "key")), "1");
  EXPECT_EQ(keyword_of(*call, "other"), nullptr);
}

TEST(Module, FieldsHoldConstantsNodesListsAndHoles) {
  const PythonModule module = test::module_of("def f(*, a, b=2):\n    global g, h\n");
  const PythonNode& function = *find_function(*module.root, "f");
  EXPECT_EQ(function.identifier("name"), "f");
  EXPECT_EQ(function.child("returns"), nullptr);
  const PythonNodes& defaults = list_of(*function.child("args"), "kw_defaults");
  ASSERT_EQ(defaults.size(), 2U);
  EXPECT_EQ(defaults[0], nullptr);
  EXPECT_EQ(constant_of(defaults[1].get()), Literal(2));
  const PythonNode* global = all_of_type(*module.root, "Global").front();
  EXPECT_EQ(global->field("names")->constant, Literal(Literal::List{"g", "h"}));
}

TEST(Module, RefusesWhatIsNoTree) {
  struct Row {
    const char* name;
    json tree;
    const char* message;
  };
  const Row rows[] = {
      {"no object", 3, "a node without a type"},
      {"no module", node("Expr", nullptr), "is a Module, found Expr"},
      {"outside the text", node("Module", {0, 9}), "range [0, 9] in a text of 3 bytes"},
      {"backwards", node("Module", {2, 1}), "range [2, 1]"},
      {"negative", node("Module", {-1, 1}), "with range [-1,1]"},
      {"bad field", node("Module", nullptr, {{"body"}}), "no [name, value]"},
      {"bad kind", node("Module", nullptr, json::array({{"body", {{"what", 1}}}})),
       "of unknown kind `what`"},
      {"bad constant",
       node("Module", nullptr, json::array({{"v", {{"constant", json::object()}}}})),
       "expected a constant"},
  };
  for (const Row& row : rows) {
    const auto module = module_from_json("a.py", "abc", row.tree);
    ASSERT_FALSE(module) << row.name;
    EXPECT_EQ(module.error().code, ErrorCode::input_malformed) << row.name;
    EXPECT_NE(module.error().message.find(row.message), std::string::npos)
        << row.name << ": " << module.error().message;
  }
}

TEST(Module, RefusesATreeThatWouldOverflowTheStack) {
  constexpr int kDepth = 20000;
  std::string text;
  for (int i = 0; i < kDepth; ++i) text += R"({"type": "Expr", "fields": [["value", {"node": )";
  text += R"({"type": "Name"})";
  for (int i = 0; i < kDepth; ++i) text += "}]]}";
  const json tree = json::parse(text);
  const auto module = module_from_json("a.py", "", tree);
  ASSERT_FALSE(module);
  EXPECT_NE(module.error().message.find("too deeply"), std::string::npos);
}

TEST(Query, ParametersInTheOrderOfTheSignature) {
  using Kind = PythonParameter::Kind;
  const PythonModule module =
      test::module_of("def f(a, /, b: int, c=3, *rest, d, e=5, **more):\n    pass\n");
  const auto parameters = parameters_of(*find_function(*module.root, "f"));
  std::string text;
  for (const PythonParameter& parameter : parameters) {
    text += parameter.name + (parameter.default_value != nullptr ? "= " : " ");
  }
  EXPECT_EQ(text, "a b c= rest d e= more ");
  EXPECT_EQ(parameters[0].kind, Kind::positional_only);
  EXPECT_EQ(parameters[1].kind, Kind::positional);
  EXPECT_EQ(module.source_of(*parameters[1].annotation), "int");
  EXPECT_EQ(parameters[3].kind, Kind::var_positional);
  EXPECT_EQ(parameters[4].kind, Kind::keyword_only);
  EXPECT_EQ(parameters[6].kind, Kind::var_keyword);
}

TEST(Query, ArgumentByPositionKeywordOrNotAtAll) {
  const PythonModule module = test::module_of(
      "def f(a, b, c=0):\n    pass\n"
      "f(1, c=3)\n"
      "f(*x, b=2)\n");
  const PythonNode& callee = *find_function(*module.root, "f");
  const auto calls = all_of_type(*module.root, "Call");
  EXPECT_EQ(constant_of(argument_for(*calls[0], callee, "a")), Literal(1));
  EXPECT_EQ(argument_for(*calls[0], callee, "b"), nullptr);
  EXPECT_EQ(constant_of(argument_for(*calls[0], callee, "c")), Literal(3));
  EXPECT_EQ(constant_of(argument_for(*calls[0], callee, "b", 1)), Literal(1));
  EXPECT_EQ(argument_for(*calls[1], callee, "a"), nullptr);
  EXPECT_EQ(constant_of(argument_for(*calls[1], callee, "b")), Literal(2));
  EXPECT_TRUE(spreads_positional(*calls[1]));
  EXPECT_FALSE(spreads_keywords(*calls[1]));
}

TEST(Query, TheLastDefinitionOfANameCounts) {
  const PythonModule module = test::module_of(
      "try:\n    import a\n    def f():\n        return 1\n"
      "except ImportError:\n    def f():\n        return 2\n");
  EXPECT_EQ(find_function(*module.root, "f")->line, 6);
  EXPECT_EQ(find_function(*module.root, "g"), nullptr);
}

TEST(Query, DottedNames) {
  const PythonModule module = test::module_of("a.b.c\nf().b\n");
  EXPECT_EQ(dotted_name(list_of(*module.root, "body")[0]->child("value")), "a.b.c");
  EXPECT_EQ(dotted_name(list_of(*module.root, "body")[1]->child("value")), "");
}

}  // namespace
}  // namespace ksplit
