// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ttir/type.h"

namespace ksplit::cpu {

/// How scalars of the IR are spelled in generated code: `int32_t`, `float`, `bf16`, `float*`; i1 is
/// `bool`. Values of narrow floats are kept in their own format (f16, bf16, f8...), and computed
/// with in `float`.
std::string c_type(const ttir::Type& type);

/// Bytes of one value in memory.
std::int64_t size_of(const ttir::Type& type);

/// Whether c_type() has the IR's values as arithmetic values of C++: not for bf16 and 8-bit floats.
bool is_native(const ttir::Type& type);

/// `expression` of type `from`, a float narrower than f32, as a `float`; others unchanged.
std::string widen(const ttir::Type& from, const std::string& expression);

/// `expression`, a `float` (or a `double` if `from_double`), rounded to nearest as a value of `to`.
std::string narrow(const ttir::Type& to, const std::string& expression, bool from_double = false);

/// An integer expression with the bits reinterpreted as unsigned: `uint32_t(x)`.
std::string as_unsigned(const ttir::Type& type, const std::string& expression);

/// The same as signed; i1 is 0 or -1, as two's complement has it.
std::string as_signed(const ttir::Type& type, const std::string& expression);

/// A literal for the value with these bits.
std::string literal(const ttir::Type& type, std::uint64_t bits);

/// `text` as a C++ string literal.
std::string quoted(std::string_view text);

}  // namespace ksplit::cpu
