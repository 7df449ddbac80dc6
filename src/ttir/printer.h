// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ttir/ir.h"

namespace ksplit::ttir {

struct PrintOptions {
  bool locations = true;
  bool generic = false;  // every operation in the syntax that all operations share
};

/// A verified module as text that Triton and parse() read back to an equal module, in Triton's own
/// spelling: operations in the compact form where they have one, locations as aliases at the end.
/// A module none of whose locations is known is printed without. The generic syntax is that of
/// Triton 3.5 and later, which lists the sizes of all operand groups.
std::string print(const Module& module, const PrintOptions& options = {});

/// The first line of one operation of a verified module, for messages.
std::string print(const Operation& operation);

/// `16 : i32`, `dense<1.0> : tensor<4xf32>`, `"text"` ... A keyword is the bare word.
std::string print(const Attribute& attribute);

/// A number's shortest exact spelling in Triton's style: 1.000000e+00, or its bits as hexadecimal.
std::string print_float(std::uint64_t bits, FloatFormat format);

/// The text between quotes, with what can't stand there written as `\22`.
std::string escape(std::string_view text);

}  // namespace ksplit::ttir
