// SPDX-License-Identifier: Apache-2.0
#include "ttir/location.h"

#include <gtest/gtest.h>

#include "ttir/parser.h"
#include "ttir/printer.h"

namespace ksplit::ttir {
namespace {

TEST(Location, LeadsThroughNamesAndCallsToTheLine) {
  const Location callee = Location::named("y", Location::file("lib.py", 3, 4));
  const Location caller = Location::named("x", Location::file("k.py", 12, 8));
  const Location site = Location::call_site(callee, caller);
  EXPECT_EQ(site.span(), (SourceSpan{"lib.py", 3, 5}));
  EXPECT_EQ(site.call_stack(), (std::vector<SourceSpan>{{"lib.py", 3, 5}, {"k.py", 12, 9}}));
  EXPECT_EQ(site.variable(), "y");
  EXPECT_EQ(site.depth(), 3);
}

TEST(Location, FusedTakesTheFirstKnownPart) {
  const Location fused = Location::fused({Location(), Location::file("k.py", 1, 0)});
  EXPECT_EQ(fused.span(), (SourceSpan{"k.py", 1, 1}));
  EXPECT_FALSE(Location::fused({Location(), Location()}).span());
}

TEST(Location, EqualityIsStructural) {
  const auto make = [](int line) {
    return Location::call_site(Location::file("a", line, 0), Location::named("x", Location()));
  };
  EXPECT_EQ(make(1), make(1));
  EXPECT_NE(make(1), make(2));
  EXPECT_NE(make(1), Location());
}

// A tree that doubles at each level is small as long as nobody walks it naively.
TEST(Location, SharedPartsCostNothing) {
  Location location = Location::file("k.py", 1, 0);
  for (int i = 0; i < 100; ++i) location = Location::call_site(location, location);
  EXPECT_EQ(location.span(), (SourceSpan{"k.py", 1, 1}));
  EXPECT_EQ(location.call_stack().size(), static_cast<std::size_t>(Location::kMaxDepth));
}

TEST(Location, EveryFormIsReadAndWritten) {
  const std::string text =
      "#early = loc(\"k.py\":1:2)\n"
      "module {\n"
      "  tt.func @f(%a: i32 loc(\"a\"(#early))) {\n"
      "    %0 = arith.addi %a, %a : i32 loc(#late)\n"
      "    %1 = arith.addi %a, %a : i32 loc(fused<\"tag\">[#early, \"m.py\":7:0])\n"
      "    %2 = arith.addi %a, %a : i32 loc(callsite(\"q\"(\"l.py\":5:6) at #late))\n"
      "    tt.return loc(unknown)\n"
      "  } loc(#early)\n"
      "} loc(#early)\n"
      "#late = loc(\"z\"(#inner))\n"
      "#inner = loc(\"k.py\":9:9)\n";
  const auto module = parse(text, "test.ttir");
  ASSERT_TRUE(module) << module.error().message;
  const Function& function = *module->functions[0];
  const auto& operations = function.body.entry().operations;
  EXPECT_EQ(function.body.entry().arguments[0]->location.variable(), "a");
  EXPECT_EQ(operations[0]->location.span(), (SourceSpan{"k.py", 9, 10}));
  EXPECT_EQ(operations[0]->result().location, operations[0]->location);
  EXPECT_EQ(operations[1]->location.span(), (SourceSpan{"k.py", 1, 3}));
  EXPECT_EQ(operations[2]->location.call_stack(),
            (std::vector<SourceSpan>{{"l.py", 5, 7}, {"k.py", 9, 10}}));
  EXPECT_TRUE(operations[3]->location.is_unknown());
  const std::string printed = print(*module);
  const auto again = parse(printed, "again");
  ASSERT_TRUE(again) << again.error().message << "\n" << printed;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    EXPECT_EQ(again->functions[0]->body.entry().operations[i]->location, operations[i]->location);
  }
}

}  // namespace
}  // namespace ksplit::ttir
