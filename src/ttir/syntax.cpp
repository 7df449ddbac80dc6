// SPDX-License-Identifier: Apache-2.0
#include "ttir/syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ttir/parser.h"

namespace ksplit::ttir {
namespace {

// Triton itself allows 2^20 elements; the bound only keeps products of sizes within 64 bits.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::end: return "the end of the text";
    case Token::Kind::string: return "a string";
    case Token::Kind::value: return fmt::format("'%{}'", token.text);
    case Token::Kind::block: return fmt::format("'^{}'", token.text);
    case Token::Kind::symbol: return fmt::format("'@{}'", token.text);
    case Token::Kind::hash: return fmt::format("'#{}'", token.text);
    case Token::Kind::exclamation: return fmt::format("'!{}'", token.text);
    case Token::Kind::bad:
      if (token.text.starts_with('"')) return "a string without an end";
      return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(token.text.front()));
    default: return fmt::format("'{}'", token.text);
  }
}

std::optional<int> width_after(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix)) return std::nullopt;
  word.remove_prefix(prefix.size());
  int width = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), width);
  if (error != std::errc() || end != word.data() + word.size() || width < 1) return std::nullopt;
  return width;
}

}  // namespace

SyntaxReader::SyntaxReader(std::string_view text, std::string_view name)
    : lexer_(text), name_(name) {
  find_aliases();
  ahead_ = lexer_.next();
}

// ---- Tokens and errors
// ---------------------------------------------------------------------------

Token SyntaxReader::take() {
  const Token taken = ahead_;
  taken_end_ = taken.end;
  ahead_ = lexer_.next();
  return taken;
}

Token SyntaxReader::peek_second() const {
  Lexer lexer = lexer_;
  return lexer.next();
}

bool SyntaxReader::take_if(std::string_view punctuation_or_word) {
  if (!ahead_.is(punctuation_or_word)) return false;
  take();
  return true;
}

Status SyntaxReader::expect(std::string_view punctuation_or_word) {
  if (take_if(punctuation_or_word)) return {};
  return unexpected(fmt::format("'{}'", punctuation_or_word));
}

Result<Token> SyntaxReader::expect(Token::Kind kind, std::string_view what) {
  if (!ahead_.is(kind)) return unexpected(what);
  return take();
}

void SyntaxReader::seek(std::size_t position) {
  lexer_.seek(position);
  ahead_ = lexer_.next();
}

tl::unexpected<Error> SyntaxReader::malformed(std::string message, std::size_t offset) const {
  const std::string_view before = text().substr(0, offset);
  const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const int column = static_cast<int>(offset - line_start) + 1;
  Error error{ErrorCode::input_malformed, std::move(message), SourceSpan{name_, line, column}};
  return fail(std::move(error));
}

tl::unexpected<Error> SyntaxReader::unexpected(std::string_view wanted) const {
  return malformed(fmt::format("expected {} but found {}", wanted, describe(ahead_)), ahead_.begin);
}

tl::unexpected<Error> SyntaxReader::unsupported(std::string message, std::size_t offset) const {
  auto error = malformed(std::move(message), offset);
  error.value().code = ErrorCode::unsupported;
  return error;
}

Status SyntaxReader::check_nesting() const {
  if (depth_ <= kMaxNesting) return {};
  return malformed(fmt::format("nested more than {} deep", kMaxNesting), ahead_.begin);
}

Result<std::string> SyntaxReader::read_balanced() {
  const std::size_t begin = ahead_.begin;
  int open = 0;
  do {
    if (ahead_.is(Token::Kind::end) || ahead_.is(Token::Kind::bad)) {
      return unexpected("a closing bracket");
    }
    if (ahead_.is("<") || ahead_.is("(") || ahead_.is("[") || ahead_.is("{")) ++open;
    if (ahead_.is(">") || ahead_.is(")") || ahead_.is("]") || ahead_.is("}")) --open;
    take();
  } while (open > 0);
  return std::string(text().substr(begin, taken_end_ - begin));
}

// ---- Types
// ---------------------------------------------------------------------------------------

