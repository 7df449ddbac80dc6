// SPDX-License-Identifier: Apache-2.0
#include "ttir/type.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ksplit::ttir {
namespace {

TEST(Type, SpellingOfEachKind) {
  const Type f16 = Type::floating(FloatFormat::f16);
  const Type i32 = Type::integer(32);
  const Type pointer = Type::pointer(f16);
  EXPECT_EQ(i32.str(), "i32");
  EXPECT_EQ(Type::integer(8, Type::Sign::is_unsigned).str(), "ui8");
  EXPECT_EQ(Type::index().str(), "index");
  EXPECT_EQ(pointer.str(), "!tt.ptr<f16>");
  EXPECT_EQ(Type::pointer(f16, 3).str(), "!tt.ptr<f16, 3>");
  EXPECT_EQ(Type::tensor({64}, pointer).str(), "tensor<64x!tt.ptr<f16>>");
  EXPECT_EQ(Type::descriptor(Type::tensor({1, 64}, f16)).str(), "!tt.tensordesc<tensor<1x64xf16>>");
  EXPECT_EQ(Type::function({i32, f16}, {i32}).str(), "(i32, f16) -> i32");
  EXPECT_EQ(Type::function({}, {i32, f16}).str(), "() -> (i32, f16)");
  EXPECT_EQ(Type::function({}, {}).str(), "() -> ()");
}

TEST(Type, QueriesOfTensorsOfPointers) {
  const Type f16 = Type::floating(FloatFormat::f16);
  const Type tensor = Type::tensor({4, 8}, Type::pointer(f16));
  EXPECT_EQ(tensor.rank(), 2);
  EXPECT_EQ(tensor.element_count(), 32);
  EXPECT_EQ(tensor.element().pointee(), f16);
  EXPECT_EQ(tensor.loaded(), Type::tensor({4, 8}, f16));
  EXPECT_EQ(tensor.with_element(Type::integer(1)), Type::tensor({4, 8}, Type::integer(1)));
  EXPECT_EQ(Type::pointer(f16).loaded(), f16);
  const Type block = Type::pointer(Type::tensor({16, 16}, f16));
  EXPECT_EQ(block.loaded(), Type::tensor({16, 16}, f16));
  EXPECT_EQ(f16.rank(), 0);
  EXPECT_EQ(f16.element_count(), 1);
  EXPECT_NE(Type::tensor({4}, f16), Type::tensor({4, 1}, f16));
  EXPECT_TRUE(Type().is_none());
}

// Every pattern of the small formats: decoding and encoding are inverse, and numbers rise with
// bits.
TEST(FloatFormats, SmallFormatsRoundTripExhaustively) {
  for (const FloatFormat format :
       {FloatFormat::f16, FloatFormat::bf16, FloatFormat::f8E4M3FN, FloatFormat::f8E5M2,
        FloatFormat::f8E4M3FNUZ, FloatFormat::f8E5M2FNUZ, FloatFormat::f8E4M3B11FNUZ}) {
    const FloatLayout& layout = layout_of(format);
    double last = -1;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << layout.bits; ++bits) {
      const double value = decode_float(format, bits);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode_float(format, encode_float(format, value))));
        continue;
      }
      EXPECT_EQ(encode_float(format, value), bits) << layout.name;
      if (bits >> (layout.bits - 1) == 0) {
        EXPECT_GT(value, last) << layout.name << " " << bits;
        last = value;
      }
    }
  }
}

TEST(FloatFormats, PublishedLimits) {
  struct Row {
    FloatFormat format;
    std::uint64_t bits;
    double value;
  };
  const Row rows[] = {
      {FloatFormat::f16, 0x7BFF, 65504},      {FloatFormat::f16, 0x0001, 0x1p-24},
      {FloatFormat::bf16, 0x3F80, 1},         {FloatFormat::f32, 0x7F7FFFFF, 0x1.fffffep127},
      {FloatFormat::f8E4M3FN, 0x7E, 448},     {FloatFormat::f8E5M2, 0x7B, 57344},
      {FloatFormat::f8E4M3FNUZ, 0x7F, 240},   {FloatFormat::f8E5M2FNUZ, 0x7F, 57344},
      {FloatFormat::f8E4M3B11FNUZ, 0x7F, 30},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(decode_float(row.format, row.bits), row.value) << layout_of(row.format).name;
    EXPECT_EQ(encode_float(row.format, row.value), row.bits) << layout_of(row.format).name;
  }
}

TEST(FloatFormats, EncodingRoundsToNearestEvenAndOverflows) {
  EXPECT_EQ(encode_float(FloatFormat::f16, 1 + 0x1p-11), 0x3C00U);      // tie, to even
  EXPECT_EQ(encode_float(FloatFormat::f16, 1 + 3 * 0x1p-11), 0x3C02U);  // tie, to even
  EXPECT_EQ(encode_float(FloatFormat::f16, 1 + 0x1.1p-11), 0x3C01U);
  EXPECT_EQ(encode_float(FloatFormat::f16, 0x1p-25), 0U);
  EXPECT_EQ(encode_float(FloatFormat::f16, 0x1.8p-25), 1U);
  EXPECT_EQ(encode_float(FloatFormat::f16, 65520), 0x7C00U);
  EXPECT_EQ(encode_float(FloatFormat::f16, -65519), 0xFBFFU);
  EXPECT_EQ(encode_float(FloatFormat::f16, 0x1.ffep-15), 0x0400U);  // carries into the exponent
  EXPECT_EQ(encode_float(FloatFormat::f8E4M3FN, 1e6), 0x7FU);       // no infinity: NaN
  EXPECT_EQ(encode_float(FloatFormat::f8E4M3FNUZ, -0.0), 0x00U);    // no negative zero
  EXPECT_EQ(encode_float(FloatFormat::f32, -HUGE_VAL), 0xFF800000U);
}

// float arithmetic on this machine rounds the same way.
TEST(FloatFormats, SingleAgreesWithHardware) {
  std::uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const double value = std::bit_cast<double>(state);
    if (std::isnan(value)) continue;
    const auto single = static_cast<float>(value);
    EXPECT_EQ(encode_float(FloatFormat::f32, value), std::bit_cast<std::uint32_t>(single));
    const double near =
        std::ldexp(static_cast<double>(state >> 12), static_cast<int>(i % 300) - 200);
    EXPECT_EQ(encode_float(FloatFormat::f32, near),
              std::bit_cast<std::uint32_t>(static_cast<float>(near)));
  }
}

}  // namespace
}  // namespace ksplit::ttir
