// SPDX-License-Identifier: Apache-2.0

// The elementary functions of math_functions.h. On x86-64 each also gets the vector variants that a
// compiler calls from vectorised loops, under the names of the x86 vector function ABI:
//
//   _ZGV b N4  v_ksplit_expf    SSE2, 4 floats       _ZGV d N8  v_ksplit_expf    AVX2, 8 floats
//   _ZGV c N8  v_ksplit_expf    AVX, 8 floats        _ZGV e N16 v_ksplit_expf    AVX-512, 16 floats
//
// A variant is only reached from code compiled for its instruction set, so this file itself needs
// no machine options.

#include "cpu/runtime/math_functions.h"

#if defined(__x86_64__)

#include <immintrin.h>

// sleef.h shows a function only to code compiled for its instruction set, so all are declared here.

#define KSPLIT_SCALAR_UNARY(name, acc)            \
  extern "C" float Sleef_##name##f_##acc(float);  \
  extern "C" double Sleef_##name##_##acc(double); \
  extern "C" float ksplit_##name##f(float x) {    \
    return Sleef_##name##f_##acc(x);              \
  }                                               \
  extern "C" double ksplit_##name(double x) {     \
    return Sleef_##name##_##acc(x);               \
  }
#define KSPLIT_SCALAR_BINARY(name, acc)                   \
  extern "C" float Sleef_##name##f_##acc(float, float);   \
  extern "C" double Sleef_##name##_##acc(double, double); \
  extern "C" float ksplit_##name##f(float x, float y) {   \
    return Sleef_##name##f_##acc(x, y);                   \
  }                                                       \
  extern "C" double ksplit_##name(double x, double y) {   \
    return Sleef_##name##_##acc(x, y);                    \
  }

#define KSPLIT_VARIANT_UNARY(isa, machine, type, lanes, symbol, function)                        \
  extern "C" __attribute__((target(machine))) type function(type);                               \
  extern "C" __attribute__((target(machine)))                                                    \
  type ksplit_##isa##lanes##_##symbol(type) __asm__("_ZGV" #isa "N" #lanes "v_ksplit_" #symbol); \
  __attribute__((target(machine))) type ksplit_##isa##lanes##_##symbol(type x) {                 \
    return function(x);                                                                          \
  }
#define KSPLIT_VARIANT_BINARY(isa, machine, type, lanes, symbol, function)               \
  extern "C" __attribute__((target(machine))) type function(type, type);                 \
  extern "C" __attribute__((target(machine))) type ksplit_##isa##lanes##_##symbol(       \
      type, type) __asm__("_ZGV" #isa "N" #lanes "vv_ksplit_" #symbol);                  \
  __attribute__((target(machine))) type ksplit_##isa##lanes##_##symbol(type x, type y) { \
    return function(x, y);                                                               \
  }

#define KSPLIT_VARIANTS(VARIANT, name, acc)                                    \
  VARIANT(b, "sse2", __m128, 4, name##f, Sleef_##name##f4_##acc##sse2)         \
  VARIANT(b, "sse2", __m128d, 2, name, Sleef_##name##d2_##acc##sse2)           \
  VARIANT(c, "avx", __m256, 8, name##f, Sleef_##name##f8_##acc##avx)           \
  VARIANT(c, "avx", __m256d, 4, name, Sleef_##name##d4_##acc##avx)             \
  VARIANT(d, "avx2,fma", __m256, 8, name##f, Sleef_##name##f8_##acc##avx2)     \
  VARIANT(d, "avx2,fma", __m256d, 4, name, Sleef_##name##d4_##acc##avx2)       \
  VARIANT(e, "avx512f", __m512, 16, name##f, Sleef_##name##f16_##acc##avx512f) \
  VARIANT(e, "avx512f", __m512d, 8, name, Sleef_##name##d8_##acc##avx512f)

#define KSPLIT_DEFINE_UNARY(name, acc) \
  KSPLIT_SCALAR_UNARY(name, acc) KSPLIT_VARIANTS(KSPLIT_VARIANT_UNARY, name, acc)
#define KSPLIT_DEFINE_BINARY(name, acc) \
  KSPLIT_SCALAR_BINARY(name, acc) KSPLIT_VARIANTS(KSPLIT_VARIANT_BINARY, name, acc)

#else

#include <cmath>
#include <numbers>

namespace {
// Those that <cmath> lacks.
template <class T>
T exp10(T x) {
  return std::pow(T(10), x);
}
template <class T>
T sinpi(T x) {
  return std::sin(std::numbers::pi_v<T> * std::remainder(x, T(2)));
}
template <class T>
T cospi(T x) {
  return std::cos(std::numbers::pi_v<T> * std::remainder(x, T(2)));
}
}  // namespace

#define KSPLIT_DEFINE_UNARY(name, acc)         \
  extern "C" float ksplit_##name##f(float x) { \
    using namespace std;                       \
    return name(x);                            \
  }                                            \
  extern "C" double ksplit_##name(double x) {  \
    using namespace std;                       \
    return name(x);                            \
  }
#define KSPLIT_DEFINE_BINARY(name, acc)                 \
  extern "C" float ksplit_##name##f(float x, float y) { \
    using namespace std;                                \
    return name(x, y);                                  \
  }                                                     \
  extern "C" double ksplit_##name(double x, double y) { \
    using namespace std;                                \
    return name(x, y);                                  \
  }

#endif

KSPLIT_MATH_UNARY(KSPLIT_DEFINE_UNARY)
KSPLIT_MATH_BINARY(KSPLIT_DEFINE_BINARY)
