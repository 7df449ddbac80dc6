// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "ttir/ir.h"

/// What each operation looks like and what is legal for it: one line per operation in op_table.cpp,
/// from which parser, printer and verifier all work.
///
///   {"tt.load", "%0 (? , %1 ) (? , %2 ) ?cacheModifier=cache {} : P",
///    "P:ptr bool(P)? loaded(P)? -> loaded(P)", "cache=cache:none isVolatile:false"}
///
/// *Form*, the compact syntax, is words separated by spaces:
///   %0 %1        an operand group, by its place in the signature
///   ^0 ^1        a successor with its arguments
///   $name        the value of an attribute
///   ?word        the unit attribute of that name, written as the word itself
///   ?key=name    `key = value`, only if the attribute is there; `?,key=name` has a comma before
///   ?key<name>   `key<value>`, only if the attribute is there; `?$name` the bare value
///   {}           all other attributes, unless there are none
///   T            the type (or types) that the signature's variable T stands for
///   <R:ptr>      the same without its `!tt.ptr` or `!tt.tensordesc`
///   C?T          the type of a selection: `C, T`, or only `T` where C is i1
///   fn           all operand and result types, as a function type
///   constant     the value and type of arith.constant
///   (? ... )     only if the operand group (or type variable) inside is not empty
///   anything else stands for itself
/// An empty form means that the operation only has the generic syntax; `custom` that the parser has
/// a function for it.
///
/// *Signature*: terms for operand groups, `->`, terms for results. A term is a type variable (one
/// capital letter, the same type everywhere), a type (i1, i32, i64), or
///   bool(T) loaded(P) elem(T) base(R)    a type computed from a variable's
/// then optionally `:class` (of the element: int, float, num, bool, ptr, desc; or tensor, scalar),
/// `~T` (has the shape of T), and `?` (at most one) or `*` (any number).
///
/// *Attributes*: `name`, `name?` (may be absent), `name=enum`, each with an optional `:default`; an
/// attribute that has its default is not kept. Further attributes are always allowed.
namespace ksplit::ttir {

enum class TypeClass {
  any,
  integer,
  floating,
  number,
  boolean,
  pointer,
  descriptor,
  tensor,
  scalar
};
enum class TypeFunction { variable, fixed, boolean, loaded, element, base };
enum class Count { one, optional, many };

struct TypeTerm {
  TypeFunction function = TypeFunction::variable;
  char variable = 0;  // 'A' .. 'Z'
  Type fixed;
  TypeClass type_class = TypeClass::any;
  char shape_of = 0;  // variable, or 0
  Count count = Count::one;
};

struct Signature {
  std::vector<TypeTerm> operands;
  std::vector<TypeTerm> results;
};

struct FormItem {
  enum class Kind {
    literal,
    operands,
    successor,
    attribute,
    unit,
    keyed,
    bracketed,
    bare,
    dictionary,
    type,
    short_type,
    select_type,
    function_type,
    constant,
    group
  };
  Kind kind = Kind::literal;
  std::string text;                  // literal, attribute name, or key
  std::string name;                  // keyed, bracketed: attribute name
  std::size_t index = 0;             // operands, successor
  char variable = 0;                 // types
  bool comma = false;                // keyed
  std::vector<FormItem> items = {};  // group
};

struct EnumCase {
  std::string_view word;
  std::int64_t value;
};

struct EnumInfo {
  std::string_view name;
  int width;  // of the integer in the generic syntax
  std::span<const EnumCase> cases;
};

struct AttributeSpec {
  std::string name;
  const EnumInfo* enumeration = nullptr;
  bool optional = false;
  std::string default_text;  // empty: none
};

enum Trait : unsigned {
  kPure = 1,        // no effect but its results; may be dropped, moved, repeated
  kTerminator = 2,  // ends its block
  kSegmented = 4,   // the generic syntax needs operandSegmentSizes
};

/// A further rule of one operation; returns what is wrong, or an empty text.
using Check = std::string (*)(const Operation&);

struct OpInfo {
  std::string_view name;
  std::vector<FormItem> form;
  bool custom = false;
  Signature signature;
  std::vector<AttributeSpec> attributes;
  unsigned traits = 0;
  int regions = 0;
  int successors = 0;
  Check check = nullptr;

  bool has(Trait trait) const { return (traits & trait) != 0; }
  const AttributeSpec* attribute(std::string_view attribute_name) const;
};

/// The operation's line, or null for one that is not covered.
const OpInfo* find_op(std::string_view name);
/// All lines, for tests and listings.
std::span<const OpInfo> all_ops();

/// The types that a signature's variables stand for in one operation.
class TypeBindings {
 public:
  /// Null while unbound; an absent optional group binds to no types.
  const std::vector<Type>* find(char variable) const;
  void bind(char variable, std::vector<Type> types);

  /// The type a term with one type stands for, or nullopt while its variable is unbound (or not of
  /// a kind the term's function takes).
  std::optional<Type> evaluate(const TypeTerm& term) const;

 private:
  std::array<std::optional<std::vector<Type>>, 26> bound_;
};

/// The types of each group of operands or results; nullopt where they are not known yet.
using TypeGroups = std::span<const std::optional<std::vector<Type>>>;

/// Binds the variables of `terms` from the types of their groups. Returns what contradicts the
/// signature as a text; `what` is "operand" or "result".
std::optional<std::string> bind_types(std::span<const TypeTerm> terms, TypeGroups groups,
                                      TypeBindings& bindings, std::string_view what);

/// The rest of what `terms` say about the groups, once every variable is bound that can be.
std::optional<std::string> check_types(std::span<const TypeTerm> terms, TypeGroups groups,
                                       const TypeBindings& bindings, std::string_view what);

/// How many operands each group has when there are `count` in all and the text doesn't say: what is
/// not needed for single values goes to the other groups evenly. Nullopt if that doesn't fit.
std::optional<std::vector<int>> segments_for(const OpInfo& info, std::size_t count);

/// Brings an attribute to its one form: integers of an enumeration to keywords, defaults removed.
void normalise_attributes(const OpInfo& info, Dictionary& attributes);

}  // namespace ksplit::ttir
