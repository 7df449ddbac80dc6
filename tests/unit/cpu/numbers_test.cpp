// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu/runtime/kernel.h"
#include "ttir/type.h"

namespace ksplit::cpu {
namespace {

using ttir::FloatFormat;

/// The formats of ttir decode and encode through exact doubles; kernels do it with integers in
/// lanes.
struct Narrow {
  FloatFormat format;
  float (*decode)(std::uint8_t);
  std::uint8_t (*encode)(float);
};

const Narrow kNarrow[] = {
    {FloatFormat::f8E4M3FN, f8E4M3FN_to_f32, f32_to_f8E4M3FN},
    {FloatFormat::f8E5M2, f8E5M2_to_f32, f32_to_f8E5M2},
    {FloatFormat::f8E4M3FNUZ, f8E4M3FNUZ_to_f32, f32_to_f8E4M3FNUZ},
    {FloatFormat::f8E5M2FNUZ, f8E5M2FNUZ_to_f32, f32_to_f8E5M2FNUZ},
    {FloatFormat::f8E4M3B11FNUZ, f8E4M3B11FNUZ_to_f32, f32_to_f8E4M3B11FNUZ},
};

TEST(Float8, DecodesEveryPattern) {
  for (const Narrow& narrow : kNarrow) {
    for (unsigned bits = 0; bits < 256; ++bits) {
      const auto wanted = static_cast<float>(ttir::decode_float(narrow.format, bits));
      const float found = narrow.decode(static_cast<std::uint8_t>(bits));
      if (std::isnan(wanted)) {
        EXPECT_TRUE(std::isnan(found)) << ttir::layout_of(narrow.format).name << " " << bits;
      } else {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(wanted))
            << ttir::layout_of(narrow.format).name << " " << bits;
      }
    }
  }
}

TEST(Float8, RoundsToNearestEvenAndSaturates) {
  for (const Narrow& narrow : kNarrow) {
    double largest = 0;
    for (unsigned bits = 0; bits < 128; ++bits) {
      const double value = ttir::decode_float(narrow.format, bits);
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
    const auto check = [&](float x) {
      const double limited = std::isnan(x) ? x : std::clamp(double(x), -largest, largest);
      const std::uint64_t wanted = ttir::encode_float(narrow.format, limited);
      const std::uint8_t found = narrow.encode(x);
      if (std::isnan(x)) {
        EXPECT_TRUE(std::isnan(ttir::decode_float(narrow.format, found)));
      } else {
        EXPECT_EQ(found, wanted) << ttir::layout_of(narrow.format).name << " " << x;
      }
    };
    // Every value, every midpoint between neighbours, and just beside each.
    for (unsigned bits = 0; bits < 127; ++bits) {
      const auto low = static_cast<float>(ttir::decode_float(narrow.format, bits));
      const auto high = static_cast<float>(ttir::decode_float(narrow.format, bits + 1));
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const float middle = (low + high) / 2;
      for (const float x :
           {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
        check(x);
        check(-x);
      }
    }
    for (const float x :
         {0.0f, -0.0f, 1e30f, -1e30f, 1e-30f, std::numeric_limits<float>::infinity(),
          std::numeric_limits<float>::quiet_NaN()}) {
      check(x);
    }
  }
}

TEST(Float16, DecodesEveryPattern) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto wanted = static_cast<float>(ttir::decode_float(FloatFormat::f16, bits));
    const float found = f16_to_f32(static_cast<f16>(bits));
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(found)) << bits;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(wanted)) << bits;
    }
  }
}

TEST(Float16, RoundsLikeTheReference) {
  const auto check = [](float x) {
    const f16 found = f32_to_f16(x);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(f16_to_f32(found)));
    } else {
      EXPECT_EQ(found, ttir::encode_float(FloatFormat::f16, x)) << x;
    }
  };
  // Every value, every midpoint between neighbours, and just beside each; then all magnitudes.
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const auto low = static_cast<float>(ttir::decode_float(FloatFormat::f16, bits));
    const auto high = static_cast<float>(ttir::decode_float(FloatFormat::f16, bits + 1));
    const float middle = (low + high) / 2;
    for (const float x : {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
      check(x);
      check(-x);
    }
  }
  for (std::uint32_t bits = 0; bits < 0xffff0000u; bits += 65521) check(std::bit_cast<float>(bits));
  check(65519.9f), check(65520.0f), check(std::numeric_limits<float>::signaling_NaN());
}

TEST(BFloat16, RoundsLikeTheReference) {
  for (std::uint32_t high = 0; high < 0x10000; high += 7) {
    for (const std::uint32_t low : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const float x = std::bit_cast<float>(high << 16 | low);
      const bf16 found = f32_to_bf16(x);
      if (std::isnan(x)) {
        EXPECT_TRUE(std::isnan(bf16_to_f32(found)));
      } else {
        EXPECT_EQ(found, ttir::encode_float(FloatFormat::bf16, x)) << x;
      }
    }
  }
}

TEST(Narrowing, FromDoubleRoundsOnce) {
  // Just above a midpoint of bf16, by less than float can tell.
  const double x = 1.0 + 1.0 / 256 + 1e-12;
  EXPECT_EQ(f64_to_bf16(x), ttir::encode_float(FloatFormat::bf16, x));
  EXPECT_NE(f64_to_bf16(x), f32_to_bf16(static_cast<float>(x)));
  EXPECT_EQ(f64_to_bf16(-x), ttir::encode_float(FloatFormat::bf16, -x));
  EXPECT_EQ(f64_to_bf16(1.5), ttir::encode_float(FloatFormat::bf16, 1.5));
}

