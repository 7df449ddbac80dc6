// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/literal.h"
#include "python/module.h"

namespace ksplit {

using Constants = std::map<std::string, Literal>;

/// The value of an expression made of constants, names in `known`, lists, tuples, + - * // % ** <<
/// and >> on integers, and comprehensions over such lists. None for everything else: nothing is
/// guessed.
std::optional<Literal> evaluate_constant(const PythonNode* expression, const Constants& known);

/// The values an expression takes under the loops of a list comprehension, one per element:
/// `visit` is called with the names each round binds. False if a loop is not over constants.
bool for_each_round(const PythonNode& comprehension, const Constants& known,
                    const std::function<void(const Constants&)>& visit);

/// Module-level names that are assigned exactly once, to a constant expression.
Constants module_constants(const PythonModule& module);

}  // namespace ksplit
