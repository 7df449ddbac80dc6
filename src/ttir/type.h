// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ksplit::ttir {

/// The floating-point formats of Triton IR; names follow the IR's spelling.
enum class FloatFormat {
  f16,
  bf16,
  f32,
  f64,
  f8E4M3FN,
  f8E5M2,
  f8E4M3FNUZ,
  f8E5M2FNUZ,
  f8E4M3B11FNUZ,
};

/// How a format lays out its bits: sign, exponent, mantissa, from the top.
struct FloatLayout {
  std::string_view name;
  int bits;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;  // else the largest exponent holds numbers (and the NaN, see below)
  bool
      negative_zero_nan;  // "UZ" formats: the only NaN is the bit pattern of -0, and there is no -0
};

const FloatLayout& layout_of(FloatFormat format);
std::optional<FloatFormat> float_format_named(std::string_view name);

/// The value of a bit pattern; exact, since every format fits in a double. NaN payloads are lost.
double decode_float(FloatFormat format, std::uint64_t bits);

/// The bit pattern nearest to `value`, ties to even. Overflow gives infinity, or NaN in formats
/// without infinity. Exact for values that decode_float returned.
std::uint64_t encode_float(FloatFormat format, double value);

/// An IR type: a small immutable value, compared by structure.
///
///   i32                          integer(32)
///   !tt.ptr<f16>                 pointer(floating(f16))
///   tensor<64x!tt.ptr<f16>>      tensor({64}, pointer(floating(f16)))
///   !tt.ptr<tensor<64x64xf16>>   pointer(tensor({64, 64}, floating(f16)))   (a block pointer)
///   !tt.tensordesc<tensor<64xf16>>   descriptor(tensor({64}, floating(f16)))
class Type {
 public:
  enum class Kind { none, integer, floating, index, pointer, tensor, descriptor, function, tuple };
  enum class Sign { signless, is_signed, is_unsigned };

  Type() = default;  // kind none
  static Type integer(int width, Sign sign = Sign::signless);
  static Type floating(FloatFormat format);
  static Type index();
  static Type pointer(Type pointee, int address_space = 1);
  static Type tensor(std::vector<std::int64_t> shape, Type element);
  static Type descriptor(Type block);
  static Type function(std::vector<Type> inputs, std::vector<Type> results);
  static Type tuple(std::vector<Type> members);

  bool operator==(const Type& other) const;

  Kind kind() const;
  bool is_none() const { return kind() == Kind::none; }
  bool is_integer() const { return kind() == Kind::integer; }
  bool is_integer(int width) const { return is_integer() && bit_width() == width; }
  bool is_float() const { return kind() == Kind::floating; }
  bool is_index() const { return kind() == Kind::index; }
  bool is_pointer() const { return kind() == Kind::pointer; }
  bool is_tensor() const { return kind() == Kind::tensor; }
  bool is_descriptor() const { return kind() == Kind::descriptor; }

  /// Bits of a scalar integer or float; 64 for index and pointers. Only for those kinds.
  int bit_width() const;
  Sign sign() const;           // integers
  FloatFormat format() const;  // floats
  int address_space() const;   // pointers

  /// The shape of a tensor; empty for everything else, so scalars read as rank 0.
  std::span<const std::int64_t> shape() const;
  int rank() const { return static_cast<int>(shape().size()); }
  std::int64_t element_count() const;  // product of shape; 1 for a scalar

  /// The element of a tensor; any other type is its own element.
  Type element() const;
  /// What a pointer points to. For a tensor of pointers use `element().pointee()`.
  Type pointee() const;
  /// The tensor type that a descriptor loads and stores.
  Type block() const;
  /// Of a function type; `inputs()` also holds the members of a tuple.
  std::span<const Type> inputs() const;
  std::span<const Type> results() const;

  /// The same shape (or scalar-ness) over another element: tensor<64xf16> with i1 is tensor<64xi1>.
  Type with_element(Type element) const;
  /// What loading through this pointer or tensor of pointers gives: tensor<64x!tt.ptr<f16>> gives
  /// tensor<64xf16>, !tt.ptr<f16> gives f16, a block pointer its tensor.
  Type loaded() const;

  /// The IR's spelling, such as "tensor<64x!tt.ptr<f16>>".
  std::string str() const;

 private:
  struct Node;
  explicit Type(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

}  // namespace ksplit::ttir
