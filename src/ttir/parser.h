// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/result.h"
#include "ttir/ir.h"

namespace ksplit::ttir {

/// Regions, types, attributes nested deeper than this are refused rather than parsed.
inline constexpr int kMaxNesting = 200;

/// Reads the text of a Triton IR module, as Triton's frontend or any of its passes up to `ttir`
/// prints it: compact or generic operations, with or without locations.
///
/// `name` is the file name used in errors. The result is well formed (every use has a definition
/// of its type, every branch a block), but only verify() says that it is legal.
///
/// Errors, all with line and column of the text in `Error::at`:
///   input-malformed   the text breaks off or is no IR
///   unsupported       an operation, type or attribute that is not covered, by name; the message
///                     also has the kernel's source line where the text holds it
Result<Module> parse(std::string_view text, std::string_view name);

}  // namespace ksplit::ttir
