// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/result.h"
#include "ttir/attribute.h"
#include "ttir/lexer.h"
#include "ttir/location.h"
#include "ttir/type.h"

namespace ksplit::ttir {

/// A list of flags with one comma and space between them.
std::string canonical_flags(std::string_view text);

/// Reads the parts of IR text that stand on their own: types, attributes and locations. One token
/// ahead: `peek()` is the next one, `take()` passes it.
class SyntaxReader {
 public:
  SyntaxReader(std::string_view text, std::string_view name);

  Result<Type> read_type();
  /// `() -> ()`, `(i32, f32) -> i1` ...
  Result<Type> read_function_type();
  /// `T` or `(T, T)`, after an arrow.
  Result<std::vector<Type>> read_result_types();
  /// Types up to the first that no comma follows.
  Result<std::vector<Type>> read_type_list();
  /// What stands between the angle brackets of `!tt.ptr<...>` / `!tt.tensordesc<...>`.
  Result<Type> read_pointer_body();
  Result<Type> read_descriptor_body();

  Result<Attribute> read_attribute();
  /// `{name = value, name, "quoted name" = value}`.
  Result<Dictionary> read_dictionary();

  /// `loc(...)`.
  Result<Location> read_location();
  /// The same if there is one, else unknown.
  Result<Location> read_trailing_location();

 protected:
  const Token& peek() const { return ahead_; }
  Token peek_second() const;
  Token take();
  bool take_if(std::string_view punctuation_or_word);
  Status expect(std::string_view punctuation_or_word);
  Result<Token> expect(Token::Kind kind, std::string_view what);
  /// The offset at which the last taken token ended.
  std::size_t taken_end() const { return taken_end_; }
  void seek(std::size_t position);
  std::string_view text() const { return lexer_.text(); }

  tl::unexpected<Error> malformed(std::string message, std::size_t offset) const;
  /// "expected X but found Y" at the next token.
  tl::unexpected<Error> unexpected(std::string_view wanted) const;
  tl::unexpected<Error> unsupported(std::string message, std::size_t offset) const;

  Result<int> read_small_number(std::string_view what);

  /// Text between balanced brackets, from the next token, which opens them, through the last.
  Result<std::string> read_balanced();

  /// Counts nested constructs; fails when there are more than the limit.
  class Nesting {
   public:
    Nesting(int& depth) : depth_(depth) { ++depth_; }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    int& depth_;
  };
  Status check_nesting() const;
  int depth_ = 0;
  int location_depth_ = 0;

 private:
  struct Alias {
    std::size_t position;  // after its '='
    bool in_progress = false;
    std::optional<Location> location = std::nullopt;
  };

  /// A number, true or false as written; what it means depends on a type that follows it.
  struct NumberText {
    Token token;
    bool negative = false;
  };
  Result<NumberText> read_number();

  void find_aliases();
  Result<Type> read_tensor();
  Result<std::vector<std::int64_t>> read_shape();
  Result<Attribute> read_number_attribute();
  Result<Attribute> read_dense();
  Status read_dense_literals(std::vector<NumberText>& literals);
  Result<std::uint64_t> bits_of(const NumberText& number, const Type& type) const;
  Result<std::vector<std::uint64_t>> unpack_hex(const Token& text, const Type& type) const;
  Result<Attribute> read_dense_array();
  Result<Attribute> read_hash_attribute();
  Result<Location> read_location_body();
  bool is_alias(std::string_view name) const { return aliases_.contains(name); }
  Result<Location> read_alias(const Token& name);

  Lexer lexer_;
  std::string name_;
  Token ahead_;
  std::size_t taken_end_ = 0;
  std::unordered_map<std::string_view, Alias> aliases_;
};

}  // namespace ksplit::ttir
