// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ksplit::ttir {

struct Token {
  enum class Kind {
    end,
    word,         // tt.load, dense, i32
    value,        // %x, %54#1: text without the sign
    block,        // ^bb1
    symbol,       // @name, @"name"
    hash,         // #loc1, #arith.overflow
    exclamation,  // !tt.ptr
    string,       // "..."
    number,       // 12, 0x1F, 1.5e-3 (no sign)
    punctuation,  // one of ( ) { } [ ] < > , : = * ? / + - ; or ->
    bad,          // a byte that starts no token, or a string without end
  };
  Kind kind = Kind::end;
  std::string_view text;  // as written, without the leading sign; a string without its quotes
  std::size_t begin = 0;  // offset in the text
  std::size_t end = 0;

  bool is(std::string_view punctuation_or_word) const {
    return (kind == Kind::punctuation || kind == Kind::word) && text == punctuation_or_word;
  }
  bool is(Kind wanted) const { return kind == wanted; }
};

/// Reads tokens one at a time from text that outlives it; `//` comments and spaces are skipped.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();
  std::size_t position() const { return position_; }
  void seek(std::size_t position) { position_ = position; }
  std::string_view text() const { return text_; }

 private:
  void skip_blank();
  Token token(Token::Kind kind, std::size_t begin, std::size_t sign);
  Token lex_string(std::size_t begin, Token::Kind kind);
  Token lex_number(std::size_t begin);

  std::string_view text_;
  std::size_t position_ = 0;
};

/// A string token's contents with `\n`, `\"`, `\\` and two-digit hexadecimal escapes resolved.
std::string unescape(std::string_view text);

}  // namespace ksplit::ttir
