// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/literal.h"
#include "task/case.h"

namespace ksplit {

/// Something a router can ask of forward's arguments in a few tens of nanoseconds.
/// It has one meaning in Python (`to_python`) and in C++ (`evaluate`).
///
///   dtype        x.dtype                 value: the string "torch.float16", printed without quotes
///   rank         x.dim()
///   size         x.size(d)               d: `dimension`, or the argument `dimension_argument`
///   stride       x.stride(d)
///   numel        x.numel()
///   shape        x.shape                 all sizes as a list, for `equals` and `equals_subject`
///   contiguous   x.is_contiguous()
///   aligned      x.data_ptr() % 16 == 0
///   value        alpha                   a constant argument itself; a list equals a tuple, and
///                                        such a test must follow one of the argument's type
///   type         type(alpha)             "int", "float", "bool", "str", "NoneType", "Tensor" (no
///                                        subclass), "list" (or tuple); bool is not int
///   device       x.get_device()          tensors of a recorded case share one device, which is not
///                                        recorded: of all tests only `equals_subject` can hold
///   grad         x.requires_grad         always false on a recorded case
struct Subject {
  enum class Kind {
    dtype,
    rank,
    size,
    stride,
    numel,
    shape,
    contiguous,
    aligned,
    value,
    type,
    device,
    grad
  };
  Kind kind = Kind::rank;
  int argument = 0;                       // position among forward's parameters
  std::int64_t dimension = 0;             // size, stride: may be negative
  std::optional<int> dimension_argument;  // size, stride: taken from this argument instead

  bool operator==(const Subject&) const = default;
};

/// One simple comparison.
struct Test {
  enum class Kind {
    equals,          // subject == values[0]
    one_of,          // subject in values
    between,         // values[0] <= subject <= values[1]
    divisible,       // subject % values[0] == 0
    equals_subject,  // subject == other
    axis_of,         // -other <= subject < other: an axis of a tensor whose rank is `other`
  };
  Subject subject;
  Kind kind = Kind::equals;
  std::vector<Literal> values;
  Subject other;

  bool operator==(const Test&) const = default;
};

/// All tests must hold. Order matters: an earlier test makes a later one safe to evaluate
/// (the type of `dim` before `x.size(dim)`).
using Guard = std::vector<Test>;

/// The value of a subject on a case; none where it has none (`x.size(3)` of a matrix).
std::optional<Literal> evaluate(const Subject& subject, const Case& sample);

/// Whether a test holds on a case; a subject without a value fails every test.
bool holds(const Test& test, const Case& sample);
bool holds(const Guard& guard, const Case& sample);

/// Python source, with forward's parameter names: `x.size(dim) <= 4096`.
std::string to_python(const Subject& subject, const std::vector<Parameter>& parameters);
std::string to_python(const Test& test, const std::vector<Parameter>& parameters);

/// Whether every input that satisfies `known` satisfies `test` (sound, not complete: compares
/// tests on the same subject).
bool implies(const Guard& known, const Test& test);

}  // namespace ksplit
