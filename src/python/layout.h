// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "python/edits.h"
#include "python/module.h"
#include "python/query.h"

namespace ksplit {

/// The line length of everything we emit.
inline constexpr std::size_t kLineLength = 100;

/// The lines of a definition: from its first decorator to the end of its last line, comment and
/// line end included.
ByteRange definition_lines(const PythonModule& module, const PythonNode& definition);

/// The lines of a statement, line end included.
ByteRange whole_lines(std::string_view text, ByteRange range);

/// The name in `def name(` or `class name(`.
ByteRange name_range(const PythonModule& module, const PythonNode& definition);

/// The parentheses around the parameters of a function, and those of a call, inclusive.
ByteRange parameter_list(const PythonModule& module, const PythonNode& function);
ByteRange argument_list(const PythonModule& module, const PythonNode& call);

/// From `@` to the end of the line of a decorator, line end included.
ByteRange decorator_lines(const PythonModule& module, const PythonNode& decorator);

/// The whitespace before the first word of the line that holds `offset`.
std::string_view indentation_at(std::string_view text, std::size_t offset);

/// From the end of a parameter's name and annotation to the end of its default, `=` and brackets
/// included; empty if it has no default.
ByteRange default_range(const PythonModule& module, const PythonParameter& parameter);

/// A signature's items as they are written, with the `/` and `*` separators where they belong:
/// {"x", "*", "block: int = 64"}. Edits inside them are applied.
std::vector<std::string> signature_items(const PythonModule& module, const PythonNode& function,
                                         const Edits& edits = {});

/// The items of a comma-separated list, whatever brackets and strings they contain.
std::vector<std::string> split_items(std::string_view text);

/// `head(items)tail` at `indent` columns as black lays it out: on one line if it fits; else the
/// items on a line of their own; else one item a line with a trailing comma. `head` is everything
/// on the first line after the indentation.
std::string layout_items(std::string_view head, const std::vector<std::string>& items,
                         std::string_view tail, std::size_t indent);

/// Takes `columns` bytes of indentation from every line that begins inside `range`, docstrings
/// included; other strings of several lines, and lines another edit rewrites, stay.
void dedent(const PythonModule& module, const PythonNode& definition, ByteRange range,
            std::size_t columns, Edits& edits);

/// Lays out anew the statements and function headers below `node` that edits, or `columns` bytes
/// of indentation less, made longer or shorter: those on one line if that is too long now, and
/// those whose items have a line of their own. What was too long before, holds comments or has one
/// item a line stays.
void wrap_long_lines(const PythonModule& module, const PythonNode& node, std::size_t columns,
                     Edits& edits);

}  // namespace ksplit
