// SPDX-License-Identifier: Apache-2.0
#include "generate/configure/copy.h"

#include <fmt/format.h>

#include <algorithm>

#include "python/edits.h"
#include "python/layout.h"
#include "python/query.h"
#include "python/scopes.h"

namespace ksplit {
namespace {

std::string applied(const PythonModule& module, const PythonNode& definition, Edits& edits) {
  const ByteRange lines = definition_lines(module, definition);
  const std::size_t columns = indentation_at(module.text, definition.range.begin).size();
  wrap_long_lines(module, definition, columns, edits);
  dedent(module, definition, lines, columns, edits);
  std::string text = edits.apply(module.text, lines);
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

// ------------------------------------------------------------------ kernels

void make_constexpr(const PythonModule& module, const PythonNode& function,
                    const std::set<std::string>& fixed, Edits& edits) {
  for (const PythonParameter& parameter : parameters_of(function)) {
    if (fixed.count(parameter.name) == 0) continue;
    if (parameter.annotation != nullptr) {
      edits.replace(parameter.annotation->range, "tl.constexpr");
      continue;
    }
    edits.insert(parameter.node->range.end, ": tl.constexpr");
    // An annotated default has spaces around its `=`.
    if (parameter.default_value == nullptr) continue;
    const ByteRange between{parameter.node->range.end, parameter.default_value->range.begin};
    if (module.text.substr(between.begin, between.end - between.begin) == "=") {
      edits.replace(between, " = ");
    }
  }
}

// `@triton.jit(do_not_specialize=["n", "m"])` must not name a parameter that is now a constant.
void drop_from_jit(const PythonModule& module, const KernelDefinition& kernel,
                   const std::set<std::string>& fixed, Edits& edits) {
  if (kernel.jit->type != "Call") return;
  const std::vector<PythonParameter> parameters = parameters_of(*kernel.node);
  const auto is_fixed = [&](const PythonNode& element) {
    const auto value = constant_of(&element);
    if (!value) return false;
    if (const std::string* name = value->as_string()) return fixed.count(*name) != 0;
    const std::int64_t* position = value->as_int();
    return position != nullptr && *position >= 0 &&
           static_cast<std::size_t>(*position) < parameters.size() &&
           fixed.count(parameters[static_cast<std::size_t>(*position)].name) != 0;
  };
  for (const auto& keyword : list_of(*kernel.jit, "keywords")) {
    if (!keyword->identifier("arg").starts_with("do_not_specialize")) continue;
    const PythonNode* listed = keyword->child("value");
    std::string kept;
    for (const auto& element : list_of(*listed, "elts")) {
      if (is_fixed(*element)) continue;
      kept += (kept.empty() ? "" : ", ") + std::string(module.source_of(*element));
    }
    edits.replace(listed->range, "[" + kept + "]");
  }
}

std::string kernel_text(const PythonModule& module, const KernelDefinition& kernel,
                        const KernelVariant& variant, const std::string& name) {
  Edits edits;
  edits.replace(name_range(module, *kernel.node), name);
  make_constexpr(module, *kernel.node, variant.fixed, edits);
  if (!variant.fixed.empty()) drop_from_jit(module, kernel, variant.fixed, edits);
  if (variant.frozen) {
    const ByteRange decorator = decorator_lines(module, *kernel.autotune);
    edits.erase(whole_lines(module.text, {decorator.begin, decorator.end - 1}));
  }
  return applied(module, *kernel.node, edits);
}

// ------------------------------------------------------------------ launches

// Adds or replaces a keyword of a call, in the layout the call has.
class KeywordEditor {
 public:
  // `columns` is what the copy loses of its indentation.
  KeywordEditor(const PythonModule& module, const PythonNode& call, std::size_t columns,
                Edits& edits)
      : module_(module), call_(call), columns_(columns), edits_(edits) {}

  void set(const std::string& name, const Literal& value) {
    if (const PythonNode* given = keyword_of(call_, name)) {
      edits_.replace(given->range, to_python(value));
    } else {
      added_.push_back(fmt::format("{}={}", name, to_python(value)));
    }
  }

  ~KeywordEditor() {
    if (added_.empty()) return;
    const std::string_view text = module_.text;
    const ByteRange brackets = argument_list(module_, call_);
    const std::size_t last = last_argument_end(brackets.begin + 1);
    const std::size_t comma = text.find_first_not_of(" \t\r\n", last);
    const bool trailing_comma = text[comma] == ',';
    const std::size_t offset = trailing_comma ? comma + 1 : last;
    // One argument a line stays one argument a line.
    const bool own_lines =
        trailing_comma &&
        text.substr(offset, brackets.end - offset).find('\n') != std::string_view::npos;
    const std::string indent(indentation_at(text, last).substr(columns_));
    for (const std::string& item : added_) {
      if (own_lines) {
        edits_.insert(offset, fmt::format("\n{}{},", indent, item));
      } else {
        edits_.insert(offset, last == brackets.begin + 1 ? item : ", " + item);
      }
    }
  }

  KeywordEditor(const KeywordEditor&) = delete;
  KeywordEditor& operator=(const KeywordEditor&) = delete;

 private:
  std::size_t last_argument_end(std::size_t otherwise) const {
    std::size_t end = otherwise;
    for (const char* field : {"args", "keywords"}) {
      for (const auto& argument : list_of(call_, field)) {
        end = std::max(end, argument->range.end);
      }
    }
    return end;
  }

  const PythonModule& module_;
  const PythonNode& call_;
  const std::size_t columns_;
  Edits& edits_;
  std::vector<std::string> added_;
};

// ------------------------------------------------------------------ units

class UnitCopy {
 public:
  UnitCopy(const PythonModule& module, const HostGraph& graph, const Choices& choices,
           const Variant& variant, const CopyNames& names, const std::set<int>& copied)
      : module_(module),
        graph_(graph),
        choices_(choices),
        variant_(variant),
        names_(names),
        copied_(copied) {}

  std::string text(int index) const {
    const HostUnit& unit = graph_.units[static_cast<std::size_t>(index)];
    Edits edits;
    edits.replace(name_range(module_, *unit.node), names_.units.at(index));
    for (const auto& decorator : list_of(*unit.node, "decorator_list")) {
      if (unit.kind == HostUnit::Kind::method && is_name(*decorator, "staticmethod")) {
        const ByteRange lines = decorator_lines(module_, *decorator);
        edits.erase(whole_lines(module_.text, {lines.begin, lines.end - 1}));
      }
    }
    if (index == graph_.forward) {
      for (const PythonParameter& parameter : parameters_of(*unit.node)) {
        if (parameter.default_value != nullptr) edits.erase(default_range(module_, parameter));
      }
    }
    redirect(index, edits);
    set_keywords(index, edits);
    set_tiles(unit, edits);
    return applied(module_, *unit.node, edits);
  }

 private:
  void redirect(int index, Edits& edits) const {
    for (const HostReference& reference : graph_.references) {
      if (reference.from != index) continue;
      const auto& names = reference.kernel >= 0 ? names_.kernels : names_.units;
      const int target = reference.kernel >= 0 ? reference.kernel : reference.unit;
      const auto name = names.find(target);
      if (name == names.end() || (reference.kernel < 0 && copied_.count(target) == 0)) continue;
      edits.replace(reference.node->range, name->second);
      if (reference.receiver == nullptr) continue;
      const ByteRange brackets = argument_list(module_, *reference.call);
      const bool alone =
          list_of(*reference.call, "args").empty() && list_of(*reference.call, "keywords").empty();
      edits.insert(brackets.begin + 1,
                   std::string(module_.source_of(*reference.receiver)) + (alone ? "" : ", "));
    }
  }

  void set_keywords(int index, Edits& edits) const {
    const PythonNode& node = *graph_.units[static_cast<std::size_t>(index)].node;
    const std::size_t columns = indentation_at(module_.text, node.range.begin).size();
    for (const LaunchSite& site : graph_.launches) {
      if (site.from != index || site.kernels.size() != 1) continue;
      KeywordEditor editor(module_, *site.call, columns, edits);
      for (std::size_t use = 0; use < choices_.uses.size(); ++use) {
        if (choices_.uses[use].kernel != site.kernels.front()) continue;
        for (const auto& [tile, size] : variant_.tiles) {
          for (const auto& [user, parameter] : choices_.tiles[tile].parameters) {
            if (choices_.tiles[tile].added && user == use) editor.set(parameter, Literal(size));
          }
        }
        for (const auto& [keyword, value] : variant_.kernels[use].keywords) {
          editor.set(keyword, value);
        }
      }
    }
  }

  void set_tiles(const HostUnit& unit, Edits& edits) const {
    for (const auto& [tile, size] : variant_.tiles) {
      const TileSource& source = choices_.tiles[tile];
      const std::string text = fmt::format("{}", size);
      for (const PythonNode* literal : source.literals) {
        if (unit.node->range.begin <= literal->range.begin &&
            literal->range.end <= unit.node->range.end) {
          edits.replace(literal->range, text);
        }
      }
      if (!source.constant.empty()) {
        for_each_free_name(*unit.node, [&](const PythonNode& name) {
          if (is_name(name, source.constant) && name.range.begin != name.range.end) {
            edits.replace(name.range, source.constant + "_" + names_.group_id);
          }
        });
      }
      if (!source.attribute.empty() && unit.owner == source.owner) {
        for (const PythonNode* read : all_of_type(*unit.node, "Attribute")) {
          if (reads_attribute(*read, unit, source)) edits.replace(read->range, text);
        }
      }
    }
  }

  static bool reads_attribute(const PythonNode& node, const HostUnit& unit,
                              const TileSource& source) {
    const auto parameters = parameters_of(*unit.node);
    return node.identifier("attr") == source.attribute && !unit.is_static && !parameters.empty() &&
           is_name(*node.child("value"), parameters.front().name) &&
           node.range.begin != node.range.end;
  }

  const PythonModule& module_;
  const HostGraph& graph_;
  const Choices& choices_;
  const Variant& variant_;
  const CopyNames& names_;
  const std::set<int>& copied_;
};

bool reads_changed_tile(const HostUnit& unit, const Choices& choices, const Variant& variant) {
  bool reads = false;
  for (const auto& [tile, size] : variant.tiles) {
    const TileSource& source = choices.tiles[tile];
    if (!source.constant.empty()) {
      for_each_free_name(*unit.node,
                         [&](const PythonNode& name) { reads |= is_name(name, source.constant); });
    }
    if (!source.attribute.empty() && unit.owner == source.owner) {
      for (const PythonNode* attribute : all_of_type(*unit.node, "Attribute")) {
        reads |= attribute->identifier("attr") == source.attribute;
      }
    }
  }
  return reads;
}

}  // namespace

std::set<int> copied_units(const HostGraph& graph, const Choices& choices, const Variant& variant) {
  std::set<int> kernels;
  for (const KernelUse& use : choices.uses) kernels.insert(use.kernel);
  std::set<int> copied;
  for (std::size_t i = 0; i < graph.units.size(); ++i) {
    if (reads_changed_tile(graph.units[i], choices, variant)) copied.insert(static_cast<int>(i));
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (const HostReference& reference : graph.references) {
      const bool leads = reference.kernel >= 0 ? kernels.count(reference.kernel) != 0
                                               : copied.count(reference.unit) != 0;
      if (leads && copied.insert(reference.from).second) grown = true;
    }
  }
  return copied;
}

std::string copy_text(const PythonModule& module, const HostGraph& graph, const Choices& choices,
                      const Variant& variant, const CopyNames& names) {
  std::vector<std::pair<std::size_t, std::string>> texts;  // with their place in the file
  for (std::size_t use = 0; use < choices.uses.size(); ++use) {
    const int index = choices.uses[use].kernel;
    const KernelDefinition& kernel = graph.kernels[static_cast<std::size_t>(index)];
    texts.emplace_back(kernel.node->range.begin,
                       kernel_text(module, kernel, variant.kernels[use], names.kernels.at(index)));
  }
  const std::set<int> copied = copied_units(graph, choices, variant);
  const UnitCopy copy(module, graph, choices, variant, names, copied);
  std::string forward;
  for (const int index : copied) {
    const HostUnit& unit = graph.units[static_cast<std::size_t>(index)];
    if (index == graph.forward) {
      forward = copy.text(index);
    } else {
      texts.emplace_back(unit.node->range.begin, copy.text(index));
    }
  }
  std::stable_sort(texts.begin(), texts.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [tile, size] : variant.tiles) {
    const std::string& constant = choices.tiles[tile].constant;
    if (!constant.empty()) text += fmt::format("{}_{} = {}\n", constant, names.group_id, size);
  }
  for (const auto& [place, definition] : texts) text += (text.empty() ? "" : "\n\n") + definition;
  return text + "\n\n" + forward;
}

}  // namespace ksplit
