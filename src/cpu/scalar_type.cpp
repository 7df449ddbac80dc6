// SPDX-License-Identifier: Apache-2.0
#include "cpu/scalar_type.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/check.h"

namespace ksplit::cpu {

using ttir::FloatFormat;
using ttir::Type;

std::string c_type(const Type& type) {
  switch (type.kind()) {
    case Type::Kind::integer:
      return type.bit_width() == 1 ? "bool" : fmt::format("int{}_t", type.bit_width());
    case Type::Kind::index: return "int64_t";
    case Type::Kind::pointer: return c_type(type.pointee()) + "*";
    case Type::Kind::floating:
      if (type.format() == FloatFormat::f32) return "float";
      if (type.format() == FloatFormat::f64) return "double";
      return std::string(ttir::layout_of(type.format()).name);
    default: KSPLIT_CHECK(false, "no C++ type for " + type.str());
  }
  std::abort();
}

std::int64_t size_of(const Type& type) {
  return type.is_integer(1) ? 1 : type.bit_width() / 8;
}

bool is_native(const Type& type) {
  return !type.is_float() || type.format() == FloatFormat::f32 || type.format() == FloatFormat::f64;
}

std::string widen(const Type& from, const std::string& expression) {
  if (!from.is_float() || from.bit_width() >= 32) return expression;
  return fmt::format("{}_to_f32({})", c_type(from), expression);
}

std::string narrow(const Type& to, const std::string& expression, bool from_double) {
  if (to.format() == FloatFormat::f64) return expression;
  if (to.format() == FloatFormat::f32) {
    return from_double ? fmt::format("float({})", expression) : expression;
  }
  if (!from_double) return fmt::format("f32_to_{}({})", c_type(to), expression);
  return fmt::format("f32_to_{}(f64_to_f32_odd({}))", c_type(to), expression);
}

std::string as_unsigned(const Type& type, const std::string& expression) {
  if (type.is_integer(1)) return expression;
  return fmt::format("uint{}_t({})", type.bit_width(), expression);
}

std::string as_signed(const Type& type, const std::string& expression) {
  return type.is_integer(1) ? fmt::format("-int32_t({})", expression) : expression;
}

namespace {

std::string integer_literal(int width, std::int64_t value) {
  if (width == 1) return value != 0 ? "true" : "false";
  if (width < 32) return fmt::format("int{}_t({})", width, value);
  if (width == 32) {
    return value == std::numeric_limits<std::int32_t>::min() ? "(-2147483647 - 1)"
                                                             : fmt::format("{}", value);
  }
  if (value == std::numeric_limits<std::int64_t>::min()) {
    return "(-INT64_C(9223372036854775807) - 1)";
  }
  return fmt::format("INT64_C({})", value);
}

std::string decimal(double value, bool single) {
  // The shortest text that reads back as the same number.
  std::string text =
      single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return single ? text + "f" : text;
}

}  // namespace

std::string literal(const Type& type, std::uint64_t bits) {
  if (type.is_pointer()) return fmt::format("({})(INT64_C({}))", c_type(type), bits);
  if (!type.is_float()) {
    return integer_literal(type.bit_width(), static_cast<std::int64_t>(bits));
  }
  const double value = ttir::decode_float(type.format(), bits);
  const bool single = type.format() == FloatFormat::f32;
  if (single || type.format() == FloatFormat::f64) {
    if (std::isnan(value)) {
      return single ? fmt::format("bit_cast<float>({:#x}u)", bits)
                    : fmt::format("bit_cast<double>(UINT64_C({:#x}))", bits);
    }
    const std::string infinity = single ? "__builtin_inff()" : "__builtin_inf()";
    if (std::isinf(value)) return value < 0 ? "-" + infinity : infinity;
    return decimal(value, single);
  }
  return fmt::format("{}({:#x})", c_type(type), bits);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace ksplit::cpu