Result<Type> SyntaxReader::read_type() {
  const Nesting nesting(depth_);
  KSPLIT_TRY_STATUS(check_nesting());
  const std::size_t begin = ahead_.begin;
  if (ahead_.is("(")) return read_function_type();
  if (ahead_.is(Token::Kind::exclamation)) {
    const Token dialect_type = take();
    const bool pointer = dialect_type.text == "tt.ptr";
    if (!pointer && dialect_type.text != "tt.tensordesc") {
      return unsupported(fmt::format("type '!{}' is not covered", dialect_type.text), begin);
    }
    return pointer ? read_pointer_body() : read_descriptor_body();
  }
  if (!ahead_.is(Token::Kind::word)) return unexpected("a type");

  const Token word = take();
  if (word.text == "tensor") return read_tensor();
  if (word.text == "index") return Type::index();
  if (word.text == "none") return Type();
  if (const auto format = float_format_named(word.text)) return Type::floating(*format);
  using Sign = Type::Sign;
  for (const auto& [prefix, sign] :
       {std::pair{"i", Sign::signless}, {"si", Sign::is_signed}, {"ui", Sign::is_unsigned}}) {
    const auto width = width_after(word.text, prefix);
    if (!width) continue;
    if (*width > 64) return unsupported(fmt::format("type '{}' is not covered", word.text), begin);
    return Type::integer(*width, sign);
  }
  if (word.text == "tuple") {
    KSPLIT_TRY_STATUS(expect("<"));
    KSPLIT_TRY(auto members, ahead_.is(">") ? std::vector<Type>() : read_type_list());
    KSPLIT_TRY_STATUS(expect(">"));
    return Type::tuple(std::move(members));
  }
  return unsupported(fmt::format("type '{}' is not covered", word.text), begin);
}

Result<Type> SyntaxReader::read_function_type() {
  const Nesting nesting(depth_);
  KSPLIT_TRY_STATUS(check_nesting());
  KSPLIT_TRY_STATUS(expect("("));
  std::vector<Type> inputs;
  if (!ahead_.is(")")) {
    KSPLIT_TRY(inputs, read_type_list());
  }
  KSPLIT_TRY_STATUS(expect(")"));
  KSPLIT_TRY_STATUS(expect("->"));
  KSPLIT_TRY(auto results, read_result_types());
  return Type::function(std::move(inputs), std::move(results));
}

Result<std::vector<Type>> SyntaxReader::read_result_types() {
  std::vector<Type> results;
  if (take_if("(")) {
    if (!ahead_.is(")")) {
      KSPLIT_TRY(results, read_type_list());
    }
    KSPLIT_TRY_STATUS(expect(")"));
  } else {
    KSPLIT_TRY(Type only, read_type());
    results.push_back(std::move(only));
  }
  return results;
}

Result<std::vector<Type>> SyntaxReader::read_type_list() {
  std::vector<Type> types;
  do {
    KSPLIT_TRY(Type type, read_type());
    types.push_back(std::move(type));
  } while (take_if(","));
  return types;
}

Result<Type> SyntaxReader::read_pointer_body() {
  KSPLIT_TRY_STATUS(expect("<"));
  KSPLIT_TRY(Type pointee, read_type());
  int address_space = 1;
  if (take_if(",")) {
    KSPLIT_TRY(const Token number, expect(Token::Kind::number, "an address space"));
    const auto [end, error] =
        std::from_chars(number.text.data(), number.text.data() + number.text.size(), address_space);
    if (error != std::errc()) return malformed("address space out of range", number.begin);
  }
  KSPLIT_TRY_STATUS(expect(">"));
  return Type::pointer(std::move(pointee), address_space);
}

Result<Type> SyntaxReader::read_descriptor_body() {
  KSPLIT_TRY_STATUS(expect("<"));
  const std::size_t begin = ahead_.begin;
  KSPLIT_TRY(Type block, read_type());
  if (!block.is_tensor()) return malformed("a descriptor's block must be a tensor", begin);
  KSPLIT_TRY_STATUS(expect(">"));
  return Type::descriptor(std::move(block));
}

Result<Type> SyntaxReader::read_tensor() {
  KSPLIT_TRY_STATUS(expect("<"));
  KSPLIT_TRY(auto shape, read_shape());
  const std::size_t begin = ahead_.begin;
  KSPLIT_TRY(Type element, read_type());
  if (element.is_tensor()) return malformed("a tensor's element can't be a tensor", begin);
  if (ahead_.is(",")) return unsupported("a tensor with a layout is not covered", ahead_.begin);
  KSPLIT_TRY_STATUS(expect(">"));
  return Type::tensor(std::move(shape), std::move(element));
}

// The lexer would read `64xf32` as a number and a word and `0x1` as hexadecimal, so sizes are read
// from the characters: digits that an x follows.
Result<std::vector<std::int64_t>> SyntaxReader::read_shape() {
  std::vector<std::int64_t> shape;
  std::int64_t count = 1;
  std::size_t position = ahead_.begin;
  for (;;) {
    const std::size_t begin = position;
    if (position < text().size() && (text()[position] == '?' || text()[position] == '*')) {
      return unsupported("a tensor of unknown size is not covered", position);
    }
    std::int64_t size = 0;
    const char* first = text().data() + position;
    const char* last = text().data() + text().size();
    const auto [end, error] = std::from_chars(first, last, size);
    if (end == first) break;
    if (error != std::errc() || size < 0 || (size > 0 && count > kMaxElements / size)) {
      return malformed("tensor size out of range", begin);
    }
    if (end == last || *end != 'x') return malformed("expected 'x' after a size", begin);
    shape.push_back(size);
    count *= size;
    position += static_cast<std::size_t>(end - first) + 1;
  }
  seek(position);
  return shape;
}

