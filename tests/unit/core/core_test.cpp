// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "core/hash.h"
#include "core/literal.h"

namespace ksplit {
namespace {

TEST(Literal, PythonTextOfEachKind) {
  EXPECT_EQ(to_python(Literal{}), "None");
  EXPECT_EQ(to_python(Literal{true}), "True");
  EXPECT_EQ(to_python(Literal{-3}), "-3");
  EXPECT_EQ(to_python(Literal{1.0}), "1.0");
  EXPECT_EQ(to_python(Literal{1e-10}), "1e-10");
  EXPECT_EQ(to_python(Literal{HUGE_VAL}), "float(\"inf\")");
  EXPECT_EQ(to_python(Literal{"a\"b\n"}), "\"a\\\"b\\n\"");
  EXPECT_EQ(to_python(Literal{Literal::List{1, Literal{}, 0.5}}), "[1, None, 0.5]");
}

TEST(Literal, JsonRoundTrip) {
  const Literal all = Literal::List{Literal{}, true, 7, 0.25, "x", -HUGE_VAL, Literal::List{1}};
  EXPECT_EQ(literal_from_json(to_json(all)).value(), all);
  EXPECT_FALSE(literal_from_json(nlohmann::json::object({{"a", 1}})));
}

TEST(Files, WriteReplacesAndLeavesNoTemporary) {
  const auto folder = std::filesystem::temp_directory_path() / "ksplit_core_test";
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(write_file(folder / "deep" / "a.txt", "one"));
  ASSERT_TRUE(write_file(folder / "deep" / "a.txt", "two"));
  EXPECT_EQ(read_file(folder / "deep" / "a.txt").value(), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "deep"), {}), 1);
  std::filesystem::remove_all(folder);
}

TEST(Files, ErrorsNameThePath) {
  EXPECT_EQ(read_file("/no/such/file").error().code, ErrorCode::input_missing);
  const auto status = write_file("/proc/ksplit/x", "");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::output_unwritable);
  EXPECT_NE(status.error().message.find("/proc/ksplit/x"), std::string::npos);
}

TEST(Hash, IsStableAcrossRuns) {
  EXPECT_EQ(hash_hex(""), "99aa06d3014798d86001c324468d497f");  // published XXH3-128 of no bytes
  EXPECT_NE(hash_hex("a"), hash_hex("b"));
}

}  // namespace
}  // namespace ksplit