TEST(Narrowing, TowardsZero) {
  for (const float x : {1.0f, 1.00048828125f, 1.0009f, -1.0009f, 65519.0f, 3e-8f}) {
    EXPECT_LE(std::fabs(f16_to_f32(f32_to_f16_rtz(x))), std::fabs(x));
  }
  EXPECT_EQ(bf16_to_f32(f32_to_bf16_rtz(1.99999f)), 1.9921875f);
}

TEST(Integers, DivisionTruncatesAndNeverTraps) {
  const std::int32_t smallest = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(divide(7, 2), 3);
  EXPECT_EQ(divide(-7, 2), -3);
  EXPECT_EQ(remainder(-7, 2), -1);
  EXPECT_EQ(divide(5, 0), -1);
  EXPECT_EQ(remainder(5, 0), 5);
  EXPECT_EQ(divide(smallest, -1), smallest);
  EXPECT_EQ(remainder(smallest, -1), 0);
  EXPECT_EQ(divide(std::uint32_t{0xffffffff}, std::uint32_t{2}), 0x7fffffffu);
  EXPECT_EQ(divide(std::int64_t{-9} * 1'000'000'000'000, std::int64_t{7}), -1285714285714);
  EXPECT_EQ(divide(std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}),
            std::numeric_limits<std::int64_t>::min());
}

TEST(Integers, DivisionThroughDoubleIsExact) {
  std::uint64_t state = 88172645463325252u;
  const auto next = [&state] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  for (int i = 0; i < 200'000; ++i) {
    const auto a = static_cast<std::int32_t>(next());
    auto b = static_cast<std::int32_t>(next() >> (next() % 32));
    if (b == 0 || (b == -1 && a == std::numeric_limits<std::int32_t>::min())) b = 3;
    ASSERT_EQ(divide(a, b), a / b) << a << " / " << b;
    const auto ua = static_cast<std::uint32_t>(a), ub = static_cast<std::uint32_t>(b);
    ASSERT_EQ(divide(ua, ub), ua / ub) << ua << " / " << ub;
  }
}

TEST(Integers, ShiftsBeyondTheWidth) {
  EXPECT_EQ(shift_left(1, 31u), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(shift_left(1, 32u), 0);
  EXPECT_EQ(shift_right(-8, 1u), -4);
  EXPECT_EQ(shift_right(-8, 40u), -1);
  EXPECT_EQ(shift_right(8u, 40u), 0u);
}

TEST(Floats, MinimumAndMaximumRules) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(minnum(1.0f, nan), 1.0f);
  EXPECT_EQ(minnum(nan, 1.0f), 1.0f);
  EXPECT_TRUE(std::isnan(minnum(nan, nan)));
  EXPECT_TRUE(std::isnan(minimum(1.0f, nan)));
  EXPECT_TRUE(std::isnan(maximum(nan, 1.0f)));
  EXPECT_TRUE(std::signbit(minimum(0.0f, -0.0f)));
  EXPECT_FALSE(std::signbit(maximum(-0.0f, 0.0f)));
  EXPECT_EQ(maximum(2.0, 3.0), 3.0);
}

TEST(Rectangles, OverlapDecidesWhatIsCopied) {
  float memory[64];
  for (int i = 0; i < 64; ++i) memory[i] = static_cast<float>(i);
  float copy[64];
  const auto is_copied = [&](int from, int to, std::int64_t size) {
    float* read = memory + from;
    Tile<1> read_tile = {{size}, {1}};
    const Tile<1> write_tile = {{size}, {1}};
    keep_ahead(read, read_tile, memory + to, write_tile, copy);
    return read == copy;
  };
  EXPECT_FALSE(is_copied(0, 32, 32));
  EXPECT_FALSE(is_copied(0, 0, 32));
  EXPECT_TRUE(is_copied(0, 1, 32));
  EXPECT_TRUE(is_copied(1, 0, 32));
  EXPECT_FALSE(is_copied(1, 0, 0));

  float* read = memory;
  Tile<2> tile = {{2, 3}, {10, 1}};
  const Tile<2> written = {{2, 3}, {10, 1}};
  keep_ahead(read, tile, memory + 2, written, copy);
  ASSERT_EQ(read, copy);
  EXPECT_EQ(tile.stride[0], 3);
  EXPECT_EQ(copy[3], 10.0f);
  EXPECT_EQ(copy[5], 12.0f);
}

TEST(Atomics, EveryThreadIsCounted) {
  float value = 0;
  const float before = atomic_update(&value, [](float old) { return old + 2.5f; });
  EXPECT_EQ(before, 0.0f);
  EXPECT_EQ(value, 2.5f);
  std::int32_t number = 7;
  EXPECT_EQ(atomic_exchange_if(&number, 6, 1), 7);
  EXPECT_EQ(number, 7);
  EXPECT_EQ(atomic_exchange_if(&number, 7, 1), 7);
  EXPECT_EQ(number, 1);
}

TEST(Dot, BlockedAndPlainAgree) {
  constexpr int kM = 16, kN = 64, kK = 24;
  std::vector<float> a(kM * kK), b(kK * kN), c(kM * kN), out(kM * kN);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7) - 3;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 2;
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i % 3);
  dot<kM, kN, kK>(a.data(), b.data(), c.data(), out.data());
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) {
      float sum = c[m * kN + n];
      for (int k = 0; k < kK; ++k) sum += a[m * kK + k] * b[k * kN + n];
      ASSERT_EQ(out[m * kN + n], sum) << m << ", " << n;
    }
  }
}

}  // namespace
}  // namespace ksplit::cpu
