// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The elementary functions that the run-time library offers to generated code, each as
/// `float ksplit_<name>f(float)` and `double ksplit_<name>(double)`, within 1 ulp (erfc: 1.5), with
/// vector variants that the compiler calls by itself from vectorised loops.
///
///   X(name, accuracy)   one argument; accuracy is SLEEF's suffix, tenths of an ulp
///   Y(name, accuracy)   two arguments
#define KSPLIT_MATH_UNARY(X) \
  X(exp, u10)                \
  X(exp2, u10)               \
  X(exp10, u10)              \
  X(expm1, u10)              \
  X(log, u10)                \
  X(log2, u10)               \
  X(log10, u10)              \
  X(log1p, u10)              \
  X(sin, u10)                \
  X(cos, u10)                \
  X(tan, u10)                \
  X(asin, u10)               \
  X(acos, u10)               \
  X(atan, u10)               \
  X(sinh, u10)               \
  X(cosh, u10)               \
  X(tanh, u10)               \
  X(asinh, u10)              \
  X(acosh, u10)              \
  X(atanh, u10)              \
  X(sinpi, u05)              \
  X(cospi, u05)              \
  X(cbrt, u10)               \
  X(erf, u10)                \
  X(erfc, u15)               \
  X(tgamma, u10)             \
  X(lgamma, u10)

#define KSPLIT_MATH_BINARY(Y) \
  Y(pow, u10)                 \
  Y(atan2, u10)               \
  Y(hypot, u05)
