// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi.h"

/// exp, exp2 and erf of floats, written so that a compiler vectorises the loop that they are
/// inlined into: a call of a library's vector function costs softmax and gelu more than the
/// function itself. Within 1 ulp, checked over all floats. Part of kernel.h.
///
/// Coefficients come from tools/polynomials.py. They need fused multiply-add: machines without it
/// call the library.
namespace ksplit::cpu {

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)

inline float multiply_add(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}

/// The whole number nearest to x, |x| < 2^22, as a float and in the low bits of an integer.
struct Rounded {
  float value;
  int32_t low_bits;
};
inline Rounded rounded(float x) {
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: what is added loses its fraction
  const float shifted = x + kShift;
  return {shifted - kShift, __builtin_bit_cast(int32_t, shifted)};
}

/// x * 2^power where both x and the result are normal numbers.
inline float scaled_within(float x, Rounded power) {
  return __builtin_bit_cast(float, __builtin_bit_cast(int32_t, x) + (power.low_bits << 23));
}

/// x * 2^power in two steps, so that what is subnormal is rounded once, for |power| <= 252.
inline float scaled(float x, Rounded power) {
  const int32_t whole = power.low_bits - 0x4b400000;
  const int32_t half = whole >> 1;
  const float first = __builtin_bit_cast(float, (half + 127) << 23);
  const float second = __builtin_bit_cast(float, (whole - half + 127) << 23);
  return x * first * second;
}

/// e^r for |r| <= log(2) / 2.
inline float exp_reduced(float r) {
  float p = 0x1.6d514cp-10f;
  p = multiply_add(p, r, 0x1.123d06p-7f);
  p = multiply_add(p, r, 0x1.5554e4p-5f);
  p = multiply_add(p, r, 0x1.55548cp-3f);
  p = multiply_add(p, r, 0.5f);
  const float sum = 1.0f + r;
  const float lost = r - (sum - 1.0f);
  return sum + multiply_add(r * r, p, lost);
}

constexpr float kOneOverLog2 = 0x1.715476p+0f;
constexpr float kLog2High = 0x1.62e400p-1f;  // short, so that small multiples are exact
constexpr float kLog2Low = 0x1.7f7d1cp-20f;

inline float inline_exp(float x) {
  // Beyond these bounds the result is infinity or 0; NaN fails both comparisons and stays.
  x = x > 89.0f ? 89.0f : x;
  x = x < -105.0f ? -105.0f : x;
  const Rounded n = rounded(x * kOneOverLog2);
  const float r = multiply_add(n.value, -kLog2Low, multiply_add(n.value, -kLog2High, x));
  return scaled(exp_reduced(r), n);
}

inline float inline_exp2(float x) {
  x = x > 129.0f ? 129.0f : x;
  x = x < -151.0f ? -151.0f : x;
  const Rounded n = rounded(x);
  const float r = x - n.value;
  float p = 0x1.4424b0p-13f;
  p = multiply_add(p, r, 0x1.5f0dccp-10f);
  p = multiply_add(p, r, 0x1.3b2a48p-7f);
  p = multiply_add(p, r, 0x1.c6af72p-5f);
  p = multiply_add(p, r, 0x1.ebfbe0p-3f);
  p = multiply_add(p, r, 0x1.62e430p-1f);
  return scaled(multiply_add(p, r, 1.0f), n);
}

/// Below 1 a polynomial; from there 1 - 2^-(2.5 t + t p(t)), since log(erfc) is smooth.
inline float inline_erf(float x) {
  const float s = x * x;
  float small = 0x1.4c2f4cp-14f;
  small = multiply_add(small, s, -0x1.a5099ep-11f);
  small = multiply_add(small, s, 0x1.542deep-8f);
  small = multiply_add(small, s, -0x1.b7fe8ep-6f);
  small = multiply_add(small, s, 0x1.ce2d50p-4f);
  small = multiply_add(small, s, -0x1.812740p-2f);
  small = multiply_add(small, s, 0x1.06eba8p-3f);
  small = multiply_add(small, x, x);

  const float magnitude = __builtin_fabsf(x);
  const float t = magnitude > 3.95f ? 3.95f : magnitude;  // from 3.92 on, 1
  float p = -0x1.40a648p-12f;
  p = multiply_add(p, t, 0x1.2e4cbcp-8f);
  p = multiply_add(p, t, -0x1.0dd1eap-5f);
  p = multiply_add(p, t, 0x1.36b878p-3f);
  p = multiply_add(p, t, 0x1.d5a336p-1f);
  p = multiply_add(p, t, -0x1.be6e04p-1f);
  const float tp = t * p;
  const Rounded n = rounded(multiply_add(t, -2.5f, -tp));
  // Near 1, where it matters, 2.5 t less a whole number is exact and t p small.
  const float r = multiply_add(t, -2.5f, -n.value) - tp;
  float rest = 0x1.5f0dccp-10f;
  rest = multiply_add(rest, r, 0x1.3cf04cp-7f);
  rest = multiply_add(rest, r, 0x1.c6af72p-5f);
  rest = multiply_add(rest, r, 0x1.ebf9a8p-3f);
  rest = multiply_add(rest, r, 0x1.62e430p-1f);
  rest = scaled_within(multiply_add(rest, r, 1.0f), n);
  const float large = __builtin_copysignf(1.0f - rest, x);
  return magnitude >= 1.0f ? large : small;  // NaN takes the polynomial
}

#else

inline float inline_exp(float x) {
  return ksplit_expf(x);
}
inline float inline_exp2(float x) {
  return ksplit_exp2f(x);
}
inline float inline_erf(float x) {
  return ksplit_erff(x);
}

#endif

inline double inline_exp(double x) {
  return ksplit_exp(x);
}
inline double inline_exp2(double x) {
  return ksplit_exp2(x);
}
inline double inline_erf(double x) {
  return ksplit_erf(x);
}

}  // namespace ksplit::cpu
