// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "ttir/op_table.h"

namespace ksplit::ttir {

/// One line of the table as written; see op_table.h for what the texts mean.
struct OpRow {
  std::string_view name;
  std::string_view form;
  std::string_view signature;
  std::string_view attributes = {};
  unsigned traits = 0;
  Check check = nullptr;
  int regions = 0;
  int successors = 0;
};

/// The line as a value. A malformed line is a bug of ours, found by the first use of the table.
OpInfo read_row(const OpRow& row, std::span<const EnumInfo> enumerations);

}  // namespace ksplit::ttir
