// SPDX-License-Identifier: Apache-2.0

// CUDA's libdevice functions by name, as expressions. Kernels reach them through
// triton.language.extra.libdevice; the same names stand in the IR for every target.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "cpu/elementwise.h"

namespace ksplit::cpu {
namespace {

/// Functions of both precisions: `__nv_expf` and `__nv_exp`. {f} is "f" or nothing, {T} the type.
const std::unordered_map<std::string_view, std::string_view>& float_functions() {
  static const std::unordered_map<std::string_view, std::string_view> kForms = {
      {"exp", "inline_exp({0})"},
      {"exp2", "inline_exp2({0})"},
      {"exp10", "ksplit_exp10{f}({0})"},
      {"expm1", "ksplit_expm1{f}({0})"},
      {"log", "ksplit_log{f}({0})"},
      {"log2", "ksplit_log2{f}({0})"},
      {"log10", "ksplit_log10{f}({0})"},
      {"log1p", "ksplit_log1p{f}({0})"},
      {"sin", "ksplit_sin{f}({0})"},
      {"cos", "ksplit_cos{f}({0})"},
      {"tan", "ksplit_tan{f}({0})"},
      {"sinpi", "ksplit_sinpi{f}({0})"},
      {"cospi", "ksplit_cospi{f}({0})"},
      {"asin", "ksplit_asin{f}({0})"},
      {"acos", "ksplit_acos{f}({0})"},
      {"atan", "ksplit_atan{f}({0})"},
      {"atan2", "ksplit_atan2{f}({0}, {1})"},
      {"sinh", "ksplit_sinh{f}({0})"},
      {"cosh", "ksplit_cosh{f}({0})"},
      {"tanh", "ksplit_tanh{f}({0})"},
      {"asinh", "ksplit_asinh{f}({0})"},
      {"acosh", "ksplit_acosh{f}({0})"},
      {"atanh", "ksplit_atanh{f}({0})"},
      {"cbrt", "ksplit_cbrt{f}({0})"},
      {"rcbrt", "1 / ksplit_cbrt{f}({0})"},
      {"erf", "inline_erf({0})"},
      {"erfc", "ksplit_erfc{f}({0})"},
      {"tgamma", "ksplit_tgamma{f}({0})"},
      {"lgamma", "ksplit_lgamma{f}({0})"},
      {"pow", "ksplit_pow{f}({0}, {1})"},
      {"powi", "__builtin_powi{f}({0}, {1})"},
      {"hypot", "ksplit_hypot{f}({0}, {1})"},
      {"rhypot", "1 / ksplit_hypot{f}({0}, {1})"},
      {"norm3d", "__builtin_sqrt{f}({0} * {0} + {1} * {1} + {2} * {2})"},
      {"rnorm3d", "1 / __builtin_sqrt{f}({0} * {0} + {1} * {1} + {2} * {2})"},
      {"norm4d", "__builtin_sqrt{f}({0} * {0} + {1} * {1} + {2} * {2} + {3} * {3})"},
      {"rnorm4d", "1 / __builtin_sqrt{f}({0} * {0} + {1} * {1} + {2} * {2} + {3} * {3})"},
      {"normcdf", "{T}(0.5) * ksplit_erfc{f}({T}(-0.70710678118654752440) * {0})"},
      {"sqrt", "__builtin_sqrt{f}({0})"},
      {"rsqrt", "1 / __builtin_sqrt{f}({0})"},
      {"fma", "__builtin_fma{f}({0}, {1}, {2})"},
      {"fmod", "__builtin_fmod{f}({0}, {1})"},
      {"remainder", "__builtin_remainder{f}({0}, {1})"},
      {"fdim", "{0} > {1} ? {0} - {1} : {0} <= {1} ? {T}(0) : {0} + {1}"},
      {"floor", "__builtin_floor{f}({0})"},
      {"ceil", "__builtin_ceil{f}({0})"},
      {"trunc", "__builtin_trunc{f}({0})"},
      {"round", "__builtin_round{f}({0})"},
      {"rint", "__builtin_rint{f}({0})"},
      {"nearbyint", "__builtin_rint{f}({0})"},
      {"llrint", "int64_t(__builtin_rint{f}({0}))"},
      {"llround", "int64_t(__builtin_round{f}({0}))"},
      {"fabs", "__builtin_fabs{f}({0})"},
      {"copysign", "__builtin_copysign{f}({0}, {1})"},
      {"nextafter", "__builtin_nextafter{f}({0}, {1})"},
      {"ldexp", "__builtin_ldexp{f}({0}, {1})"},
      {"scalbn", "__builtin_ldexp{f}({0}, {1})"},
      {"ilogb", "__builtin_ilogb{f}({0})"},
      {"logb", "__builtin_logb{f}({0})"},
      {"j0", "__builtin_j0{f}({0})"},
      {"j1", "__builtin_j1{f}({0})"},
      {"jn", "__builtin_jn{f}({0}, {1})"},
      {"y0", "__builtin_y0{f}({0})"},
      {"y1", "__builtin_y1{f}({0})"},
      {"yn", "__builtin_yn{f}({0}, {1})"},
  };
  return kForms;
}

/// Functions with one name only.
const std::unordered_map<std::string_view, std::string_view>& other_functions() {
  static const std::unordered_map<std::string_view, std::string_view> kForms = {
      {"abs", "{0} < 0 ? -({0}) : {0}"},
      {"llabs", "{0} < 0 ? -({0}) : {0}"},
      {"clz", "count_leading_zeros(uint32_t({0}))"},
      {"clzll", "count_leading_zeros(uint64_t({0}))"},
      {"popc", "__builtin_popcount(uint32_t({0}))"},
      {"popcll", "__builtin_popcountll(uint64_t({0}))"},
      {"ffs", "__builtin_ffs({0})"},
      {"ffsll", "__builtin_ffsll({0})"},
      {"brev", "int32_t(reverse_bits(uint64_t(uint32_t({0}))) >> 32)"},
      {"brevll", "int64_t(reverse_bits(uint64_t({0})))"},
      {"mulhi", "int32_t((int64_t({0}) * {1}) >> 32)"},
      {"umulhi", "multiply_high(uint32_t({0}), uint32_t({1}))"},
      {"mul64hi", "int64_t((__int128({0}) * {1}) >> 64)"},
      {"umul64hi", "multiply_high(uint64_t({0}), uint64_t({1}))"},
      {"mul24", "(({0} << 8) >> 8) * (({1} << 8) >> 8)"},
      {"umul24", "({0} & 0xffffff) * ({1} & 0xffffff)"},
      {"sad", "({0} > {1} ? {0} - {1} : {1} - {0}) + {2}"},
      {"usad", "(uint32_t({0}) > uint32_t({1}) ? {0} - {1} : {1} - {0}) + {2}"},
      {"hadd", "int32_t((int64_t({0}) + {1}) >> 1)"},
      {"rhadd", "int32_t((int64_t({0}) + {1} + 1) >> 1)"},
      {"uhadd", "int32_t((uint64_t(uint32_t({0})) + uint32_t({1})) >> 1)"},
      {"urhadd", "int32_t((uint64_t(uint32_t({0})) + uint32_t({1}) + 1) >> 1)"},
      {"isnanf", "int32_t({0} != {0})"},
      {"isnand", "int32_t({0} != {0})"},
      {"isinff", "int32_t(__builtin_isinf({0}) != 0)"},
      {"isinfd", "int32_t(__builtin_isinf({0}) != 0)"},
      {"finitef", "int32_t(__builtin_isfinite({0}))"},
      {"isfinited", "int32_t(__builtin_isfinite({0}))"},
      {"signbitf", "int32_t(__builtin_signbitf({0}) != 0)"},
      {"signbitd", "int32_t(__builtin_signbit({0}) != 0)"},
      {"saturatef", "{0} > 0.0f ? ({0} < 1.0f ? {0} : 1.0f) : 0.0f"},
      {"float_as_int", "bit_cast<int32_t>({0})"},
      {"float_as_uint", "bit_cast<int32_t>({0})"},
      {"int_as_float", "bit_cast<float>({0})"},
      {"uint_as_float", "bit_cast<float>({0})"},
      {"double_as_longlong", "bit_cast<int64_t>({0})"},
      {"longlong_as_double", "bit_cast<double>({0})"},
      {"double2hiint", "int32_t(bit_cast<int64_t>({0}) >> 32)"},
      {"double2loint", "int32_t(bit_cast<int64_t>({0}))"},
      {"hiloint2double", "bit_cast<double>((uint64_t(uint32_t({0})) << 32) | uint32_t({1}))"},
      {"fast_expf", "inline_exp({0})"},
      {"fast_exp10f", "ksplit_exp10f({0})"},
      {"fast_logf", "ksplit_logf({0})"},
      {"fast_log2f", "ksplit_log2f({0})"},
      {"fast_log10f", "ksplit_log10f({0})"},
      {"fast_sinf", "ksplit_sinf({0})"},
      {"fast_cosf", "ksplit_cosf({0})"},
      {"fast_tanf", "ksplit_tanf({0})"},
      {"fast_powf", "ksplit_powf({0}, {1})"},
      {"fast_fdividef", "{0} / {1}"},
      // Arithmetic and conversions with a rounding mode: nearest, and to integers all four.
      {"fadd_rn", "{0} + {1}"},
      {"fsub_rn", "{0} - {1}"},
      {"fmul_rn", "{0} * {1}"},
      {"fdiv_rn", "{0} / {1}"},
      {"frcp_rn", "1 / {0}"},
      {"fsqrt_rn", "__builtin_sqrtf({0})"},
      {"frsqrt_rn", "1 / __builtin_sqrtf({0})"},
      {"fmaf_rn", "__builtin_fmaf({0}, {1}, {2})"},
      {"dadd_rn", "{0} + {1}"},
      {"dsub_rn", "{0} - {1}"},
      {"dmul_rn", "{0} * {1}"},
      {"ddiv_rn", "{0} / {1}"},
      {"drcp_rn", "1 / {0}"},
      {"dsqrt_rn", "__builtin_sqrt({0})"},
      {"fma_rn", "__builtin_fma({0}, {1}, {2})"},
      {"double2float_rn", "float({0})"},
      {"int2float_rn", "float({0})"},
      {"int2double_rn", "double({0})"},
      {"uint2float_rn", "float(uint32_t({0}))"},
      {"uint2double_rn", "double(uint32_t({0}))"},
      {"ll2float_rn", "float({0})"},
      {"ll2double_rn", "double({0})"},
      {"ull2float_rn", "float(uint64_t({0}))"},
      {"ull2double_rn", "double(uint64_t({0}))"},
  };
  return kForms;
}

/// `float2int_rd`, `double2ull_rz` ...: rounded first, then converted.
std::string float_to_integer(std::string_view name, const std::string& operand) {
  static const std::unordered_map<std::string_view, std::string_view> kTargets = {
      {"int", "int32_t"}, {"uint", "uint32_t"}, {"ll", "int64_t"}, {"ull", "uint64_t"}};
  static const std::unordered_map<std::string_view, std::string_view> kRoundings = {
      {"rd", "floor"}, {"ru", "ceil"}, {"rn", "rint"}, {"rz", "trunc"}};
  const auto two = name.find('2');
  const auto bar = name.find('_');
  if (two == name.npos || bar == name.npos || bar < two) return {};
  const std::string_view from = name.substr(0, two);
  const auto target = kTargets.find(name.substr(two + 1, bar - two - 1));
  const auto rounding = kRoundings.find(name.substr(bar + 1));
  if ((from != "float" && from != "double") || target == kTargets.end() ||
      rounding == kRoundings.end()) {
    return {};
  }
  return fmt::format("{}(__builtin_{}{}({}))", target->second, rounding->second,
                     from == "float" ? "f" : "", operand);
}

std::string filled(std::string_view form, std::span<const std::string> operands, bool single) {
  std::string out;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '{') {
      out += form[i];
      continue;
    }
    const char what = form[i + 1];
    if (what == 'f') {
      out += single ? "f" : "";
    } else if (what == 'T') {
      out += single ? "float" : "double";
    } else {
      out += operands[static_cast<std::size_t>(what - '0')];
    }
    i += 2;
  }
  return out;
}

