// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "ttir/syntax.h"

// The half of SyntaxReader that reads attributes.
namespace ksplit::ttir {
namespace {

bool is_hex(std::string_view text) {
  return text.starts_with("0x");
}
bool is_decimal_float(std::string_view text) {
  return text.find('.') != std::string_view::npos;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  const bool hex = is_hex(text);
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The bits of an integer of this width, sign-extended (i1: 0 or 1), if it fits as signed or
// unsigned.
std::optional<std::uint64_t> fit(std::uint64_t magnitude, bool negative, int width) {
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t half = std::uint64_t{1} << (width - 1);
  if (negative ? magnitude > half : magnitude > mask) return std::nullopt;
  const std::uint64_t bits = (negative ? ~magnitude + 1 : magnitude) & mask;
  if (width == 1) return bits;
  return (bits & half) != 0 ? bits | ~mask : bits;
}

int storage_bytes(const Type& element) {
  return (element.bit_width() + 7) / 8;
}

std::uint64_t sign_extended(std::uint64_t bits, const Type& element) {
  const int width = element.bit_width();
  if (element.is_float() || width == 64 || width == 1) return bits;
  const std::uint64_t half = std::uint64_t{1} << (width - 1);
  return (bits ^ half) - half;
}

}  // namespace

Result<Attribute> SyntaxReader::read_attribute() {
  const Nesting nesting(depth_);
  KSPLIT_TRY_STATUS(check_nesting());
  using Kind = Token::Kind;
  if (ahead_.is(Kind::string)) return Attribute{StringAttr{unescape(take().text)}};
  if (ahead_.is(Kind::hash)) return read_hash_attribute();
  if (ahead_.is(Kind::symbol)) return Attribute{SymbolRef{unescape(take().text)}};
  if (ahead_.is("{")) {
    KSPLIT_TRY(Dictionary entries, read_dictionary());
    return Attribute{std::move(entries)};
  }
  if (take_if("[")) {
    ArrayAttr array;
    while (!ahead_.is("]")) {
      KSPLIT_TRY(Attribute item, read_attribute());
      array.items.push_back(std::move(item));
      if (!take_if(",")) break;
    }
    KSPLIT_TRY_STATUS(expect("]"));
    return Attribute{std::move(array)};
  }
  if (ahead_.is(Kind::number) || ahead_.is("-")) return read_number_attribute();
  if (take_if("true")) return Attribute{true};
  if (take_if("false")) return Attribute{false};
  if (take_if("unit")) return Attribute{UnitAttr{}};
  if (take_if("dense")) return read_dense();
  if (take_if("array")) return read_dense_array();
  KSPLIT_TRY(Type type, read_type());
  return Attribute{std::move(type)};
}

Result<Dictionary> SyntaxReader::read_dictionary() {
  KSPLIT_TRY_STATUS(expect("{"));
  Dictionary entries;
  while (!ahead_.is("}")) {
    const std::size_t begin = ahead_.begin;
    if (!ahead_.is(Token::Kind::word) && !ahead_.is(Token::Kind::string)) {
      return unexpected("an attribute's name");
    }
    const std::string name = unescape(take().text);
    Attribute value{UnitAttr{}};
    if (take_if("=")) {
      KSPLIT_TRY(value, read_attribute());
    }
    if (entries.find(name) != nullptr) {
      return malformed(fmt::format("attribute '{}' is given twice", name), begin);
    }
    entries.set(name, std::move(value));
    if (!take_if(",")) break;
  }
  KSPLIT_TRY_STATUS(expect("}"));
  return entries;
}

// Flag lists have one meaning in both syntaxes; other dialect attributes are kept as text.
Result<Attribute> SyntaxReader::read_hash_attribute() {
  const Token name = take();
  if (is_alias(name.text)) {
    return unsupported(fmt::format("attribute alias '#{}' is not covered", name.text), name.begin);
  }
  std::string body;
  if (ahead_.is("<") && ahead_.begin == name.end) {
    KSPLIT_TRY(body, read_balanced());
  }
  if (name.text == "arith.fastmath" || name.text == "arith.overflow") {
    if (body.size() < 3) return malformed("expected flags between '<' and '>'", name.end);
    return Attribute{Keyword{canonical_flags(body.substr(1, body.size() - 2))}};
  }
  return Attribute{OpaqueAttr{fmt::format("#{}{}", name.text, body)}};
}

std::string canonical_flags(std::string_view text) {
  std::string flags;
  for (const char c : text) {
    if (c == ',') {
      flags += ", ";
    } else if (c != ' ') {
      flags += c;
    }
  }
  return flags;
}

Result<SyntaxReader::NumberText> SyntaxReader::read_number() {
  NumberText number;
  number.negative = take_if("-");
  if (!number.negative && (ahead_.is("true") || ahead_.is("false"))) {
    number.token = take();
    return number;
  }
  KSPLIT_TRY(number.token, expect(Token::Kind::number, "a number"));
  return number;
}

Result<Attribute> SyntaxReader::read_number_attribute() {
  KSPLIT_TRY(const NumberText number, read_number());
  Type type =
      is_decimal_float(number.token.text) ? Type::floating(FloatFormat::f64) : Type::integer(64);
  if (take_if(":")) {
    KSPLIT_TRY(type, read_type());
  }
  KSPLIT_TRY(const std::uint64_t bits, bits_of(number, type));
  if (type.is_float()) return Attribute{FloatAttr{bits, type}};
  if (type.is_integer(1)) return Attribute{bits != 0};
  return Attribute{IntegerAttr{static_cast<std::int64_t>(bits), type}};
}

Result<std::uint64_t> SyntaxReader::bits_of(const NumberText& number, const Type& type) const {
  const std::string_view digits = number.token.text;
  const std::size_t at = number.token.begin;
  if (digits == "true" || digits == "false") {
    if (!type.is_integer(1)) return malformed("true and false are of type i1", at);
    return digits == "true" ? 1 : 0;
  }
  if (type.is_integer() || type.is_index()) {
    const auto magnitude = parse_unsigned(digits);
    if (!magnitude && is_decimal_float(digits)) {
      return malformed(fmt::format("{} is no integer", digits), at);
    }
    const auto bits = magnitude ? fit(*magnitude, number.negative, type.bit_width()) : std::nullopt;
    if (!bits) return malformed(fmt::format("{} doesn't fit in {}", digits, type.str()), at);
    return *bits;
  }
  if (!type.is_float()) {
    return malformed(fmt::format("a number can't have type {}", type.str()), at);
  }
  if (is_hex(digits)) {
    const auto bits = parse_unsigned(digits);
    const int width = type.bit_width();
    if (!bits || number.negative || (width < 64 && *bits >> width != 0)) {
      return malformed(fmt::format("{} doesn't fit in {}", digits, type.str()), at);
    }
    return *bits;
  }
  if (!is_decimal_float(digits)) {
    return malformed(fmt::format("expected a decimal point in a number of type {}", type.str()),
                     at);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc()) return malformed(fmt::format("{} is out of range", digits), at);
  return encode_float(type.format(), number.negative ? -value : value);
}

Result<Attribute> SyntaxReader::read_dense() {
  KSPLIT_TRY_STATUS(expect("<"));
  const std::size_t begin = ahead_.begin;
  std::vector<NumberText> literals;
  std::optional<Token> hex;
  if (ahead_.is(Token::Kind::string)) {
    hex = take();
  } else if (!ahead_.is(">")) {
    KSPLIT_TRY_STATUS(read_dense_literals(literals));
  }
  KSPLIT_TRY_STATUS(expect(">"));
  KSPLIT_TRY_STATUS(expect(":"));
  DenseElements dense;
  KSPLIT_TRY(dense.type, read_type());
  const Type element = dense.type.element();
  if (!dense.type.is_tensor() ||
      !(element.is_float() || element.is_integer() || element.is_index())) {
    return malformed("a dense constant must be a tensor of numbers", begin);
  }
  if (hex) {
    KSPLIT_TRY(dense.bits, unpack_hex(*hex, dense.type));
  } else {
    for (const NumberText& literal : literals) {
      KSPLIT_TRY(const std::uint64_t bits, bits_of(literal, element));
      dense.bits.push_back(bits);
    }
  }
  const auto count = static_cast<std::size_t>(dense.type.element_count());
  if (dense.bits.size() != count && (dense.bits.size() != 1 || count == 0)) {
    return malformed(fmt::format("{} elements for {}", dense.bits.size(), dense.type.str()), begin);
  }
  return Attribute{std::move(dense)};
}

Status SyntaxReader::read_dense_literals(std::vector<NumberText>& literals) {
  const Nesting nesting(depth_);
  KSPLIT_TRY_STATUS(check_nesting());
  if (!take_if("[")) {
    KSPLIT_TRY(const NumberText number, read_number());
    literals.push_back(number);
    return {};
  }
  while (!ahead_.is("]")) {
    KSPLIT_TRY_STATUS(read_dense_literals(literals));
    if (!take_if(",")) break;
  }
  return expect("]");
}

// Little-endian elements of whole bytes; i1 is a byte each or packed eight to a byte.
Result<std::vector<std::uint64_t>> SyntaxReader::unpack_hex(const Token& token,
                                                            const Type& type) const {
  const std::string bytes_text(token.text.substr(token.text.starts_with("0x") ? 2 : 0));
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < bytes_text.size(); i += 2) {
    std::uint8_t byte = 0;
    const auto [end, error] = std::from_chars(&bytes_text[i], bytes_text.data() + i + 2, byte, 16);
    if (error != std::errc() || end != bytes_text.data() + i + 2) {
      return malformed("expected hexadecimal digits", token.begin);
    }
    bytes.push_back(byte);
  }
  const Type element = type.element();
  const auto count = static_cast<std::size_t>(type.element_count());
  const auto size = static_cast<std::size_t>(storage_bytes(element));
  std::vector<std::uint64_t> bits;
  if (element.bit_width() == 1 && bytes.size() != count && bytes.size() == (count + 7) / 8) {
    for (std::size_t i = 0; i < count; ++i) bits.push_back(bytes[i / 8] >> (i % 8) & 1);
    return bits;
  }
  if (bytes_text.size() % 2 != 0 || (bytes.size() != count * size && bytes.size() != size)) {
    return malformed(fmt::format("{} bytes for {}", bytes.size(), type.str()), token.begin);
  }
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    std::uint64_t value = 0;
    for (std::size_t b = size; b-- > 0;) value = value << 8 | bytes[i + b];
    bits.push_back(sign_extended(value, element));
  }
  return bits;
}

Result<Attribute> SyntaxReader::read_dense_array() {
  KSPLIT_TRY_STATUS(expect("<"));
  DenseArray array;
  const std::size_t begin = ahead_.begin;
  KSPLIT_TRY(array.element, read_type());
  if (!array.element.is_float() && !array.element.is_integer()) {
    return malformed("an array's elements must be numbers", begin);
  }
  if (take_if(":")) {
    do {
      KSPLIT_TRY(const NumberText number, read_number());
      KSPLIT_TRY(const std::uint64_t bits, bits_of(number, array.element));
      array.values.push_back(static_cast<std::int64_t>(bits));
    } while (take_if(","));
  }
  KSPLIT_TRY_STATUS(expect(">"));
  return Attribute{std::move(array)};
}

}  // namespace ksplit::ttir
