// SPDX-License-Identifier: Apache-2.0
#include "python/edits.h"

#include <gtest/gtest.h>

#include "core/check.h"

namespace ksplit {
namespace {

TEST(Edits, AllAreMadeRelativeToTheOriginal) {
  Edits edits;
  edits.replace({4, 7}, "longer");
  edits.erase({0, 1});
  edits.insert(7, "!");
  EXPECT_EQ(edits.apply("aXX one two"), "XX longer! two");
}

TEST(Edits, InsertionsAtOneOffsetKeepTheirOrderAndPrecedeTheReplacementThere) {
  Edits edits;
  edits.replace({1, 2}, "B");
  edits.insert(1, "1");
  edits.insert(1, "2");
  EXPECT_EQ(edits.apply("abc"), "a12Bc");
}

TEST(Edits, InsertsAtBothEndsOfTheText) {
  Edits edits;
  edits.insert(0, "<");
  edits.insert(3, ">");
  EXPECT_EQ(edits.apply("abc"), "<abc>");
}

TEST(Edits, RepeatingAnEditHasNoEffect) {
  Edits edits;
  edits.replace({0, 1}, "x");
  edits.replace({0, 1}, "x");
  edits.insert(1, "y");
  edits.insert(1, "y");
  EXPECT_EQ(edits.apply("abc"), "xybc");
}

TEST(Edits, OverlapIsABugOfTheCaller) {
  Edits edits;
  edits.replace({2, 5}, "x");
  EXPECT_THROW(edits.replace({4, 6}, "y"), InternalError);
  EXPECT_THROW(edits.replace({0, 3}, "y"), InternalError);
  EXPECT_THROW(edits.replace({2, 5}, "other"), InternalError);
  EXPECT_THROW(edits.replace({3, 3}, "y"), InternalError);
  edits.replace({5, 6}, "z");
  edits.replace({1, 2}, "w");
  EXPECT_EQ(edits.apply("abcdefg"), "awxzg");
}

TEST(Edits, ApplyToAPartSeesOnlyTheEditsInside) {
  Edits edits;
  edits.replace({0, 1}, "A");
  edits.replace({3, 4}, "D");
  edits.insert(5, "+");
  EXPECT_EQ(edits.apply("abcdefg", {2, 5}), "cDe+");
}

TEST(Edits, OverrideReplacesWhatWasInside) {
  Edits edits;
  edits.replace({1, 2}, "B");
  edits.insert(3, "+");
  edits.replace({5, 6}, "F");
  edits.override_range({1, 4}, "-");
  EXPECT_EQ(edits.apply("abcdef"), "a-eF");
  EXPECT_TRUE(edits.rewrites(2));
  EXPECT_FALSE(edits.rewrites(4));
}

}  // namespace
}  // namespace ksplit
