// SPDX-License-Identifier: Apache-2.0
#include "dispatch/emit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "python/edits.h"
#include "python/host_graph.h"
#include "python/kernels.h"
#include "python/layout.h"
#include "python/query.h"
#include "python/scopes.h"

namespace ksplit {
namespace {

constexpr const char* kModel = "ModelNew";
constexpr const char* kRoute = "_route";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string_view trim_lines(std::string_view text) {
  const std::size_t begin = text.find_first_not_of("\r\n");
  if (begin == std::string_view::npos) return {};
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return end == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

// ------------------------------------------------------------------ the header comment

// Words of `text` as comment lines; lines after the first are indented by `hang` more.
std::string comment(std::string_view text, std::size_t hang) {
  std::string result;
  std::string line = "#";
  for (std::size_t begin = 0; begin < text.size();) {
    // Leading blanks belong to the first word: they are the indentation of a list item.
    const std::size_t word = text.find_first_not_of(' ', begin);
    const std::size_t end = std::min(text.find(' ', word), text.size());
    const std::string_view piece = text.substr(begin, end - begin);
    if (line.size() > 1 && line.size() + 1 + piece.size() > kLineLength) {
      result += line + "\n";
      line = "#" + std::string(hang, ' ');
    }
    line += ' ';
    line += piece;
    begin = end + 1;
  }
  return result + line + "\n";
}

std::string parameters_text(const Candidate& candidate) {
  std::vector<std::string> items;
  items.reserve(candidate.parameters.size());
  for (const auto& [name, value] : candidate.parameters) {
    items.push_back(fmt::format("{}={}", name, to_python(value)));
  }
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string description(const Candidate& candidate) {
  std::string text = fmt::format("{}: {}", candidate.group_id, candidate.generator);
  if (!candidate.parameters.empty()) text += ", " + parameters_text(candidate);
  return text;
}

std::string header_comment(const PythonModule& base, const std::vector<Candidate>& candidates,
                           const Header& header, const std::string& base_class) {
  std::string text;
  if (!header.tool_version.empty()) {
    std::vector<std::string> versions;
    versions.reserve(header.versions.size());
    for (const auto& [name, version] : header.versions) {
      versions.push_back(fmt::format("{} {}", name, version));
    }
    std::string first = fmt::format("Written by ksplit {} on {} for {}", header.tool_version,
                                    header.date, header.device);
    if (!versions.empty()) first += fmt::format(" ({})", fmt::join(versions, ", "));
    text = comment(first + ".", 0) + "#\n";
  }
  text += comment(
      fmt::format("{} stands first, unchanged but for its class, here {}. Specialised kernels "
                  "follow, one per group of inputs. At the end, {}.{} picks one of them by the "
                  "input; {} serves every other input.",
                  std::filesystem::path(base.path).filename().string(), base_class, kModel, kRoute,
                  base_class),
      0);
  text += "#\n";
  if (!header.branches.empty()) {
    for (const std::string& branch : header.branches) text += comment("  " + branch, 4);
  } else {
    for (const Candidate& candidate : candidates) text += comment("  " + description(candidate), 4);
  }
  return text;
}

// How many bytes of `#!` and encoding lines must stay at the very top.
std::size_t preamble_size(std::string_view text) {
  std::size_t size = 0;
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    const bool shebang = number == 0 && line.starts_with("#!");
    const bool encoding = line.starts_with('#') && line.find("coding") != std::string_view::npos;
    if (++number > 2 || (!shebang && !encoding)) break;
    size = std::min(size + line.size() + 1, text.size());
  }
  return size;
}

// ------------------------------------------------------------------ the base

bool is_main_block(const PythonNode& statement) {
  if (statement.type != "If" || statement.child("test") == nullptr) return false;
  const PythonNode& test = *statement.child("test");
  const PythonNodes& right = list_of(test, "comparators");
  if (test.type != "Compare" || right.size() != 1) return false;
  const PythonNode* left = test.child("left");
  const auto is_main = [](const PythonNode* node) {
    const auto constant = constant_of(node);
    return constant && *constant == Literal("__main__");
  };
  return (is_name(*left, "__name__") && is_main(right.front().get())) ||
         (is_main(left) && is_name(*right.front(), "__name__"));
}

// The lines of a statement with the comment lines right above it.
ByteRange with_comments_above(std::string_view text, ByteRange range) {
  range = whole_lines(text, range);
  while (range.begin > 0) {
    const ByteRange above = whole_lines(text, {range.begin - 1, range.begin - 1});
    if (text[above.begin] != '#') break;
    range.begin = above.begin;
  }
  return range;
}

std::string free_identifier(const PythonModule& module, std::string name) {
  while (module.text.find(name) != std::string::npos) name += '_';
  return name;
}

// The base with its class renamed, `_route` out of the way, and main blocks cut out.
struct RenamedBase {
  std::string class_name;
  Edits edits;
  std::string main_blocks;
};

void rename_route(const PythonModule& base, Edits& edits) {
  const std::string free = free_identifier(base, "_route_base");
  const std::size_t size = std::string_view(kRoute).size();
  walk(*base.root, [&](const PythonNode& node) {
    if (is_function(node) && node.identifier("name") == kRoute) {
      edits.replace(name_range(base, node), free);
    }
    if (node.type == "Attribute" && node.identifier("attr") == kRoute &&
        node.range.begin != node.range.end) {
      edits.replace({node.range.end - size, node.range.end}, free);
    }
    return true;
  });
}

RenamedBase rename_base(const PythonModule& base) {
  RenamedBase renamed{free_identifier(base, "ModelBase"), {}, {}};
  std::vector<ByteRange> cut;
  for (const auto& statement : list_of(*base.root, "body")) {
    if (is_main_block(*statement)) cut.push_back(with_comments_above(base.text, statement->range));
  }
  const auto is_cut = [&](const PythonNode& node) {
    return std::any_of(cut.begin(), cut.end(), [&](const ByteRange& range) {
      return range.begin <= node.range.begin && node.range.end <= range.end;
    });
  };
  if (find_method(base, kModel, kRoute).method != nullptr) rename_route(base, renamed.edits);
  for (const PythonNode* statement : statements_of(*base.root)) {
    if (statement->type == "ClassDef" && statement->identifier("name") == kModel) {
      renamed.edits.replace(name_range(base, *statement), renamed.class_name);
    }
  }
  for_each_free_name(*base.root, [&](const PythonNode& name) {
    // The parts of an f-string have no position before Python 3.12; they see the split class.
    if (!is_name(name, kModel) || name.range.begin == name.range.end || is_cut(name)) return;
    renamed.edits.replace(name.range, renamed.class_name);
  });
  for (const ByteRange& range : cut) {
    renamed.main_blocks += "\n\n";
    renamed.main_blocks += trim_lines(renamed.edits.apply(base.text, range));
    renamed.main_blocks += '\n';
    // The blank lines above go too; those below now part what was around the block.
    const std::size_t code = range.begin == 0
                                 ? std::string::npos
                                 : base.text.find_last_not_of(" \t\r\n", range.begin - 1);
    const std::size_t begin =
        code == std::string::npos ? range.begin : whole_lines(base.text, {code, code}).end;
    renamed.edits.override_range({begin, range.end}, {});
  }
  return renamed;
}

// ------------------------------------------------------------------ imports

Result<std::vector<std::string>> missing_imports(const PythonModule& base,
                                                 const std::vector<Candidate>& candidates) {
  struct Required {
    const char* name;
    const char* meaning;
    const char* line;
  };
  static const Required kRequired[] = {{"torch", "torch", "import torch"},
                                       {"triton", "triton", "import triton"},
                                       {"tl", "triton.language", "import triton.language as tl"}};
  std::vector<std::string> missing;
  const auto bindings = module_bindings(base);
  for (const auto& [name, meaning, line] : kRequired) {
    const auto bound = bindings.find(name);
    if (bound == bindings.end()) {
      missing.emplace_back(line);
    } else if (imported_name(base, name) != meaning || bound->second.back()->type != "alias") {
      return fail(ErrorCode::unsupported,
                  fmt::format("{}:{}: `{}` is not {}, which the specialised kernels call so",
                              base.path, bound->second.back()->line, name, meaning),
                  "rename it in the base kernel");
    }
  }
  std::set<std::string> present(missing.begin(), missing.end());
  for (const PythonNode* statement : statements_of(*base.root)) {
    if (statement->type == "Import" || statement->type == "ImportFrom") {
      present.emplace(base.source_of(*statement));
    }
  }
  for (const Required& required : kRequired) present.emplace(required.line);
  for (const Candidate& candidate : candidates) {
    for (const std::string& line : candidate.imports) {
      if (present.insert(line).second) missing.push_back(line);
    }
  }
  return missing;
}

// Where imports may be added: below the docstring and the imports the file begins with.
std::size_t import_offset(const PythonModule& base, std::size_t preamble) {
  std::size_t offset = preamble;
  for (const auto& statement : list_of(*base.root, "body")) {
    const bool docstring = statement->type == "Expr" && offset == preamble &&
                           statement->child("value")->type == "Constant";
    if (!docstring && statement->type != "Import" && statement->type != "ImportFrom") break;
    offset = whole_lines(base.text, statement->range).end;
  }
  return offset;
}

// ------------------------------------------------------------------ the new class

// Names of the class body, which defaults of `forward` may use, are not visible in the new class.
Edits qualified_names(const FoundMethod& forward, const std::string& base_class) {
  Edits edits;
  const auto names = class_bindings(*forward.holder);
  const std::string holder = forward.holder->identifier("name");
  const auto qualify = [&](const PythonNode* expression) {
    if (expression == nullptr) return;
    for_each_free_name(*expression, [&](const PythonNode& name) {
      const std::string id = name.identifier("id");
      if (name.range.begin == name.range.end) return;
      if (names.count(id) != 0) {
        edits.replace(name.range, (holder == kModel ? base_class : holder) + "." + id);
      } else if (id == kModel) {
        edits.replace(name.range, base_class);
      }
    });
  };
  const std::vector<PythonParameter> parameters = parameters_of(*forward.method);
  for (const PythonParameter& parameter : parameters) {
    qualify(parameter.annotation);
    qualify(parameter.default_value);
  }
  qualify(forward.method->child("returns"));
  edits.override_range(parameters.front().node->range, "self");
  return edits;
}

std::string new_class(const PythonModule& base, const Task& task, const FoundMethod& forward,
                      const std::string& base_class, const std::string& route_body) {
  const Edits edits = qualified_names(forward, base_class);
  const std::vector<std::string> signature = signature_items(base, *forward.method, edits);
  const PythonNode* returns = forward.method->child("returns");
  const std::string tail =
      returns == nullptr ? "):" : fmt::format(") -> {}:", edits.apply(base.text, returns->range));
  std::string text = fmt::format("class {}({}):\n", kModel, base_class);
  text += fmt::format(
      "    \"\"\"Serves each input by the kernel specialised for it, else by {}.\"\"\"\n\n",
      base_class);
  text += "    " + layout_items("def forward", signature, tail, 4) + "\n";
  text += "        " +
          layout_items(fmt::format("return self.{}", kRoute), split_items(call_arguments(task)),
                       ")", 8) +
          "\n\n";
  text += "    " + layout_items(fmt::format("def {}", kRoute), signature, tail, 4) + "\n";
  for (const std::string_view line : lines_of(route_body)) {
    if (!line.empty()) text += fmt::format("        {}", line);
    text += '\n';
  }
  return text;
}

// Names that top-level statements of a candidate define.
std::vector<std::string> defined_names(std::string_view definitions) {
  std::vector<std::string> names;
  for (std::string_view line : lines_of(definitions)) {
    const bool definition = line.starts_with("def ") || line.starts_with("class ");
    if (definition) line.remove_prefix(line.find(' ') + 1);
    const std::size_t end =
        line.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (end == 0 || end == std::string_view::npos) continue;
    if (definition || line.substr(end).starts_with(" = ")) names.emplace_back(line.substr(0, end));
  }
  return names;
}

Status check_names(const PythonModule& base, const std::vector<Candidate>& candidates) {
  std::set<std::string> taken = {kModel};
  for (const auto& [name, binding] : module_bindings(base)) taken.insert(name);
  for (const Candidate& candidate : candidates) {
    for (const std::string& name : defined_names(candidate.definitions)) {
      if (taken.insert(name).second) continue;
      return fail(
          ErrorCode::unsupported,
          fmt::format("{}: the specialised kernel for {} defines `{}`, a name already taken",
                      base.path, candidate.group_id, name));
    }
  }
  return {};
}

}  // namespace

std::string call_arguments(const Task& task) {
  std::vector<std::string> items;
  for (const Parameter& parameter : task.parameters) {
    switch (parameter.kind) {
      case Parameter::Kind::positional: items.push_back(parameter.name); break;
      case Parameter::Kind::keyword_only:
        items.push_back(fmt::format("{0}={0}", parameter.name));
        break;
      case Parameter::Kind::var_positional: items.push_back("*" + parameter.name); break;
      case Parameter::Kind::var_keyword: items.push_back("**" + parameter.name); break;
    }
  }
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string host_call(const std::string& host, const Task& task) {
  const std::string arguments = call_arguments(task);
  return fmt::format("{}(self{}{})", host, arguments.empty() ? "" : ", ", arguments);
}

std::string base_call(const Task& task) {
  return fmt::format("super().forward({})", call_arguments(task));
}

Result<std::string> emit_file(const PythonModule& base, const Task& task,
                              const std::vector<Candidate>& candidates,
                              const std::string& route_body, const Header& header) {
  const FoundMethod forward = find_method(base, kModel, "forward");
  if (forward.method == nullptr || parameters_of(*forward.method).empty()) {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: no class {} with a forward method", base.path, kModel));
  }
  KSPLIT_TRY_STATUS(check_names(base, candidates));
  KSPLIT_TRY(const std::vector<std::string> imports, missing_imports(base, candidates));

  RenamedBase renamed = rename_base(base);
  const std::size_t preamble = preamble_size(base.text);
  std::string added;
  for (const std::string& line : imports) added += line + "\n";
  if (!added.empty()) renamed.edits.insert(import_offset(base, preamble), added);

  std::string text = base.text.substr(0, preamble);
  text += header_comment(base, candidates, header, renamed.class_name);
  text += '\n';
  text += trim_lines(renamed.edits.apply(base.text, {preamble, base.text.size()}));
  text += '\n';
  for (const Candidate& candidate : candidates) {
    text += "\n\n" + comment(description(candidate), 2);
    text += trim_lines(candidate.definitions);
    text += '\n';
  }
  text += "\n\n" + new_class(base, task, forward, renamed.class_name, route_body);
  return text + renamed.main_blocks;
}

Result<std::string> emit_candidate_file(const PythonModule& base, const Task& task,
                                        const Candidate& candidate, const Header& header) {
  const std::string body = layout_items(fmt::format("return {}", candidate.host),
                                        split_items("self, " + call_arguments(task)), ")", 8);
  // `layout_items` counts the class's indentation in; `emit_file` adds it to every line itself.
  std::string unindented;
  for (const std::string_view line : lines_of(body)) {
    unindented += line.starts_with("        ") ? line.substr(8) : line;
    unindented += '\n';
  }
  return emit_file(base, task, {candidate}, unindented, header);
}

}  // namespace ksplit
