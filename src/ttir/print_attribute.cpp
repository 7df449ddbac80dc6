// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ttir/print_words.h"
#include "ttir/printer.h"

namespace ksplit::ttir {
namespace {

// Lists of more elements than this are written as the bytes they have in memory (i1: packed).
constexpr std::size_t kMaxListed = 100;

double parse_double(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// digits * 10^exponent, with no zero at the end of the digits.
struct Decimal {
  std::string digits;
  int exponent;
};

// At most `precision` digits of a finite number, by the steps of Triton's printer, so that the two
// agree on which numbers a short spelling is exact for: a number is an integer times a power of
// ten; digits that the precision's bits don't need are cut off, and what is still too long is
// rounded half up.
Decimal decimal_of(double value, int precision) {
  if (value == 0) return {"0", 0};
  int binary_exponent = 0;
  double mantissa = std::frexp(std::fabs(value), &binary_exponent);
  int fraction_bits = 0;  // of the mantissa, until it is odd
  while (mantissa != std::floor(mantissa)) {
    mantissa *= 2;
    ++fraction_bits;
  }
  const int decimals = std::max(fraction_bits - binary_exponent, 0);

  // The exact digits of value * 10^decimals.
  const std::string scale = fmt::format("{:.0e}", std::fabs(value));
  int magnitude = 0;  // of the leading digit, maybe one too large where rounding carried
  const auto parse_exponent = [](const std::string& text) {
    const std::size_t sign = text.find('e') + 1;
    const std::size_t first = text[sign] == '+' ? sign + 1 : sign;
    int exponent = 0;
    std::from_chars(text.data() + first, text.data() + text.size(), exponent);
    return exponent;
  };
  magnitude = parse_exponent(scale);
  std::string digits = fmt::format("{:.{}e}", std::fabs(value), magnitude + decimals);
  magnitude = parse_exponent(digits);
  digits.resize(digits.find('e'));
  std::erase(digits, '.');
  digits.resize(static_cast<std::size_t>(magnitude + decimals) + 1, '0');
  int exponent = -decimals;

  const auto cut = [&](std::size_t count) {
    digits.resize(digits.size() - count);
    exponent += static_cast<int>(count);
  };
  const double log2_five = 2.321928094887362347870319429489;
  const int bits = static_cast<int>(std::floor(std::log2(mantissa) + log2_five * decimals)) + 1 +
                   std::max(binary_exponent - fraction_bits, 0);
  const int needed = (precision * 196 + 58) / 59;
  if (bits > needed) cut(static_cast<std::size_t>((bits - needed) * 59 / 196));
  if (digits.size() > static_cast<std::size_t>(precision)) {
    const char next = digits[static_cast<std::size_t>(precision)];
    cut(digits.size() - static_cast<std::size_t>(precision));
    if (next >= '5') {
      while (!digits.empty() && digits.back() == '9') cut(1);
      if (digits.empty()) digits = "0";
      ++digits.back();
    }
  }
  while (digits.size() > 1 && digits.back() == '0') cut(1);
  return {digits, exponent};
}

// `1.500000e+00`.
std::string padded_scientific(double value) {
  constexpr int kDigits = 6;
  auto [digits, exponent] = decimal_of(value, kDigits);
  exponent += static_cast<int>(digits.size()) - 1;
  digits.resize(kDigits + 1, '0');
  return fmt::format("{}{}.{}e{}{:02}", std::signbit(value) ? "-" : "", digits[0], digits.substr(1),
                     exponent < 0 ? '-' : '+', std::abs(exponent));
}

// `0.00123`, `123456.789`, or `1.2345E-5` where zeros would fill more than three places. A whole
// number comes out without a point.
std::string compact_decimal(double value, int precision) {
  constexpr int kMaxPadding = 3;
  auto [digits, exponent] = decimal_of(value, precision);
  const std::string sign = std::signbit(value) ? "-" : "";
  const int count = static_cast<int>(digits.size());
  const int leading = exponent + count - 1;
  const bool scientific = exponent >= 0 ? exponent > kMaxPadding || count + exponent > precision
                                        : leading < 0 && -leading > kMaxPadding;
  if (scientific) {
    if (count == 1) digits += '0';
    return fmt::format("{}{}.{}E{:+}", sign, digits[0], digits.substr(1), leading);
  }
  if (exponent >= 0) return sign + digits + std::string(static_cast<std::size_t>(exponent), '0');
  if (leading >= 0) return sign + digits.insert(static_cast<std::size_t>(leading) + 1, ".");
  return sign + "0." + std::string(static_cast<std::size_t>(-leading - 1), '0') + digits;
}

std::string print_element(std::uint64_t bits, const Type& element) {
  if (element.is_float()) return print_float(bits, element.format());
  if (element.is_integer(1)) return bits != 0 ? "true" : "false";
  if (element.sign() == Type::Sign::is_unsigned) {
    const int width = element.bit_width();
    return fmt::format("{}", width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1));
  }
  return fmt::format("{}", static_cast<std::int64_t>(bits));
}

std::string print_bytes(const DenseElements& dense) {
  const Type element = dense.type.element();
  std::string text = "\"0x";
  if (element.bit_width() == 1) {
    for (std::size_t first = 0; first < dense.bits.size(); first += 8) {
      unsigned byte = 0;
      for (std::size_t i = first; i < std::min(first + 8, dense.bits.size()); ++i) {
        byte |= static_cast<unsigned>(dense.bits[i]) << (i - first);
      }
      text += fmt::format("{:02X}", byte);
    }
    return text + "\"";
  }
  for (const std::uint64_t bits : dense.bits) {
    for (int b = 0; b < (element.bit_width() + 7) / 8; ++b) {
      text += fmt::format("{:02X}", bits >> (8 * b) & 0xFF);
    }
  }
  return text + "\"";
}

// The elements from `next` on, bracketed as the sizes from `dimension` on say.
std::string print_nested(const DenseElements& dense, std::size_t dimension, std::size_t& next) {
  const auto shape = dense.type.shape();
  if (dimension == shape.size()) return print_element(dense.bits[next++], dense.type.element());
  std::string text = "[";
  for (std::int64_t i = 0; i < shape[dimension]; ++i) {
    if (i > 0) text += ", ";
    text += print_nested(dense, dimension + 1, next);
  }
  return text + "]";
}

std::string print_dense(const DenseElements& dense) {
  std::string body;
  std::size_t next = 0;
  if (dense.is_splat()) {
    body = print_element(dense.bits[0], dense.type.element());
  } else if (dense.bits.size() > kMaxListed) {
    body = print_bytes(dense);
  } else if (!dense.bits.empty()) {
    body = print_nested(dense, 0, next);
  }
  return fmt::format("dense<{}> : {}", body, dense.type.str());
}

std::string print_array(const DenseArray& array) {
  std::string text = "array<" + array.element.str();
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    text += i == 0 ? ": " : ", ";
    text += print_element(static_cast<std::uint64_t>(array.values[i]), array.element);
  }
  return text + ">";
}

bool is_bare(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !letter(name[0])) return false;
  return std::ranges::all_of(
      name, [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '$' || c == '.'; });
}

