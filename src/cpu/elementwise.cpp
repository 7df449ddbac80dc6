// SPDX-License-Identifier: Apache-2.0
#include "cpu/elementwise.h"

#include <fmt/format.h>

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "cpu/scalar_type.h"

namespace ksplit::cpu {

using ttir::FloatFormat;
using ttir::Operation;
using ttir::Type;

tl::unexpected<Error> unsupported(const Operation& op, std::string_view why) {
  Error error{
      ErrorCode::unsupported,
      fmt::format("the CPU backend does not cover {}{}{}", op.name, why.empty() ? "" : ": ", why),
      op.location.span(),
      {},
      {}};
  return fail(std::move(error));
}

namespace {

struct Operands {
  const Operation& op;
  std::span<const std::string> text;

  Type type(std::size_t i) const { return op.operand(i).type.element(); }
  const std::string& operator[](std::size_t i) const { return text[i]; }
  std::string widened(std::size_t i) const { return widen(type(i), text[i]); }
  std::string as_unsigned(std::size_t i) const { return cpu::as_unsigned(type(i), text[i]); }
  std::string as_signed(std::size_t i) const { return cpu::as_signed(type(i), text[i]); }
  /// "f" for the functions of single precision, in which narrow floats are computed too.
  const char* suffix() const {
    return type(0).is_float() && type(0).format() == FloatFormat::f64 ? "" : "f";
  }
};

using Rule = std::function<std::string(const Operands&)>;

std::string float_result(const Operands& in, const std::string& expression) {
  return narrow(in.op.result().type.element(), expression);
}

Rule infix(const char* sign) {
  return [sign](const Operands& in) { return fmt::format("{} {} {}", in[0], sign, in[1]); };
}

/// Bitwise on i1 gives `int` in C++; the typed temporary that takes it makes it `bool` again. Sums
/// and products of i1 are taken modulo 2.
Rule integer_infix(const char* sign, const char* bool_sign) {
  return [=](const Operands& in) {
    return fmt::format("{} {} {}", in[0], in.type(0).is_integer(1) ? bool_sign : sign, in[1]);
  };
}

Rule float_infix(const char* sign) {
  return [sign](const Operands& in) {
    return float_result(in, fmt::format("{} {} {}", in.widened(0), sign, in.widened(1)));
  };
}

Rule signed_call(const char* function) {
  return [function](const Operands& in) {
    if (in.type(0).is_integer(1)) {
      return fmt::format("{}({}, {})", function, in.as_signed(0), in.as_signed(1));
    }
    return fmt::format("{}({}, {})", function, in[0], in[1]);
  };
}

Rule unsigned_call(const char* function) {
  return [function](const Operands& in) {
    if (in.type(0).is_integer(1)) {
      return fmt::format("{}(uint32_t({}), uint32_t({}))", function, in[0], in[1]);
    }
    return fmt::format("{}({}, {})", function, in.as_unsigned(0), in.as_unsigned(1));
  };
}

Rule float_call(const char* function) {
  return [function](const Operands& in) {
    std::string arguments = in.widened(0);
    for (std::size_t i = 1; i < in.text.size(); ++i) arguments += ", " + in.widened(i);
    return float_result(in, fmt::format("{}({})", function, arguments));
  };
}

/// A function that comes in two precisions: __builtin_sqrtf, ksplit_exp.
Rule math_call(const char* function) {
  return [function](const Operands& in) {
    return float_call((std::string(function) + in.suffix()).c_str())(in);
  };
}

std::string compare_integers(const Operands& in) {
  static const std::unordered_map<std::string_view, std::string_view> kSigns = {
      {"eq", "=="},  {"ne", "!="}, {"slt", "<"},  {"sle", "<="}, {"sgt", ">"},
      {"sge", ">="}, {"ult", "<"}, {"ule", "<="}, {"ugt", ">"},  {"uge", ">="}};
  const std::string_view predicate = in.op.keyword("predicate");
  const auto sign = kSigns.at(predicate);
  if (predicate[0] == 'u') {
    return fmt::format("{} {} {}", in.as_unsigned(0), sign, in.as_unsigned(1));
  }
  if (predicate[0] == 's') return fmt::format("{} {} {}", in.as_signed(0), sign, in.as_signed(1));
  return fmt::format("{} {} {}", in[0], sign, in[1]);
}

std::string compare_floats(const Operands& in) {
  // Unordered predicates are the ordered opposite, negated: true where either is NaN.
  static const std::unordered_map<std::string_view, std::string_view> kForms = {
      {"oeq", "{0} == {1}"},
      {"ogt", "{0} > {1}"},
      {"oge", "{0} >= {1}"},
      {"olt", "{0} < {1}"},
      {"ole", "{0} <= {1}"},
      {"one", "({0} < {1}) | ({0} > {1})"},
      {"une", "{0} != {1}"},
      {"ugt", "!({0} <= {1})"},
      {"uge", "!({0} < {1})"},
      {"ult", "!({0} >= {1})"},
      {"ule", "!({0} > {1})"},
      {"ueq", "!(({0} < {1}) | ({0} > {1}))"},
      {"ord", "({0} == {0}) & ({1} == {1})"},
      {"uno", "({0} != {0}) | ({1} != {1})"},
      {"true", "true"},
      {"false", "false"}};
  return fmt::format(fmt::runtime(kForms.at(in.op.keyword("predicate"))), in.widened(0),
                     in.widened(1));
}

std::string convert_float(const Operands& in) {
  const Type from = in.type(0);
  const Type to = in.op.result().type.element();
  if (from == to) return in[0];
  const bool truncate =
      in.op.keyword("rounding") == "rtz" || in.op.keyword("roundingmode") == "toward_zero";
  if (truncate && from.bit_width() == 32 && to.bit_width() == 16) {
    return fmt::format("f32_to_{}_rtz({})", c_type(to), in[0]);
  }
  const bool wide = from.format() == FloatFormat::f64;
  return narrow(to, wide ? in[0] : in.widened(0), wide);
}

std::string integer_to_float(const Operands& in, const std::string& value) {
  // Through float it would be rounded twice.
  const Type to = in.op.result().type.element();
  if (is_native(to)) return fmt::format("{}({})", c_type(to), value);
  return narrow(to, fmt::format("double({})", value), true);
}

std::string float_to_integer(const Operands& in, bool is_unsigned) {
  const Type to = in.op.result().type.element();
  if (to.is_integer(1)) return fmt::format("{} != 0", in.widened(0));
  // C++ leaves narrow results out of range undefined; through a wide integer they wrap.
  const int through = to.bit_width() < 32 ? 32 : to.bit_width();
  const char* sign = is_unsigned && to.bit_width() >= 32 ? "u" : "";
  return fmt::format("{}({}int{}_t({}))", c_type(to), sign, through, in.widened(0));
}

std::string bitcast(const Operands& in) {
  const Type from = in.type(0);
  const Type to = in.op.result().type.element();
  if (from == to) return in[0];
  if (from.is_pointer() && to.is_pointer()) {
    return fmt::format("reinterpret_cast<{}>({})", c_type(to), in[0]);
  }
  if (c_type(from) == c_type(to)) return in[0];
  return fmt::format("bit_cast<{0}>({1}({2}))", c_type(to), c_type(from), in[0]);
}

std::string clamp(const Operands& in) {
  const std::string x = in.widened(0), low = in.widened(1), high = in.widened(2);
  if (in.op.keyword("propagateNan") == "all") {
    return float_result(in, fmt::format("minimum(maximum({}, {}), {})", x, low, high));
  }
  return float_result(in, fmt::format("minnum(maxnum({}, {}), {})", x, low, high));
}

std::string add_pointer(const Operands& in) {
  return fmt::format("{} + {}", in[0], in.as_signed(1));
}

std::string fused_multiply_add(const Operands& in) {
  return float_result(in, fmt::format("__builtin_fma{}({}, {}, {})", in.suffix(), in.widened(0),
                                      in.widened(1), in.widened(2)));
}

std::string negate_float(const Operands& in) {
  return float_result(in, fmt::format("-({})", in.widened(0)));
}

std::string absolute_integer(const Operands& in) {
  return fmt::format("{0} < 0 ? -({0}) : {0}", in[0]);
}

/// Counting and reversing bits work on 32 or 64 bits; narrower values are widened with zeros.
std::string wide_unsigned(const Operands& in) {
  const std::string value = in.as_unsigned(0);
  return in.type(0).bit_width() <= 32 ? fmt::format("uint32_t({})", value) : value;
}

std::string leading_zeros(const Operands& in) {
  const int width = in.type(0).bit_width();
  const std::string count = fmt::format("count_leading_zeros({})", wide_unsigned(in));
  return width < 32 ? fmt::format("{} - {}", count, 32 - width) : count;
}

std::string trailing_zeros(const Operands& in) {
  const int width = in.type(0).bit_width();
  return fmt::format("{} == 0 ? {} : __builtin_ctzll(uint64_t({}))", in[0], width,
                     in.as_unsigned(0));
}

std::string population_count(const Operands& in) {
  return fmt::format("__builtin_popcountll(uint64_t({}))", in.as_unsigned(0));
}

std::string shift(const Operands& in, const char* function, bool is_unsigned) {
  if (in.type(0).is_integer(1)) {
    return fmt::format("{} & !{}", in[0], in[1]);
  }
  return fmt::format("{}({}, {})", function, is_unsigned ? in.as_unsigned(0) : in[0],
                     in.as_unsigned(1));
}

const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> kRules = {
      {"arith.addi", integer_infix("+", "^")},
      {"arith.subi", integer_infix("-", "^")},
      {"arith.muli", integer_infix("*", "&")},
      {"arith.andi", infix("&")},
      {"arith.ori", infix("|")},
      {"arith.xori", infix("^")},
      {"arith.divsi", signed_call("divide")},
      {"arith.divui", unsigned_call("divide")},
      {"arith.remsi", signed_call("remainder")},
      {"arith.remui", unsigned_call("remainder")},
      {"arith.ceildivsi", signed_call("divide_ceil")},
      {"arith.ceildivui", unsigned_call("divide_ceil")},
      {"arith.floordivsi", signed_call("divide_floor")},
      {"arith.maxsi", signed_call("larger")},
      {"arith.minsi", signed_call("smaller")},
      {"arith.maxui", unsigned_call("larger")},
      {"arith.minui", unsigned_call("smaller")},
      {"arith.shli", [](const Operands& in) { return shift(in, "shift_left", false); }},
      {"arith.shrsi",
       [](const Operands& in) {
         return in.type(0).is_integer(1) ? in[0] : shift(in, "shift_right", false);
       }},
      {"arith.shrui", [](const Operands& in) { return shift(in, "shift_right", true); }},
      {"arith.addf", float_infix("+")},
      {"arith.subf", float_infix("-")},
      {"arith.mulf", float_infix("*")},
      {"arith.divf", float_infix("/")},
      {"tt.precise_divf", float_infix("/")},
      {"arith.remf", math_call("__builtin_fmod")},
      {"arith.maximumf", float_call("maximum")},
      {"arith.minimumf", float_call("minimum")},
      {"arith.maxnumf", float_call("maxnum")},
      {"arith.minnumf", float_call("minnum")},
      {"arith.negf", negate_float},
      {"arith.cmpi", compare_integers},
      {"arith.cmpf", compare_floats},
      {"arith.select",
       [](const Operands& in) { return fmt::format("{} ? {} : {}", in[0], in[1], in[2]); }},
      {"arith.extsi", [](const Operands& in) { return in.as_signed(0); }},
      {"arith.extui", [](const Operands& in) { return in.as_unsigned(0); }},
      {"arith.trunci",
       [](const Operands& in) {
         const Type to = in.op.result().type.element();
         return to.is_integer(1) ? fmt::format("({} & 1) != 0", in[0])
                                 : fmt::format("{}({})", c_type(to), in[0]);
       }},
      {"arith.index_cast", [](const Operands& in) { return in.as_signed(0); }},
      {"arith.index_castui", [](const Operands& in) { return in.as_unsigned(0); }},
      {"arith.extf", convert_float},
      {"arith.truncf", convert_float},
      {"tt.fp_to_fp", convert_float},
      {"arith.sitofp", [](const Operands& in) { return integer_to_float(in, in.as_signed(0)); }},
      {"arith.uitofp", [](const Operands& in) { return integer_to_float(in, in.as_unsigned(0)); }},
      {"arith.fptosi", [](const Operands& in) { return float_to_integer(in, false); }},
      {"arith.fptoui", [](const Operands& in) { return float_to_integer(in, true); }},
      {"arith.bitcast", bitcast},
      {"tt.bitcast", bitcast},
      {"tt.addptr", add_pointer},
      {"tt.int_to_ptr",
       [](const Operands& in) {
         return fmt::format("reinterpret_cast<{}>({})", c_type(in.op.result().type.element()),
                            in[0]);
       }},
      {"tt.ptr_to_int",
       [](const Operands& in) { return fmt::format("reinterpret_cast<int64_t>({})", in[0]); }},
      {"tt.clampf", clamp},
      {"tt.mulhiui",
       [](const Operands& in) {
         return fmt::format("multiply_high({}, {})", in.as_unsigned(0), in.as_unsigned(1));
       }},
      {"math.absf", math_call("__builtin_fabs")},
      {"math.absi", absolute_integer},
      {"math.ceil", math_call("__builtin_ceil")},
      {"math.floor", math_call("__builtin_floor")},
      {"math.trunc", math_call("__builtin_trunc")},
      {"math.round", math_call("__builtin_round")},
      {"math.roundeven", math_call("__builtin_rint")},
      {"math.sqrt", math_call("__builtin_sqrt")},
      {"tt.precise_sqrt", math_call("__builtin_sqrt")},
      {"math.rsqrt",
       [](const Operands& in) {
         return float_result(in,
                             fmt::format("1 / __builtin_sqrt{}({})", in.suffix(), in.widened(0)));
       }},
      {"math.fma", fused_multiply_add},
      {"math.copysign", math_call("__builtin_copysign")},
      {"math.fpowi",
       [](const Operands& in) {
         return float_result(
             in, fmt::format("__builtin_powi{}({}, int({}))", in.suffix(), in.widened(0), in[1]));
       }},
      {"math.isnan", [](const Operands& in) { return fmt::format("{0} != {0}", in.widened(0)); }},
      {"math.isinf",
       [](const Operands& in) { return fmt::format("__builtin_isinf({}) != 0", in.widened(0)); }},
      {"math.isfinite",
       [](const Operands& in) {
         return fmt::format("__builtin_isfinite({}) != 0", in.widened(0));
       }},
      {"math.ctlz", leading_zeros},
      {"math.cttz", trailing_zeros},
      {"math.ctpop", population_count},
  };
  return kRules;
}

/// MLIR's names of functions that the run-time library has under the same name, or kernel.h inline.
const std::unordered_set<std::string_view>& library_functions() {
  static const std::unordered_set<std::string_view> kNames = {
      "exp",   "exp2",  "expm1", "log",  "log2", "log10", "log1p", "sin",
      "cos",   "tan",   "asin",  "acos", "atan", "sinh",  "cosh",  "tanh",
      "asinh", "acosh", "atanh", "cbrt", "erf",  "erfc",  "atan2"};
  return kNames;
}

/// Those of them that runtime/float_functions.h defines.
const std::unordered_set<std::string_view>& inline_functions() {
  static const std::unordered_set<std::string_view> kNames = {"exp", "exp2", "erf"};
  return kNames;
}

std::string_view library_function(const Operation& op) {
  const std::string_view name = op.name;
  if (!name.starts_with("math.")) return {};
  const std::string_view function = name.substr(5);
  if (function == "powf") return "pow";
  return library_functions().contains(function) ? function : std::string_view{};
}

std::string wide_product(const Operands& in, int result, bool is_signed) {
  const int width = in.type(0).bit_width();
  if (result == 0) return fmt::format("{} * {}", in[0], in[1]);
  if (width == 64) {
    const char* wide = is_signed ? "__int128" : "unsigned __int128";
    const auto value = [&](std::size_t i) { return is_signed ? in[i] : in.as_unsigned(i); };
    return fmt::format("int64_t(({}({}) * {}) >> 64)", wide, value(0), value(1));
  }
  const auto value = [&](std::size_t i) { return is_signed ? in[i] : in.as_unsigned(i); };
  return fmt::format("{}((int64_t({}) * int64_t({})) >> {})", c_type(in.type(0)), value(0),
                     value(1), width);
}

}  // namespace

