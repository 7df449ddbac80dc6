// SPDX-License-Identifier: Apache-2.0
#include "python/scopes.h"

#include <gtest/gtest.h>

#include "python/query.h"
#include "source.h"

namespace ksplit {
namespace {

std::string free_names(const std::string& text) {
  const PythonModule module = test::module_of(text);
  std::set<std::string> names;
  for_each_free_name(*module.root, [&](const PythonNode& name) {
    if (name.child("ctx")->type == "Load") names.insert(name.identifier("id"));
  });
  std::string joined;
  for (const std::string& name : names) joined += name + " ";
  return joined;
}

struct Row {
  const char* name;
  const char* text;
  const char* expected;
};

class FreeNames : public testing::TestWithParam<Row> {};

TEST_P(FreeNames, FollowsPythonsScopes) {
  EXPECT_EQ(free_names(GetParam().text), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Scopes, FreeNames,
    testing::Values(
        Row{"parameters", "def f(a, *b, c=k, **d):\n    return a, b, c, d, g\n", "g k "},
        Row{"assigned", "def f():\n    x = g\n    return x\n", "g "},
        Row{"assigned_later", "def f():\n    y = x\n    x = 1\n", ""},
        Row{"global", "def f():\n    global x\n    x = 1\n    return x\n", "x "},
        Row{"annotations_outside", "def f(a: a) -> f:\n    return a\n", "a f "},
        Row{"lambda", "h = lambda x, y=z: x + y + w\n", "w z "},
        Row{"comprehension", "h = [i + j for i in x for j in i]\n", "x "},
        Row{"walrus", "def f():\n    [y := i for i in x]\n    return y\n", "x "},
        Row{"nested",
            "def f():\n    a = 1\n    def g(b):\n        return a + b + c\n    return g\n", "c "},
        Row{"class_body", "class C:\n    a = 1\n    b = a\n    def m(self):\n        return a\n",
            "a "},
        Row{"import", "def f():\n    import a.b, c as d\n    return a, d, c\n", "c "},
        Row{"loop_with_except",
            "def f():\n    for i in x:\n        pass\n    with y as z:\n        pass\n"
            "    try:\n        pass\n    except E as e:\n        return i, z, e\n",
            "E x y "},
        Row{"decorator", "@d(a)\ndef f(a):\n    return a\n", "a d "}),
    [](const auto& info) { return info.param.name; });

TEST(Bindings, CountsEveryWayToBindAName) {
  const PythonModule module = test::module_of(
      "import a.b\nfrom m import c as d\nB = 1\nB += 1\nC: int = 2\n"
      "if B:\n    E = 3\nelse:\n    E = 4\nF = [i for i in a]\n"
      "def g():\n    global C\n    C = 5\n");
  const auto bindings = module_bindings(module);
  const auto count = [&](const std::string& name) {
    const auto found = bindings.find(name);
    return found == bindings.end() ? std::size_t{0} : found->second.size();
  };
  EXPECT_EQ(count("a"), 1U);
  EXPECT_EQ(count("d"), 1U);
  EXPECT_EQ(count("c"), 0U);
  EXPECT_EQ(count("B"), 2U);
  EXPECT_EQ(count("C"), 2U);
  EXPECT_EQ(count("E"), 2U);
  EXPECT_EQ(count("F"), 1U);
  EXPECT_EQ(count("i"), 0U);
  EXPECT_EQ(count("g"), 1U);
}

}  // namespace
}  // namespace ksplit
