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

// Digits and exponent as `%e` gives them, rearranged: plain notation for small exponents, else
// `1.2345E-5`. Whole numbers come out without a point, which the caller refuses.
std::string compact_decimal(double value, int digits) {
  std::string text = fmt::format("{:.{}e}", std::fabs(value), digits - 1);
  const auto e = text.find('e');
  int exponent = 0;
  const std::size_t exponent_at = text[e + 1] == '+' ? e + 2 : e + 1;
  std::from_chars(text.data() + exponent_at, text.data() + text.size(), exponent);
  std::string mantissa = text.substr(0, e);
  std::erase(mantissa, '.');
  while (mantissa.size() > 1 && mantissa.back() == '0') mantissa.pop_back();

  constexpr int kMaxPadding = 3;
  const std::string sign = std::signbit(value) ? "-" : "";
  const int count = static_cast<int>(mantissa.size());
  const int last = exponent - count + 1;  // the last digit's power of ten
  const bool scientific = last >= 0 ? last > kMaxPadding || count + last > digits
                                    : exponent < 0 && -exponent > kMaxPadding;
  if (scientific) {
    if (count == 1) mantissa += "0";
    return fmt::format("{}{}.{}E{:+}", sign, mantissa[0], mantissa.substr(1), exponent);
  }
  if (last >= 0) return sign + mantissa + std::string(static_cast<std::size_t>(last), '0');
  if (exponent >= 0) {
    return sign + mantissa.insert(static_cast<std::size_t>(exponent) + 1, ".");
  }
  return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + mantissa;
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
  if (std::isfinite(value)) {
    std::string text = fmt::format("{:.6e}", value);
    if (encode_float(format, parse_double(text)) == bits) return text;
    const int digits = 2 + (layout.mantissa_bits + 1) * 59 / 196;
    text = compact_decimal(value, digits);
    if (text.find('.') != text.npos && encode_float(format, parse_double(text)) == bits) {
      return text;
    }
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
