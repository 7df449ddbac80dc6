// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ttir/ir.h"

namespace ksplit::cpu {

/// A 64-bit integer that all lanes of a program share: a constant plus multiples of C++
/// expressions.
///
///   3 + 4 * int64_t(pid)
///
/// Kept as a sum so that equal amounts compare equal however they were added up.
struct Uniform {
  std::int64_t constant = 0;
  std::map<std::string, std::int64_t> terms;  // expression -> factor, never 0

  static Uniform of(std::int64_t value) { return {value, {}}; }
  static Uniform of(const std::string& expression) { return {0, {{expression, 1}}}; }

  bool operator==(const Uniform&) const = default;
  bool is_constant() const { return terms.empty(); }
  bool is(std::int64_t value) const { return terms.empty() && constant == value; }

  std::string str() const;
};

Uniform operator+(const Uniform& a, const Uniform& b);
Uniform operator*(const Uniform& a, const Uniform& b);
Uniform operator-(const Uniform& a, const Uniform& b);

/// What each element of an integer or pointer tensor is, as a function of its index:
///
///   base + offset + stride[0] * i0 + stride[1] * i1 + ... + addend(i) * scale + ...
///
/// `base` is a pointer expression, empty for integers; everything counts in elements. An addend is
/// a part that depends on some of the indices in another way, such as `rows % M`.
///
/// Index arithmetic in 32 bits is taken not to wrap around, as Triton's own compilers take it;
/// where it is data (stored, converted to float), it is computed with the wrap-around and not by
/// this form.
struct Affine {
  struct Addend {
    const ttir::Value* value;
    std::vector<int>
        axis;  // for each axis of `value`: the index that it follows, or -1 for index 0
    Uniform scale;
    bool operator==(const Addend&) const = default;
    bool follows(int index) const;
  };
  std::string base;
  Uniform offset;
  std::vector<Uniform> stride;  // 0 along an axis of length 1
  std::vector<Addend> addends;

  bool same_shape_of_lanes(const Affine& other) const {
    return base == other.base && stride == other.stride && addends == other.addends;
  }
  /// Whether the value depends on index `i` at all.
  bool follows(int i) const;
};

/// Finds the affine form of integer (32 bits and more) and pointer tensors, from their definitions.
class AffineAnalysis {
 public:
  /// `name` gives the C++ expression of a scalar.
  explicit AffineAnalysis(std::function<std::string(const ttir::Value&)> name)
      : name_(std::move(name)) {}

  /// Null for other types, and for pointers that are not one base plus an offset.
  const Affine* of(const ttir::Value& value);

  /// States the form of a value that of() can't see through, such as a loop's argument.
  void assume(const ttir::Value& value, std::optional<Affine> form);

  /// Drops what was derived for values that the region defines, its arguments included.
  void forget(const ttir::Region& region);

  Uniform uniform(const ttir::Value& scalar) const;

 private:
  std::optional<Affine> derive(const ttir::Value& value);
  std::optional<Affine> derive_integer(const ttir::Operation& op);
  std::optional<Affine> derive_pointer(const ttir::Operation& op);
  std::optional<Affine> derive_shape(const ttir::Operation& op);

  std::function<std::string(const ttir::Value&)> name_;
  std::unordered_map<const ttir::Value*, std::optional<Affine>> known_;
};

}  // namespace ksplit::cpu
