// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi.h"
#include "math_functions.h"

/// What generated kernels are written in terms of: number formats, integer and float operations
/// with Triton's meaning where C++ differs, memory access, and loops that are the same in every
/// kernel.
///
/// Compiled into each kernel by the user's compiler, with -fwrapv (integers wrap around) and
/// without any option that relaxes floating point. No standard library: it would cost more than the
/// kernel.
namespace ksplit::cpu {

// --- number formats
// -------------------------------------------------------------------------------

typedef uint16_t f16;  // not _Float16, of which compilers make no vectors beside float
typedef uint16_t bf16;
typedef uint8_t f8E4M3FN;
typedef uint8_t f8E5M2;
typedef uint8_t f8E4M3FNUZ;
typedef uint8_t f8E5M2FNUZ;
typedef uint8_t f8E4M3B11FNUZ;

template <class To, class From>
inline To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

inline float f16_to_f32(f16 x) {
  const uint32_t magnitude = (x & 0x7fffu) << 13;  // exponent and mantissa where float has them
  const uint32_t rebiased = magnitude + (112u << 23);
  const float other =
      bit_cast<float>(magnitude >= 0x0f800000u ? rebiased + (112u << 23) : rebiased);
  // A subnormal has no leading one: given one, and its value taken off again.
  const float subnormal = bit_cast<float>(rebiased + (1u << 23)) - 0x1p-14f;
  const float value = magnitude < 0x00800000u ? subnormal : other;
  return bit_cast<float>(bit_cast<uint32_t>(value) | uint32_t(x & 0x8000u) << 16);
}

inline f16 f32_to_f16(float x) {
  const uint32_t bits = bit_cast<uint32_t>(x);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t normal = ((magnitude + 0xfffu + ((magnitude >> 13) & 1u)) >> 13) - (112u << 10);
  // The last bit of 0.5 is the smallest f16: the addition rounds there.
  const uint32_t subnormal =
      bit_cast<uint32_t>(bit_cast<float>(magnitude) + 0.5f) - bit_cast<uint32_t>(0.5f);
  uint32_t code = magnitude < 0x38800000u ? subnormal : normal;
  code = magnitude >= 0x47800000u ? 0x7c00u : code;
  code = magnitude > 0x7f800000u ? 0x7e00u : code;
  return f16(code | ((bits >> 16) & 0x8000u));
}

inline float bf16_to_f32(bf16 x) {
  return bit_cast<float>(uint32_t(x) << 16);
}

inline bf16 f32_to_bf16(float x) {
  const uint32_t bits = bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return bf16(x != x ? (bits >> 16) | 0x40u : rounded);
}

inline bf16 f32_to_bf16_rtz(float x) {
  const uint32_t bits = bit_cast<uint32_t>(x);
  return bf16(x != x ? (bits >> 16) | 0x40u : bits >> 16);
}

/// Narrows so that a second rounding to at most 22 bits gives the directly rounded result: the last
/// bit is set when anything was cut off ("round to odd").
inline float f64_to_f32_odd(double x) {
  const float nearest = float(x);
  if (double(nearest) == x || x != x) return nearest;
  const uint32_t bits = bit_cast<uint32_t>(nearest);
  const bool beyond = __builtin_fabs(double(nearest)) > __builtin_fabs(x);
  return bit_cast<float>((beyond ? bits - 1 : bits) | 1u);
}

inline bf16 f64_to_bf16(double x) {
  return f32_to_bf16(f64_to_f32_odd(x));
}

inline f16 f32_to_f16_rtz(float x) {
  const f16 nearest = f32_to_f16(x);
  const bool beyond = __builtin_fabsf(f16_to_f32(nearest)) > __builtin_fabsf(x);
  return f16(beyond ? nearest - 1 : nearest);
}

/// An 8-bit float. kNegativeZeroNan: the pattern of -0 is the only NaN ("UZ"); kInfinity: as IEEE.
template <int kMantissa, int kBias, bool kInfinity, bool kNegativeZeroNan>
struct Float8 {
  static constexpr int kExponent = 7 - kMantissa;
  static constexpr uint32_t kNan = kNegativeZeroNan ? 0x80u : kInfinity ? 0x7fu : 0x7fu;
  static constexpr uint32_t kLargest = kNegativeZeroNan ? 0x7fu
                                       : kInfinity      ? (((1u << kExponent) - 1) << kMantissa) - 1
                                                        : 0x7eu;

