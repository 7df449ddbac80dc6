// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ttir/ir.h"

namespace ksplit::ttir {

/// `i32, f32`; nothing for no types.
std::string list_of(std::span<const Type> types);

/// The types of a list of values.
template <class Values>
std::vector<Type> types_of(const Values& values) {
  std::vector<Type> types;
  types.reserve(values.size());
  for (const Value* value : values) types.push_back(value->type);
  return types;
}

}  // namespace ksplit::ttir
