// SPDX-License-Identifier: Apache-2.0
#include "cpu/scalar_type.h"

#include <gtest/gtest.h>

namespace ksplit::cpu {
namespace {

using ttir::FloatFormat;
using ttir::Type;

TEST(ScalarType, Names) {
  EXPECT_EQ(c_type(Type::integer(1)), "bool");
  EXPECT_EQ(c_type(Type::integer(64)), "int64_t");
  EXPECT_EQ(c_type(Type::floating(FloatFormat::bf16)), "bf16");
  EXPECT_EQ(c_type(Type::pointer(Type::floating(FloatFormat::f32))), "float*");
  EXPECT_EQ(c_type(Type::pointer(Type::pointer(Type::integer(8)))), "int8_t**");
}

TEST(ScalarType, LiteralsReadBackAsTheSameValue) {
  struct {
    Type type;
    std::uint64_t bits;
    const char* text;
  } const rows[] = {
      {Type::integer(1), 1, "true"},
      {Type::integer(8), ~std::uint64_t{0}, "int8_t(-1)"},
      {Type::integer(32), 0xffffffff80000000u, "(-2147483647 - 1)"},
      {Type::integer(64), std::uint64_t{1} << 63, "(-INT64_C(9223372036854775807) - 1)"},
      {Type::floating(FloatFormat::f32), 0x3f800000, "1.0f"},
      {Type::floating(FloatFormat::f32), 0xff800000, "-__builtin_inff()"},
      {Type::floating(FloatFormat::f32), 0x7fc00001, "bit_cast<float>(0x7fc00001u)"},
      {Type::floating(FloatFormat::f32), 0x80000000, "-0.0f"},
      {Type::floating(FloatFormat::f64), 0x3fb999999999999au, "0.1"},
      {Type::floating(FloatFormat::f16), 0x3800, "f16(0x3800)"},
      {Type::floating(FloatFormat::bf16), 0x3f80, "bf16(0x3f80)"},
  };
  for (const auto& row : rows) EXPECT_EQ(literal(row.type, row.bits), row.text);
}

TEST(ScalarType, NarrowFloatsAreComputedInFloat) {
  const Type half = Type::floating(FloatFormat::bf16);
  EXPECT_EQ(widen(half, "x"), "bf16_to_f32(x)");
  EXPECT_EQ(narrow(half, "y"), "f32_to_bf16(y)");
  EXPECT_EQ(narrow(half, "y", true), "f32_to_bf16(f64_to_f32_odd(y))");
  EXPECT_EQ(widen(Type::floating(FloatFormat::f64), "x"), "x");
}

TEST(ScalarType, QuotesForCpp) {
  EXPECT_EQ(quoted("a\"b\\c\nd\x01"), "\"a\\\"b\\\\c\\nd\\001\"");
}

}  // namespace
}  // namespace ksplit::cpu
