// SPDX-License-Identifier: Apache-2.0
#include "python/module.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ksplit {

const PythonNode::Field* PythonNode::field(std::string_view name) const {
  for (const Field& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

const PythonNode* PythonNode::child(std::string_view name) const {
  const Field* found = field(name);
  if (found == nullptr || found->is_list || found->nodes.empty()) return nullptr;
  return found->nodes.front().get();
}

std::string PythonNode::identifier(std::string_view name) const {
  const Field* found = field(name);
  const std::string* text = found == nullptr ? nullptr : found->constant.as_string();
  return text == nullptr ? std::string() : *text;
}

std::string_view PythonModule::source_of(const PythonNode& node) const {
  return std::string_view(text).substr(node.range.begin, node.range.end - node.range.begin);
}

namespace {

using nlohmann::json;

// The worker's own recursion ends before this; it guards our stack against a broken worker.
constexpr int kMaxDepth = 1000;

tl::unexpected<Error> malformed(const std::string& what) {
  return fail(ErrorCode::input_malformed, "syntax tree: " + what);
}

class Decoder {
 public:
  explicit Decoder(std::size_t text_size) : text_size_(text_size) {}

  Result<std::shared_ptr<const PythonNode>> node(const json& tree) {
    if (++depth_ > kMaxDepth) return malformed("nested too deeply");
    if (!tree.is_object() || !tree.contains("type") || !tree["type"].is_string()) {
      return malformed("a node without a type");
    }
    auto node = std::make_shared<PythonNode>();
    node->type = tree["type"].get<std::string>();
    if (const auto line = tree.find("line"); line != tree.end() && line->is_number_integer()) {
      node->line = line->get<int>();
    }
    if (const auto range = tree.find("range"); range != tree.end() && !range->is_null()) {
      KSPLIT_TRY(node->range, byte_range(*range, node->type));
    }
    if (const auto fields = tree.find("fields"); fields != tree.end()) {
      if (!fields->is_array()) return malformed(fmt::format("{} without fields", node->type));
      for (const json& item : *fields) {
        KSPLIT_TRY(PythonNode::Field field, this->field(item, node->type));
        node->fields.push_back(std::move(field));
      }
    }
    --depth_;
    return node;
  }

 private:
  Result<ByteRange> byte_range(const json& value, const std::string& type) const {
    const auto is_offset = [](const json& number) {
      return number.is_number_integer() && number.get<std::int64_t>() >= 0;
    };
    if (!value.is_array() || value.size() != 2 || !is_offset(value[0]) || !is_offset(value[1])) {
      return malformed(fmt::format("{} with range {}", type, value.dump()));
    }
    const ByteRange range{value[0].get<std::size_t>(), value[1].get<std::size_t>()};
    if (range.begin > range.end || range.end > text_size_) {
      return malformed(fmt::format("{} with range [{}, {}] in a text of {} bytes", type,
                                   range.begin, range.end, text_size_));
    }
    return range;
  }

  Result<PythonNode::Field> field(const json& item, const std::string& type) {
    if (!item.is_array() || item.size() != 2 || !item[0].is_string() || !item[1].is_object() ||
        item[1].size() != 1) {
      return malformed(fmt::format("{} with a field that is no [name, value]", type));
    }
    PythonNode::Field field;
    field.name = item[0].get<std::string>();
    const auto entry = item[1].begin();
    const std::string& kind = entry.key();
    const json& value = entry.value();
    if (kind == "node") {
      KSPLIT_TRY(auto child, node(value));
      field.nodes.push_back(std::move(child));
    } else if (kind == "nodes" && value.is_array()) {
      field.is_list = true;
      for (const json& element : value) {
        if (element.is_null()) {
          field.nodes.push_back(nullptr);
          continue;
        }
        KSPLIT_TRY(auto child, node(element));
        field.nodes.push_back(std::move(child));
      }
    } else if (kind == "constant" || kind == "constants") {
      field.is_list = kind == "constants";
      KSPLIT_TRY(field.constant, literal_from_json(value));
    } else {
      return malformed(fmt::format("{}.{} of unknown kind `{}`", type, field.name, kind));
    }
    return field;
  }

  std::size_t text_size_;
  int depth_ = 0;
};

}  // namespace

Result<PythonModule> module_from_json(std::string path, std::string text, const json& tree) {
  auto root = Decoder(text.size()).node(tree);
  if (!root) return with_context(std::move(root).error(), path);
  if ((*root)->type != "Module") {
    return fail(
        ErrorCode::input_malformed,
        fmt::format("{}: the syntax tree of a file is a Module, found {}", path, (*root)->type));
  }
  return PythonModule{std::move(path), std::move(text), std::move(*root)};
}

}  // namespace ksplit