// ---- Locations
// -----------------------------------------------------------------------------------

// Aliases may stand before or after their uses; each is a line of its own that starts with '#'.
void SyntaxReader::find_aliases() {
  const std::string_view all = text();
  for (std::size_t line = 0; line < all.size();) {
    if (all[line] == '#') {
      Lexer lexer(all);
      lexer.seek(line);
      const Token name = lexer.next();
      const Token equals = lexer.next();
      if (name.is(Token::Kind::hash) && equals.is("=")) {
        aliases_.emplace(name.text, Alias{equals.end, false, std::nullopt});
      }
    }
    const std::size_t end = all.find('\n', line);
    line = end == all.npos ? all.size() : end + 1;
  }
}

Result<Location> SyntaxReader::read_alias(const Token& name) {
  const auto found = aliases_.find(name.text);
  if (found == aliases_.end()) {
    return malformed(fmt::format("'#{}' is not defined", name.text), name.begin);
  }
  Alias& alias = found->second;
  if (alias.location) return *alias.location;
  if (alias.in_progress) {
    return malformed(fmt::format("'#{}' is defined by itself", name.text), name.begin);
  }
  alias.in_progress = true;
  const std::size_t resume = ahead_.begin;
  const std::size_t resume_taken = taken_end_;
  seek(alias.position);
  KSPLIT_TRY(Location location, read_location());
  seek(resume);
  taken_end_ = resume_taken;
  alias.location = location;
  alias.in_progress = false;
  return location;
}

Result<Location> SyntaxReader::read_trailing_location() {
  if (!ahead_.is("loc")) return Location();
  return read_location();
}

Result<Location> SyntaxReader::read_location() {
  KSPLIT_TRY_STATUS(expect("loc"));
  KSPLIT_TRY_STATUS(expect("("));
  KSPLIT_TRY(Location location, read_location_body());
  KSPLIT_TRY_STATUS(expect(")"));
  return location;
}

Result<Location> SyntaxReader::read_location_body() {
  const Nesting nesting(location_depth_);
  const std::size_t begin = ahead_.begin;
  const auto too_deep = [&] {
    return malformed(fmt::format("a location more than {} deep", Location::kMaxDepth), begin);
  };
  const auto shallow = [&](Location location) -> Result<Location> {
    if (location.depth() > Location::kMaxDepth) return too_deep();
    return location;
  };
  if (location_depth_ > Location::kMaxDepth) return too_deep();
  if (ahead_.is(Token::Kind::hash)) return read_alias(take());
  if (ahead_.is(Token::Kind::string)) {
    const std::string name = unescape(take().text);
    if (take_if("(")) {
      KSPLIT_TRY(Location child, read_location_body());
      KSPLIT_TRY_STATUS(expect(")"));
      return shallow(Location::named(name, std::move(child)));
    }
    if (!take_if(":")) return Location::named(name, Location());
    KSPLIT_TRY(const int line, read_small_number("a line number"));
    KSPLIT_TRY_STATUS(expect(":"));
    KSPLIT_TRY(const int column, read_small_number("a column number"));
    return Location::file(name, line, column);
  }
  if (take_if("unknown")) return Location();
  if (take_if("callsite")) {
    KSPLIT_TRY_STATUS(expect("("));
    KSPLIT_TRY(Location callee, read_location_body());
    KSPLIT_TRY_STATUS(expect("at"));
    KSPLIT_TRY(Location caller, read_location_body());
    KSPLIT_TRY_STATUS(expect(")"));
    return shallow(Location::call_site(std::move(callee), std::move(caller)));
  }
  if (take_if("fused")) {
    std::string metadata;
    if (ahead_.is("<")) {
      KSPLIT_TRY(metadata, read_balanced());
      metadata = metadata.substr(1, metadata.size() - 2);
    }
    KSPLIT_TRY_STATUS(expect("["));
    std::vector<Location> parts;
    while (!ahead_.is("]")) {
      KSPLIT_TRY(Location part, read_location_body());
      parts.push_back(std::move(part));
      if (!take_if(",")) break;
    }
    KSPLIT_TRY_STATUS(expect("]"));
    return shallow(Location::fused(std::move(parts), std::move(metadata)));
  }
  return unexpected("a location");
}

Result<int> SyntaxReader::read_small_number(std::string_view what) {
  KSPLIT_TRY(const Token token, expect(Token::Kind::number, what));
  int number = 0;
  const char* first = token.text.data();
  const char* last = first + token.text.size();
  const auto [end, error] = std::from_chars(first, last, number);
  if (error != std::errc() || end != last) {
    return malformed(fmt::format("{} out of range", what), token.begin);
  }
  return number;
}

}  // namespace ksplit::ttir