  static float decode(uint8_t x) {
    const uint32_t magnitude = x & 0x7fu;
    // Exponent and mantissa moved into place are off by a power of two only, subnormals included.
    const float scale = bit_cast<float>(uint32_t(127 + 127 - kBias) << 23);
    const float value = bit_cast<float>(magnitude << (23 - kMantissa)) * scale;
    uint32_t bits = bit_cast<uint32_t>(value);
    if (kInfinity) {
      constexpr uint32_t top = ((1u << kExponent) - 1) << kMantissa;
      bits = magnitude == top ? 0x7f800000u : magnitude > top ? 0x7fc00000u : bits;
    } else if (kNegativeZeroNan) {
      bits = x == 0x80u ? 0x7fc00000u : bits;
    } else {
      bits = magnitude == 0x7fu ? 0x7fc00000u : bits;
    }
    return bit_cast<float>(bits | uint32_t(x & 0x80u) << 24);
  }

  /// To nearest, ties to even; what is too large becomes the largest number, as GPUs convert.
  static uint8_t encode(float x) {
    const uint32_t bits = bit_cast<uint32_t>(x);
    const uint32_t sign = (bits >> 24) & 0x80u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    constexpr int kShift = 23 - kMantissa;
    constexpr uint32_t kSmallestNormal = uint32_t(127 - kBias + 1) << 23;
    // Normal: round in place, then move the exponent. Subnormal: an addition rounds at the right
    // bit.
    const uint32_t rounded = magnitude + ((1u << (kShift - 1)) - 1) + ((magnitude >> kShift) & 1u);
    const uint32_t normal = (rounded >> kShift) - (uint32_t(127 - kBias) << kMantissa);
    const float magic = bit_cast<float>(uint32_t(127 - kBias + 1 + kShift) << 23);
    const uint32_t subnormal =
        bit_cast<uint32_t>(bit_cast<float>(magnitude) + magic) - bit_cast<uint32_t>(magic);
    uint32_t code = magnitude < kSmallestNormal ? subnormal : normal;
    const bool over = magnitude >= kSmallestNormal && (code > kLargest || magnitude >= 0x7f800000u);
    code = over ? kLargest : code;
    if (magnitude > 0x7f800000u) return uint8_t(kNegativeZeroNan ? kNan : kNan | sign);
    return uint8_t(kNegativeZeroNan && code == 0 ? 0 : code | sign);
  }
};

#define KSPLIT_FLOAT8(name, ...)           \
  inline float name##_to_f32(uint8_t x) {  \
    return Float8<__VA_ARGS__>::decode(x); \
  }                                        \
  inline uint8_t f32_to_##name(float x) {  \
    return Float8<__VA_ARGS__>::encode(x); \
  }
KSPLIT_FLOAT8(f8E4M3FN, 3, 7, false, false)
KSPLIT_FLOAT8(f8E5M2, 2, 15, true, false)
KSPLIT_FLOAT8(f8E4M3FNUZ, 3, 8, false, true)
KSPLIT_FLOAT8(f8E5M2FNUZ, 2, 16, false, true)
KSPLIT_FLOAT8(f8E4M3B11FNUZ, 3, 11, false, true)
#undef KSPLIT_FLOAT8

// --- integers
// -------------------------------------------------------------------------------------

/// Division and remainder truncate. By zero they give -1 and the dividend, and the smallest number
/// by -1 wraps, instead of a trap: lanes that a mask throws away may hold anything. 32-bit operands
/// go through double, where the quotient is exact after truncation and loops vectorise; constants
/// are left to the compiler.
template <class T>
inline T divide(T a, T b) {
  constexpr bool is_signed = T(-1) < T(0);
  if (__builtin_constant_p(b) && b != 0 && (!is_signed || b != T(-1))) return T(a / b);
  if constexpr (sizeof(T) > 4) {
    return b == 0 ? T(-1) : is_signed && b == T(-1) ? T(T(0) - a) : T(a / b);
  } else if constexpr (is_signed) {
    return b == 0 ? T(-1) : b == T(-1) ? T(-a) : T(int32_t(double(a) / double(b)));
  } else {
    return b == 0 ? T(-1) : T(int64_t(double(a) / double(b)));
  }
}

template <class T>
inline T remainder(T a, T b) {
  return b == 0 ? a : T(a - divide(a, b) * b);
}

/// Rounded down and up, for the index arithmetic that MLIR's passes introduce.
template <class T>
inline T divide_floor(T a, T b) {
  const T quotient = divide(a, b);
  return (remainder(a, b) != 0 && (a < 0) != (b < 0)) ? T(quotient - 1) : quotient;
}

template <class T>
inline T divide_ceil(T a, T b) {
  const T quotient = divide(a, b);
  return (remainder(a, b) != 0 && (a < 0) == (b < 0)) ? T(quotient + 1) : quotient;
}