struct Printer {
  std::string operator()(const UnitAttr&) const { return "unit"; }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(const IntegerAttr& a) const {
    const auto bits = static_cast<std::uint64_t>(a.value);
    return fmt::format("{} : {}", print_element(bits, a.type), a.type.str());
  }
  std::string operator()(const FloatAttr& a) const {
    return fmt::format("{} : {}", print_float(a.bits, a.type.format()), a.type.str());
  }
  std::string operator()(const StringAttr& a) const { return '"' + escape(a.value) + '"'; }
  std::string operator()(const Keyword& a) const { return a.value; }
  std::string operator()(const SymbolRef& a) const { return print_symbol(a.name); }
  std::string operator()(const Type& type) const { return type.str(); }
  std::string operator()(const DenseElements& a) const { return print_dense(a); }
  std::string operator()(const DenseArray& a) const { return print_array(a); }
  std::string operator()(const OpaqueAttr& a) const { return a.text; }
  std::string operator()(const ArrayAttr& a) const {
    std::string text = "[";
    for (const Attribute& item : a.items) text += (text.size() > 1 ? ", " : "") + print(item);
    return text + "]";
  }
  std::string operator()(const Dictionary& a) const { return print_dictionary(a, nullptr); }
};

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c >= ' ' && c <= '~' && c != '"') {
      out += c;
    } else {
      out += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

// Six digits if they are exact, else as many as the format holds, else the bits.
std::string print_float(std::uint64_t bits, FloatFormat format) {
  const FloatLayout& layout = layout_of(format);
  const double value = decode_float(format, bits);
  const auto exact = [&](const std::string& text) {
    return encode_float(format, parse_double(text)) == bits;
  };
  if (std::isfinite(value)) {
    std::string text = padded_scientific(value);
    if (exact(text)) return text;
    text = compact_decimal(value, 2 + (layout.mantissa_bits + 1) * 59 / 196);
    if (text.find('.') != text.npos && exact(text)) return text;
  }
  return fmt::format("0x{:0{}X}", bits, layout.bits / 4);
}

std::string print(const Attribute& attribute) {
  return std::visit(Printer{}, attribute.value);
}

std::string print_symbol(std::string_view name) {
  return is_bare(name) ? fmt::format("@{}", name) : fmt::format("@\"{}\"", escape(name));
}

std::string print_inherent(const Attribute& attribute, const AttributeSpec* spec) {
  const auto* word = attribute.as<Keyword>();
  if (word == nullptr || spec == nullptr) return print(attribute);
  if (spec->name == "fastmath") {
    std::string flags = word->value;
    std::erase(flags, ' ');
    return fmt::format("#arith.fastmath<{}>", flags);
  }
  if (spec->name == "overflowFlags") return fmt::format("#arith.overflow<{}>", word->value);
  if (spec->enumeration == nullptr) return word->value;
  const auto& cases = spec->enumeration->cases;
  const auto match = std::ranges::find(cases, std::string_view(word->value), &EnumCase::word);
  if (match == cases.end()) return word->value;
  return fmt::format("{} : i{}", match->value, spec->enumeration->width);
}

std::string print_dictionary(const Dictionary& dictionary, const OpInfo* info) {
  std::string text = "{";
  for (const NamedAttribute& entry : dictionary.entries) {
    if (text.size() > 1) text += ", ";
    text += is_bare(entry.name) ? entry.name : '"' + escape(entry.name) + '"';
    if (entry.value.as<UnitAttr>() != nullptr) continue;
    const AttributeSpec* spec = info != nullptr ? info->attribute(entry.name) : nullptr;
    text += " = " + print_inherent(entry.value, spec);
  }
  return text + "}";
}

}  // namespace ksplit::ttir
