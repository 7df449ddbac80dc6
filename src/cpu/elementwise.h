// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "ttir/ir.h"

namespace ksplit::cpu {

/// Whether each element of the results depends on just the same element of the operands:
/// arithmetic, comparison, conversion, selection and mathematical functions, for scalars and
/// tensors alike.
bool is_elementwise(const ttir::Operation& op);

/// What computing one element costs, in simple operations: 1 for an addition, 15 for an
/// exponential.
int element_cost(const ttir::Operation& op);

/// The C++ expression of one element of a result, with Triton's meaning: integers wrap, narrow
/// floats are computed in `float` and rounded once, NaN rules are the operation's.
///
///   arith.addf on bf16, {"x", "y"}   =>   f32_to_bf16(bf16_to_f32(x) + bf16_to_f32(y))
///
/// Operands are names or literals: they may occur twice. Errors: unsupported, with the operation's
/// name.
Result<std::string> elementwise_expression(const ttir::Operation& op, int result,
                                           std::span<const std::string> operands);

/// The expression of a libdevice function (`__nv_expf`), or unsupported.
Result<std::string> libdevice_expression(std::string_view symbol,
                                         std::span<const std::string> operands);

/// `unsupported`, naming the operation and its line of source.
tl::unexpected<Error> unsupported(const ttir::Operation& op, std::string_view why = {});

}  // namespace ksplit::cpu
