// SPDX-License-Identifier: Apache-2.0
#include "ttir/ir.h"

namespace ksplit::ttir {

std::span<Value* const> Operation::operand_group(std::size_t group) const {
  if (group >= segments.size()) return {};
  std::size_t begin = 0;
  for (std::size_t i = 0; i < group; ++i) begin += static_cast<std::size_t>(segments[i]);
  return std::span<Value* const>(operands).subspan(begin,
                                                   static_cast<std::size_t>(segments[group]));
}

std::string_view Operation::keyword(std::string_view attribute_name,
                                    std::string_view otherwise) const {
  const Attribute* found = attribute(attribute_name);
  if (found == nullptr) return otherwise;
  if (const auto* word = found->as<Keyword>()) return word->value;
  if (const auto* text = found->as<StringAttr>()) return text->value;
  return otherwise;
}

std::int64_t Operation::integer(std::string_view attribute_name, std::int64_t otherwise) const {
  const Attribute* found = attribute(attribute_name);
  if (found == nullptr) return otherwise;
  if (const auto* number = found->as<IntegerAttr>()) return number->value;
  if (const auto* flag = found->as<bool>()) return *flag ? 1 : 0;
  return otherwise;
}

const Function* Module::find(std::string_view function_name) const {
  for (const auto& function : functions) {
    if (function->name == function_name) return function.get();
  }
  return nullptr;
}

const Function* Module::kernel() const {
  const Function* only = nullptr;
  for (const auto& function : functions) {
    if (!function->is_public()) continue;
    if (only != nullptr) return nullptr;
    only = function.get();
  }
  return only;
}

}  // namespace ksplit::ttir
