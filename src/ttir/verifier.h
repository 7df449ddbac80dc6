// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/result.h"
#include "ttir/ir.h"

namespace ksplit::ttir {

/// Says whether a module is legal, naming the first operation that is not:
///   - operands, results, attributes and regions are those its line of the op table asks for
///   - every operand's definition dominates its use; functions don't share values
///   - every block ends in a terminator, which fits where it stands: tt.return gives the function's
///     results, scf.yield its loop's or branch's, tt.reduce.return the region's
///   - branches and region entries pass as many values, of the types, that the block takes
///   - calls name a function of the module and fit its type
/// Errors: input-malformed, with the operation's source location in `at` where it has one.
Status verify(const Module& module);

}  // namespace ksplit::ttir
