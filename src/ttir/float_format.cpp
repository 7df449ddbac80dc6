// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "ttir/type.h"

namespace ksplit::ttir {
namespace {

constexpr std::array<FloatLayout, 9> kLayouts = {{
    {"f16", 16, 5, 10, 15, true, false},
    {"bf16", 16, 8, 7, 127, true, false},
    {"f32", 32, 8, 23, 127, true, false},
    {"f64", 64, 11, 52, 1023, true, false},
    {"f8E4M3FN", 8, 4, 3, 7, false, false},
    {"f8E5M2", 8, 5, 2, 15, true, false},
    {"f8E4M3FNUZ", 8, 4, 3, 8, false, true},
    {"f8E5M2FNUZ", 8, 5, 2, 16, false, true},
    {"f8E4M3B11FNUZ", 8, 4, 3, 11, false, true},
}};

std::uint64_t ones(int count) {
  return (std::uint64_t{1} << count) - 1;
}

// The magnitude bits of the largest number: everything below infinity, or, without infinity, below
// the all-ones NaN where that is the NaN.
std::uint64_t largest_finite(const FloatLayout& layout) {
  const std::uint64_t all = ones(layout.exponent_bits + layout.mantissa_bits);
  if (layout.has_infinity) return all - ones(layout.mantissa_bits) - 1;
  return layout.negative_zero_nan ? all : all - 1;
}

std::uint64_t nan_bits(const FloatLayout& layout) {
  if (layout.negative_zero_nan) return std::uint64_t{1} << (layout.bits - 1);
  const std::uint64_t exponent = ones(layout.exponent_bits) << layout.mantissa_bits;
  if (!layout.has_infinity) return exponent | ones(layout.mantissa_bits);
  return exponent | (std::uint64_t{1} << (layout.mantissa_bits - 1));
}

}  // namespace

const FloatLayout& layout_of(FloatFormat format) {
  return kLayouts[static_cast<std::size_t>(format)];
}

std::optional<FloatFormat> float_format_named(std::string_view name) {
  for (std::size_t i = 0; i < kLayouts.size(); ++i) {
    if (kLayouts[i].name == name) return static_cast<FloatFormat>(i);
  }
  return std::nullopt;
}

double decode_float(FloatFormat format, std::uint64_t bits) {
  if (format == FloatFormat::f64) return std::bit_cast<double>(bits);
  const FloatLayout& layout = layout_of(format);
  const bool negative = (bits >> (layout.bits - 1) & 1) != 0;
  const std::uint64_t magnitude = bits & ones(layout.bits - 1);
  if (layout.negative_zero_nan && negative && magnitude == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const std::uint64_t infinity = ones(layout.exponent_bits) << layout.mantissa_bits;
  if (layout.has_infinity && magnitude == infinity) return negative ? -HUGE_VAL : HUGE_VAL;
  if (magnitude > largest_finite(layout)) return std::numeric_limits<double>::quiet_NaN();

  const auto exponent = static_cast<int>(magnitude >> layout.mantissa_bits);
  const std::uint64_t mantissa = magnitude & ones(layout.mantissa_bits);
  const std::uint64_t significand =
      exponent == 0 ? mantissa : mantissa | std::uint64_t{1} << layout.mantissa_bits;
  const int scale = (exponent == 0 ? 1 : exponent) - layout.bias - layout.mantissa_bits;
  const double value = std::ldexp(static_cast<double>(significand), scale);
  return negative ? -value : value;
}

std::uint64_t encode_float(FloatFormat format, double value) {
  if (format == FloatFormat::f64) return std::bit_cast<std::uint64_t>(value);
  const FloatLayout& layout = layout_of(format);
  if (std::isnan(value)) return nan_bits(layout);
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << (layout.bits - 1) : 0;
  const double size = std::fabs(value);
  const std::uint64_t overflow = layout.has_infinity
                                     ? sign | ones(layout.exponent_bits) << layout.mantissa_bits
                                     : nan_bits(layout);
  if (std::isinf(value)) return overflow;
  if (size == 0) return layout.negative_zero_nan ? 0 : sign;

  // In units of the last place at this exponent, the number is an integer after rounding; a carry
  // out of the mantissa moves into the exponent, which is the right answer.
  int exponent = std::ilogb(size) + layout.bias;
  if (exponent < 1) exponent = 1;
  if (exponent > static_cast<int>(ones(layout.exponent_bits))) return overflow;
  const double units = std::ldexp(size, layout.bias + layout.mantissa_bits - exponent);
  const auto rounded = static_cast<std::uint64_t>(std::nearbyint(units));
  const std::uint64_t magnitude =
      (static_cast<std::uint64_t>(exponent - 1) << layout.mantissa_bits) + rounded;
  if (magnitude > largest_finite(layout)) return overflow;
  if (magnitude == 0 && layout.negative_zero_nan) return 0;
  return sign | magnitude;
}

}  // namespace ksplit::ttir
