// SPDX-License-Identifier: Apache-2.0
#include "python/layout.h"

#include <gtest/gtest.h>

#include "source.h"

namespace ksplit {
namespace {

std::string text_of(const PythonModule& module, ByteRange range) {
  return module.text.substr(range.begin, range.end - range.begin);
}

TEST(Layout, DefinitionLinesHoldDecoratorsAndTheLastComment) {
  const PythonModule module =
      test::module_of("x = 1\n@a\n@b(\n    c,\n)\ndef f(y):\n    return y  # done\n\n\nz = 2\n");
  const PythonNode& function = *find_function(*module.root, "f");
  EXPECT_EQ(text_of(module, definition_lines(module, function)),
            "@a\n@b(\n    c,\n)\ndef f(y):\n    return y  # done\n");
  EXPECT_EQ(text_of(module, decorator_lines(module, *list_of(function, "decorator_list").back())),
            "@b(\n    c,\n)\n");
}

TEST(Layout, FindsNamesAndBrackets) {
  const PythonModule module = test::module_of(
      "async  def g(a=\")\", b=(1, 2)):  # (\n    return (h)(a, \"(\")\nclass  C(B): pass\n");
  const PythonNode& function = *find_function(*module.root, "g");
  EXPECT_EQ(text_of(module, name_range(module, function)), "g");
  EXPECT_EQ(text_of(module, parameter_list(module, function)), "(a=\")\", b=(1, 2))");
  const PythonNode& call = *all_of_type(*module.root, "Call").front();
  EXPECT_EQ(text_of(module, argument_list(module, call)), "(a, \"(\")");
  EXPECT_EQ(text_of(module, name_range(module, *find_class(module, "C"))), "C");
}

TEST(Layout, SignatureItemsWithSeparators) {
  const PythonModule module = test::module_of("def f(a, /, b: int=2, *, c = 3, **d):\n    pass\n");
  const std::vector<std::string> expected = {"a", "/", "b: int = 2", "*", "c=3", "**d"};
  EXPECT_EQ(signature_items(module, *find_function(*module.root, "f")), expected);
}

TEST(Layout, DefaultsWithTheirBracketsAndWithoutComments) {
  const PythonModule module =
      test::module_of("def f(a, b: int = (1 + 2), c=\"),\", d=g(1, 2)  # note\n):\n    pass\n");
  std::string text;
  for (const PythonParameter& parameter : parameters_of(*find_function(*module.root, "f"))) {
    text += text_of(module, default_range(module, parameter)) + ";";
  }
  EXPECT_EQ(text, "; = (1 + 2);=\"),\";=g(1, 2);");
}

TEST(Layout, SplitsItemsAtTopLevelCommasOnly) {
  const std::vector<std::string> expected = {"f(a, b)", "x[1, 2]", "\"a, b\"", "c={1, 2}"};
  EXPECT_EQ(split_items("f(a, b), x[1, 2],  \"a, b\",\n c={1, 2}, "), expected);
}

TEST(Layout, ItemsOnOneLineElseOnTheirOwnElseOnePerLine) {
  EXPECT_EQ(layout_items("f", {"a", "b"}, ")", 4), "f(a, b)");
  const std::string long_item(60, 'a');
  EXPECT_EQ(layout_items("function", {long_item, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}, "):", 0),
            "function(\n    " + long_item + ", bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n):");
  EXPECT_EQ(layout_items("f", {long_item, long_item}, ")", 4),
            "f(\n        " + long_item + ",\n        " + long_item + ",\n    )");
}

TEST(Layout, DedentMovesCodeAndDocstringsButNotOtherStrings) {
  const PythonModule module = test::module_of(
      "class C:\n    def m(self):\n        \"\"\"Doc.\n\n        More.\n        \"\"\"\n"
      "        x = \"\"\"\n        data\"\"\"\n        return x\n");
  const PythonNode& method = *find_function(*find_class(module, "C"), "m");
  const ByteRange range = definition_lines(module, method);
  Edits edits;
  dedent(module, method, range, 4, edits);
  EXPECT_EQ(edits.apply(module.text, range),
            "def m(self):\n    \"\"\"Doc.\n\n    More.\n    \"\"\"\n"
            "    x = \"\"\"\n        data\"\"\"\n    return x\n");
}

TEST(Layout, WrapsOnlyWhatEditsMadeTooLong) {
  const std::string filler(80, 'y');
  const PythonModule module = test::module_of("def f(x):\n    short(x)\n    g(x, " + filler +
                                              ")\n    h(" + std::string(120, 'z') + ", x)\n");
  const PythonNode& function = *find_function(*module.root, "f");
  Edits edits;
  for (const PythonNode* name : all_of_type(function, "Name")) {
    if (is_name(*name, "x")) edits.replace(name->range, "a_much_longer_name");
  }
  wrap_long_lines(module, function, 0, edits);
  EXPECT_EQ(
      edits.apply(module.text),
      "def f(x):\n    short(a_much_longer_name)\n    g(\n        a_much_longer_name,\n        " +
          filler + ",\n    )\n    h(" + std::string(120, 'z') + ", a_much_longer_name)\n");
}

TEST(Layout, WrapsAnInsertionAtTheClosingBracketOnce) {
  const PythonModule module = test::module_of("f(" + std::string(90, 'a') + ", b)\n");
  Edits edits;
  const std::size_t closing = argument_list(module, *all_of_type(*module.root, "Call")[0]).end - 1;
  edits.insert(closing, ", c=1");
  edits.insert(closing, ", d=2");
  wrap_long_lines(module, *module.root, 0, edits);
  EXPECT_EQ(edits.apply(module.text),
            "f(\n    " + std::string(90, 'a') + ",\n    b,\n    c=1,\n    d=2,\n)\n");
}

TEST(Layout, ItemsOnTheirOwnLineAreJoinedOrBrokenAsTheirLengthAsks) {
  const std::string a(80, 'a');
  const PythonModule module =
      test::module_of("if 1:\n    function(\n        " + a + ", b\n    )\n");
  const auto laid_out = [&](std::size_t columns, std::size_t length) {
    Edits edits;
    edits.replace(all_of_type(*module.root, "Name").back()->range, std::string(length, 'c'));
    wrap_long_lines(module, *module.root, columns, edits);
    return edits.apply(module.text).substr(std::string("if 1:\n").size());
  };
  EXPECT_EQ(laid_out(0, 4), "    function(" + a + ", cccc)\n");
  EXPECT_EQ(laid_out(0, 5), "    function(\n        " + a + ", ccccc\n    )\n");
  EXPECT_EQ(laid_out(4, 8), "    function(" + a + ", cccccccc)\n");
  EXPECT_EQ(laid_out(0, 11), "    function(\n        " + a + ",\n        ccccccccccc,\n    )\n");
}

TEST(Layout, WrapsTheHeaderOfAFunction) {
  const PythonModule module =
      test::module_of("def f(" + std::string(80, 'a') + ", b) -> int:\n    return b\n");
  const PythonNode& function = *find_function(*module.root, "f");
  Edits edits;
  edits.replace(name_range(module, function), "a_longer_name");
  wrap_long_lines(module, function, 0, edits);
  EXPECT_EQ(edits.apply(module.text),
            "def a_longer_name(\n    " + std::string(80, 'a') + ", b\n) -> int:\n    return b\n");
}

}  // namespace
}  // namespace ksplit