bool is_elementwise(const Operation& op) {
  if (rules().contains(op.name) || !library_function(op).empty()) return true;
  return op.is("tt.extern_elementwise") || op.is("arith.mulsi_extended") ||
         op.is("arith.mului_extended") || op.is("arith.addui_extended");
}

int element_cost(const Operation& op) {
  if (op.is("tt.extern_elementwise") || !library_function(op).empty()) return 15;
  const std::string_view name = op.name;
  if (name.find("div") != name.npos || name.find("rem") != name.npos ||
      name.find("sqrt") != name.npos) {
    return 4;
  }
  return 1;
}

Result<std::string> elementwise_expression(const Operation& op, int result,
                                           std::span<const std::string> operands) {
  const Operands in{op, operands};
  if (op.is("tt.extern_elementwise")) {
    auto expression = libdevice_expression(op.keyword("symbol"), operands);
    if (!expression) return unsupported(op, expression.error().message);
    return expression;
  }
  if (op.is("arith.mulsi_extended")) return wide_product(in, result, true);
  if (op.is("arith.mului_extended")) return wide_product(in, result, false);
  if (op.is("arith.addui_extended")) {
    std::string sum = fmt::format("{} + {}", in[0], in[1]);
    if (result == 0) return sum;
    return fmt::format("{} < {}", as_unsigned(in.type(0), sum), in.as_unsigned(0));
  }
  if (const auto function = library_function(op); !function.empty()) {
    if (inline_functions().contains(function)) {
      return float_call(fmt::format("inline_{}", function).c_str())(in);
    }
    return math_call(fmt::format("ksplit_{}", function).c_str())(in);
  }
  const auto rule = rules().find(op.name);
  if (rule == rules().end()) return unsupported(op);
  return rule->second(in);
}

}  // namespace ksplit::cpu
