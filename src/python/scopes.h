// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "python/module.h"

namespace ksplit {

/// The names a function, lambda, comprehension or class binds in its own scope: parameters,
/// assignments, imports, definitions, exception and pattern names, less `global` ones.
std::set<std::string> bound_names(const PythonNode& scope);

/// Every Name below `node` (a function, class, statement or file) that is none of the local names
/// of the scopes in between: what means a module-level name or a builtin. Python's own rules,
/// including that a class body's names are invisible to its methods.
void for_each_free_name(const PythonNode& node,
                        const std::function<void(const PythonNode&)>& visit);

/// What binds each module-level name, in source order: Assign, AnnAssign, AugAssign, For, With,
/// FunctionDef, ClassDef, `alias` of an import; also a function that declares it `global` and
/// thereby may assign it. A name with exactly one entry is a constant of the file.
std::map<std::string, std::vector<const PythonNode*>> module_bindings(const PythonModule& module);

/// The same for the direct body of a class.
std::map<std::string, std::vector<const PythonNode*>> class_bindings(const PythonNode& class_node);

}  // namespace ksplit