/// Shifts by the width or more give 0, or the sign for an arithmetic shift.
template <class T, class U>
inline T shift_left(T a, U by) {
  return uint64_t(by) < 8 * sizeof(T) ? T(a << by) : T(0);
}
template <class T, class U>
inline T shift_right(T a, U by) {
  constexpr bool is_signed = T(-1) < T(0);
  return uint64_t(by) < 8 * sizeof(T) ? T(a >> by) : is_signed && a < 0 ? T(-1) : T(0);
}

inline uint32_t multiply_high(uint32_t a, uint32_t b) {
  return uint32_t((uint64_t(a) * b) >> 32);
}
inline uint64_t multiply_high(uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 wide;
  return uint64_t((wide(a) * b) >> 64);
}

inline int32_t count_leading_zeros(uint32_t x) {
  return x == 0 ? 32 : __builtin_clz(x);
}
inline int32_t count_leading_zeros(uint64_t x) {
  return x == 0 ? 64 : __builtin_clzll(x);
}
inline uint64_t reverse_bits(uint64_t x) {
  x = ((x >> 1) & 0x5555555555555555u) | ((x & 0x5555555555555555u) << 1);
  x = ((x >> 2) & 0x3333333333333333u) | ((x & 0x3333333333333333u) << 2);
  x = ((x >> 4) & 0x0f0f0f0f0f0f0f0fu) | ((x & 0x0f0f0f0f0f0f0f0fu) << 4);
  return __builtin_bswap64(x);
}

template <class T>
inline T smaller(T a, T b) {
  return b < a ? b : a;
}
template <class T>
inline T larger(T a, T b) {
  return a < b ? b : a;
}

/// The number of a lane's bound, cut to 0..size.
inline int32_t clamp_bound(int64_t bound, int32_t size) {
  return bound < 0 ? 0 : bound > size ? size : int32_t(bound);
}

// --- floats
// ---------------------------------------------------------------------------------------

/// minnumf/maxnumf: the number when the other is NaN. minimumf/maximumf: NaN when either is, and -0
/// is less than +0. One comparison a step: GCC does not vectorise both in one condition where b
/// comes from a masked load.
template <class T>
inline T minnum(T a, T b) {
  const T smaller = a < b ? a : b;
  return b != b ? a : smaller;
}
template <class T>
inline T maxnum(T a, T b) {
  const T larger = a > b ? a : b;
  return b != b ? a : larger;
}
inline float minimum(float a, float b) {
  const float zero = bit_cast<float>(bit_cast<uint32_t>(a) | bit_cast<uint32_t>(b));
  return a != a ? a : b != b ? b : a == b ? zero : a < b ? a : b;
}
inline float maximum(float a, float b) {
  const float zero = bit_cast<float>(bit_cast<uint32_t>(a) & bit_cast<uint32_t>(b));
  return a != a ? a : b != b ? b : a == b ? zero : a > b ? a : b;
}
inline double minimum(double a, double b) {
  const double zero = bit_cast<double>(bit_cast<uint64_t>(a) | bit_cast<uint64_t>(b));
  return a != a ? a : b != b ? b : a == b ? zero : a < b ? a : b;
}
inline double maximum(double a, double b) {
  const double zero = bit_cast<double>(bit_cast<uint64_t>(a) & bit_cast<uint64_t>(b));
  return a != a ? a : b != b ? b : a == b ? zero : a > b ? a : b;
}

}  // namespace ksplit::cpu

// Vector variants exist for x86-64; elsewhere the calls stay scalar.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define KSPLIT_VECTOR __attribute__((simd("notinbranch"), const, nothrow))
#else
#define KSPLIT_VECTOR __attribute__((const, nothrow))
#endif
extern "C" {
#define KSPLIT_DECLARE_UNARY(name, accuracy)   \
  float ksplit_##name##f(float) KSPLIT_VECTOR; \
  double ksplit_##name(double) KSPLIT_VECTOR;
#define KSPLIT_DECLARE_BINARY(name, accuracy)         \
  float ksplit_##name##f(float, float) KSPLIT_VECTOR; \
  double ksplit_##name(double, double) KSPLIT_VECTOR;
KSPLIT_MATH_UNARY(KSPLIT_DECLARE_UNARY)
KSPLIT_MATH_BINARY(KSPLIT_DECLARE_BINARY)
#undef KSPLIT_DECLARE_UNARY
#undef KSPLIT_DECLARE_BINARY
}

#include "float_functions.h"
#include "kernel_loops.h"
