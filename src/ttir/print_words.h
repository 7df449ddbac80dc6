// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ttir/attribute.h"
#include "ttir/op_table.h"

namespace ksplit::ttir {

/// `@name`, quoted where it must be.
std::string print_symbol(std::string_view name);

/// An attribute's value as the generic syntax and dictionaries have it: an enumeration's integer.
std::string print_inherent(const Attribute& attribute, const AttributeSpec* spec);

/// `{name = value, ...}`; `info` (or null) says which entries are enumerations.
std::string print_dictionary(const Dictionary& dictionary, const OpInfo* info);

}  // namespace ksplit::ttir
