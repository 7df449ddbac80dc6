// SPDX-License-Identifier: Apache-2.0
#include "ttir/lexer.h"

namespace ksplit::ttir {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '$' || c == '.';
}
bool is_name(char c) {
  return is_word(c) || c == '-';
}  // %c-1_i32

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void Lexer::skip_blank() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    } else {
      return;
    }
  }
}

Token Lexer::token(Token::Kind kind, std::size_t begin, std::size_t sign) {
  return {kind, text_.substr(begin + sign, position_ - begin - sign), begin, position_};
}

Token Lexer::lex_string(std::size_t begin, Token::Kind kind) {
  const std::size_t content = ++position_;
  while (position_ < text_.size() && text_[position_] != '"' && text_[position_] != '\n') {
    position_ += text_[position_] == '\\' ? 2 : 1;
  }
  if (position_ >= text_.size() || text_[position_] != '"') {
    position_ = text_.size() < position_ ? text_.size() : position_;
    return token(Token::Kind::bad, begin, 0);
  }
  const std::string_view inside = text_.substr(content, position_ - content);
  ++position_;
  return {kind, inside, begin, position_};
}

Token Lexer::lex_number(std::size_t begin) {
  const auto at = [&](std::size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  if (text_.substr(position_, 2) == "0x" && hex_digit(at(position_ + 2)) >= 0) {
    position_ += 2;
    while (hex_digit(at(position_)) >= 0) ++position_;
    return token(Token::Kind::number, begin, 0);
  }
  while (is_digit(at(position_))) ++position_;
  if (at(position_) == '.') {
    ++position_;
    while (is_digit(at(position_))) ++position_;
    const std::size_t exponent = at(position_ + 1) == '-' || at(position_ + 1) == '+' ? 2 : 1;
    if ((at(position_) == 'e' || at(position_) == 'E') && is_digit(at(position_ + exponent))) {
      position_ += exponent;
      while (is_digit(at(position_))) ++position_;
    }
  }
  return token(Token::Kind::number, begin, 0);
}

Token Lexer::next() {
  skip_blank();
  const std::size_t begin = position_;
  if (begin >= text_.size()) return {Token::Kind::end, {}, text_.size(), text_.size()};
  const auto at = [&](std::size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  const auto take = [&](bool (*accepts)(char)) {
    while (position_ < text_.size() && accepts(text_[position_])) ++position_;
  };
  const char c = text_[begin];

  if (c == '"') return lex_string(begin, Token::Kind::string);
  if (is_digit(c)) return lex_number(begin);
  if (is_letter(c)) {
    take(is_word);
    return token(Token::Kind::word, begin, 0);
  }
  if (c == '@' && at(begin + 1) == '"') {
    ++position_;
    return lex_string(begin, Token::Kind::symbol);
  }
  if ((c == '%' || c == '^' || c == '#' || c == '!' || c == '@') && is_name(at(begin + 1))) {
    ++position_;
    take(is_name);
    if (c == '%' && at(position_) == '#' && is_digit(at(position_ + 1))) {
      ++position_;
      take(is_digit);
    }
    const auto kind = c == '%'   ? Token::Kind::value
                      : c == '^' ? Token::Kind::block
                      : c == '#' ? Token::Kind::hash
                      : c == '!' ? Token::Kind::exclamation
                                 : Token::Kind::symbol;
    return token(kind, begin, 1);
  }
  position_ = begin + (text_.substr(begin, 2) == "->" ? 2 : 1);
  constexpr std::string_view kPunctuation = "(){}[]<>,:=*?/+-;";
  const bool known = kPunctuation.find(c) != std::string_view::npos;
  return token(known ? Token::Kind::punctuation : Token::Kind::bad, begin, 0);
}

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    const int high = hex_digit(next);
    const int low = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    if (next == 'n') {
      out += '\n';
    } else if (next == 't') {
      out += '\t';
    } else if (next == '"' || next == '\\') {
      out += next;
    } else if (high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      ++i;
    } else {
      out += '\\';
      out += next;
    }
  }
  return out;
}

}  // namespace ksplit::ttir
