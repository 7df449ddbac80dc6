// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/literal.h"
#include "core/result.h"

namespace ksplit {

/// A range of bytes in a source text, end exclusive.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// A node of CPython's own `ast`, with its exact place in the source.
struct PythonNode {
  std::string type;  // "FunctionDef", "Call", "Name" ...
  ByteRange range;   // empty for nodes CPython gives no position
  int line = 0;
  /// Fields in CPython's order. A field is a constant (identifiers, literals), a node or a list.
  struct Field {
    std::string name;
    Literal constant;
    std::vector<std::shared_ptr<const PythonNode>> nodes;
    bool is_list = false;
  };
  std::vector<Field> fields;

  const Field* field(std::string_view name) const;       // nullptr if absent
  const PythonNode* child(std::string_view name) const;  // single node field or nullptr
  std::string identifier(std::string_view name) const;   // string field, "" if absent
};

/// A Python file as data: text and tree. Edits are made on the text, by range.
struct PythonModule {
  std::string path;
  std::string text;
  std::shared_ptr<const PythonNode> root;

  std::string_view source_of(const PythonNode& node) const;
};

/// From the worker's `parse` answer (docs/protocol.md).
Result<PythonModule> module_from_json(std::string path, std::string text,
                                      const nlohmann::json& tree);

}  // namespace ksplit
