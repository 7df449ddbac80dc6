// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "cpu/context.h"
#include "ttir/ir.h"

namespace ksplit::cpu {

/// The body of a tt.reduce or tt.scan: how two partial results become one.
class Combine {
 public:
  /// A region of one operation is written in place; a longer one becomes a function of the file.
  static Result<Combine> of(FunctionContext& context, const ttir::Operation& op);

  /// The statement `out = left combined with right`. `out` may be `left` or `right`.
  std::string statement(const std::vector<std::string>& left, const std::vector<std::string>& right,
                        const std::vector<std::string>& out) const;

  /// A literal e for which `e combined with x` is x, where one is known.
  const std::optional<std::string>& identity() const { return identity_; }

 private:
  std::string function_;  // or empty
  const ttir::Operation* single_ = nullptr;
  std::vector<int> operand_of_;  // for `single_`: 0 left, 1 right
  std::optional<std::string> identity_;
};

}  // namespace ksplit::cpu