std::size_t operands_of(std::string_view form) {
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < form.size(); ++i) {
    if (form[i] == '{' && form[i + 1] >= '0' && form[i + 1] <= '9') {
      count = std::max(count, static_cast<std::size_t>(form[i + 1] - '0') + 1);
    }
  }
  return count;
}

}  // namespace

Result<std::string> libdevice_expression(std::string_view symbol,
                                         std::span<const std::string> operands) {
  std::string_view name = symbol;
  if (name.starts_with("__nv_")) name.remove_prefix(5);
  std::string_view form;
  bool single = false;
  if (const auto found = other_functions().find(name); found != other_functions().end()) {
    form = found->second;
  } else if (const auto twin = float_functions().find(name); twin != float_functions().end()) {
    form = twin->second;
  } else if (name.ends_with('f')) {
    const auto base = float_functions().find(name.substr(0, name.size() - 1));
    if (base != float_functions().end()) form = base->second;
    single = true;
  }
  if (!form.empty() && operands_of(form) == operands.size()) return filled(form, operands, single);
  if (operands.size() == 1) {
    if (std::string text = float_to_integer(name, operands[0]); !text.empty()) return text;
  }
  return fail(ErrorCode::unsupported,
              fmt::format("no function {} with {} operands", symbol, operands.size()));
}

}  // namespace ksplit::cpu
