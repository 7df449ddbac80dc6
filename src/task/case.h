// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/literal.h"

namespace ksplit {

/// A tensor argument as the task makes it. Strides and offset count elements.
struct TensorSpec {
  std::string dtype;  // torch's name without its prefix: "float16", "bfloat16", "int64"
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t storage_offset = 0;
  int alignment = 16;  // largest power of two up to 16 that divides the data pointer, in bytes
  bool contiguous = true;

  std::int64_t numel() const;  // 1 for a zero-dimensional tensor
  std::int64_t item_bytes() const;
  std::int64_t bytes() const { return numel() * item_bytes(); }
  bool operator==(const TensorSpec&) const = default;
};

/// An argument that is neither a tensor nor a constant (a list of tensors, a callable ...).
struct Opaque {
  std::string repr;
  bool operator==(const Opaque&) const = default;
};

struct Argument {
  std::string name;  // forward's parameter name
  std::variant<TensorSpec, Literal, Opaque> value;

  const TensorSpec* tensor() const { return std::get_if<TensorSpec>(&value); }
  const Literal* literal() const { return std::get_if<Literal>(&value); }
};

/// One call of the operator. `inputs` are in the order of forward's parameters; parameters the
/// case leaves out hold their default.
struct Case {
  int index = 0;  // from 1, as in the published JSON; groups.json uses the same numbers
  std::vector<Argument> inputs;

  /// Sum of the elements of all tensor inputs' largest tensor: what "elements" means in rules.
  std::int64_t largest_numel() const;
};

/// A parameter of `forward`, without `self`.
struct Parameter {
  enum class Kind { positional, keyword_only, var_positional, var_keyword };
  std::string name;
  Kind kind = Kind::positional;
  std::string default_text;  // Python source of the default; empty if there is none
};

/// The operator: reference, generic kernel and cases, as the worker read them.
struct Task {
  std::string op_name;
  std::vector<Parameter> parameters;  // of the generic ModelNew.forward
  std::vector<Case> cases;
};

}  // namespace ksplit
