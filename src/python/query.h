// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "python/module.h"

namespace ksplit {

using PythonNodes = std::vector<std::shared_ptr<const PythonNode>>;

/// The nodes of a list field, with nullptr where CPython has a hole; empty if there is none.
const PythonNodes& list_of(const PythonNode& node, std::string_view field);

/// All child nodes in CPython's order, without holes.
std::vector<const PythonNode*> children_of(const PythonNode& node);

/// Every node below and including `node`, parents first. `visit` answers whether to go deeper.
void walk(const PythonNode& node, const std::function<bool(const PythonNode&)>& visit);

/// Every node of one type below and including `node`, in source order.
std::vector<const PythonNode*> all_of_type(const PythonNode& node, std::string_view type);

bool is_function(const PythonNode& node);    // FunctionDef, AsyncFunctionDef
bool is_definition(const PythonNode& node);  // a function or a class

/// Whether `node` is the name `id`; the id of a Name, "" for anything else.
bool is_name(const PythonNode& node, std::string_view id);
std::string name_of(const PythonNode* node);

/// "triton.language.constexpr" for a chain of attributes on a name; "" for anything else.
std::string dotted_name(const PythonNode* node);

/// The constant of a Constant node (also under a minus sign); none for anything else, and for
/// constants without a position (parts of f-strings), which cannot be edited.
std::optional<Literal> constant_of(const PythonNode* node);

/// The last function or class of that name at the top level of a file, or in a class body.
/// Definitions under `if` and `try` count. nullptr if there is none.
const PythonNode* find_function(const PythonNode& module_or_class, std::string_view name);
const PythonNode* find_class(const PythonModule& module, std::string_view name);

/// Statements at the top level of a file or class, including those under `if`, `try` and `with`.
std::vector<const PythonNode*> statements_of(const PythonNode& module_or_class);

/// The value of a call's keyword; nullptr if it is absent.
const PythonNode* keyword_of(const PythonNode& call, std::string_view name);

/// A parameter of a function definition, in the order of the signature.
struct PythonParameter {
  enum class Kind { positional_only, positional, var_positional, keyword_only, var_keyword };
  std::string name;
  Kind kind = Kind::positional;
  const PythonNode* node = nullptr;           // `arg`: the name and its annotation
  const PythonNode* annotation = nullptr;     // or nullptr
  const PythonNode* default_value = nullptr;  // or nullptr
};
std::vector<PythonParameter> parameters_of(const PythonNode& function);

/// The argument a call gives to a parameter of `callee`, by position or keyword; nullptr if the
/// call leaves it out or passes it inside `*` or `**`. `bound` is the number of leading parameters
/// that the call does not spell (1 for a method called on an instance).
const PythonNode* argument_for(const PythonNode& call, const PythonNode& callee,
                               std::string_view parameter, std::size_t bound = 0);

/// Whether a call spreads arguments with `*` or `**`.
bool spreads_positional(const PythonNode& call);
bool spreads_keywords(const PythonNode& call);

}  // namespace ksplit
