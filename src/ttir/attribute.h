// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ttir/type.h"

namespace ksplit::ttir {

struct Attribute;

struct UnitAttr {
  bool operator==(const UnitAttr&) const = default;
};

/// `16 : i32`. The value is sign-extended to 64 bits; unsigned 64-bit values keep their bits.
struct IntegerAttr {
  std::int64_t value;
  Type type;
  bool operator==(const IntegerAttr&) const = default;
};

/// `1.0 : f32` or `0x7F800000 : f32`: the exact bits in the format of `type`.
struct FloatAttr {
  std::uint64_t bits;
  Type type;
  double value() const { return decode_float(type.format(), bits); }
  bool operator==(const FloatAttr&) const = default;
};

struct StringAttr {
  std::string value;
  bool operator==(const StringAttr&) const = default;
};

/// A bare word: a comparison predicate (`slt`), an atomic's operation, scope or memory order, a
/// cache or eviction hint, a rounding mode, a fast-math or overflow flag list ("nsw, nuw").
struct Keyword {
  std::string value;
  bool operator==(const Keyword&) const = default;
};

/// `@name`, without the sign.
struct SymbolRef {
  std::string name;
  bool operator==(const SymbolRef&) const = default;
};

/// `dense<...> : tensor<...>`: bits of each element in row-major order, or one entry for a splat.
/// Integers are sign-extended to 64 bits (i1: 0 or 1); floats hold the bits of their format.
struct DenseElements {
  Type type;
  std::vector<std::uint64_t> bits;
  bool is_splat() const { return bits.size() == 1; }
  bool operator==(const DenseElements&) const = default;
};

/// `array<i32: 1, 0>`.
struct DenseArray {
  Type element;
  std::vector<std::int64_t> values;  // integers, i1 as 0 or 1; floats as the bits of their format
  bool operator==(const DenseArray&) const = default;
};

/// A dialect's own attribute that has no meaning here, kept as text: `#ttg.something<...>`.
struct OpaqueAttr {
  std::string text;
  bool operator==(const OpaqueAttr&) const = default;
};

struct ArrayAttr {
  std::vector<Attribute> items;
  bool operator==(const ArrayAttr&) const;
};

struct NamedAttribute;

/// Named attributes in the order of their names.
struct Dictionary {
  std::vector<NamedAttribute> entries;
  const Attribute* find(std::string_view name) const;  // null where absent
  void set(std::string name, Attribute value);         // adds or replaces
  void erase(std::string_view name);
  bool empty() const { return entries.empty(); }
  bool operator==(const Dictionary&) const;
};

/// A compile-time constant attached to an operation, argument or function.
struct Attribute {
  std::variant<UnitAttr, bool, IntegerAttr, FloatAttr, StringAttr, Keyword, SymbolRef, Type,
               DenseElements, DenseArray, OpaqueAttr, ArrayAttr, Dictionary>
      value;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  bool operator==(const Attribute&) const = default;
};

struct NamedAttribute {
  std::string name;
  Attribute value;
  bool operator==(const NamedAttribute&) const = default;
};

inline bool ArrayAttr::operator==(const ArrayAttr& other) const {
  return items == other.items;
}
inline bool Dictionary::operator==(const Dictionary& other) const {
  return entries == other.entries;
}

}  // namespace ksplit::ttir
