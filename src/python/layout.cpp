// SPDX-License-Identifier: Apache-2.0
#include "python/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/check.h"

namespace ksplit {
namespace {

constexpr std::string_view kBlank = " \t\f";

// The end of the string literal or comment that begins at `i`; `i` where none begins there.
std::size_t skip_string_or_comment(std::string_view text, std::size_t i) {
  if (text[i] == '#') return std::min(text.find('\n', i), text.size());
  if (text[i] != '"' && text[i] != '\'') return i;
  const std::string quote(text.substr(i, 3) == std::string(3, text[i]) ? 3 : 1, text[i]);
  for (std::size_t j = i + quote.size(); j < text.size(); ++j) {
    if (text[j] == '\\') {
      ++j;
    } else if (text.substr(j, quote.size()) == quote) {
      return j + quote.size();
    }
  }
  return text.size();
}

// The bracket that closes the one at `open`.
std::size_t closing_bracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size();) {
    if (const std::size_t end = skip_string_or_comment(text, i); end != i) {
      i = end;
      continue;
    }
    if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
    if (text[i] == ')' || text[i] == ']' || text[i] == '}') --depth;
    if (depth == 0) return i;
    ++i;
  }
  KSPLIT_CHECK(false, fmt::format("no closing bracket for the one at byte {}", open));
}

std::size_t line_begin(std::string_view text, std::size_t offset) {
  const std::size_t newline = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

std::size_t line_end(std::string_view text, std::size_t offset) {
  const std::size_t newline = text.find('\n', offset);
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n\f");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n\f") - begin + 1));
}

}  // namespace

ByteRange whole_lines(std::string_view text, ByteRange range) {
  return {line_begin(text, range.begin), line_end(text, range.end)};
}

ByteRange definition_lines(const PythonModule& module, const PythonNode& definition) {
  ByteRange range = definition.range;
  for (const auto& decorator : list_of(definition, "decorator_list")) {
    range.begin = std::min(range.begin, decorator->range.begin);
  }
  return whole_lines(module.text, range);
}

ByteRange decorator_lines(const PythonModule& module, const PythonNode& decorator) {
  return {module.text.rfind('@', decorator.range.begin),
          line_end(module.text, decorator.range.end)};
}

ByteRange name_range(const PythonModule& module, const PythonNode& definition) {
  const std::string_view text = module.text;
  std::size_t begin = definition.range.begin;
  const auto skip_word = [&] {
    begin = text.find_first_of(kBlank, begin);
    begin = text.find_first_not_of(" \t\f\\\r\n", begin);
  };
  if (definition.type == "AsyncFunctionDef") skip_word();
  skip_word();
  return {begin, begin + definition.identifier("name").size()};
}

ByteRange parameter_list(const PythonModule& module, const PythonNode& function) {
  const std::string_view text = module.text;
  std::size_t open = text.find_first_of("([", name_range(module, function).end);
  if (text[open] == '[') open = text.find('(', closing_bracket(text, open));
  return {open, closing_bracket(text, open) + 1};
}

ByteRange argument_list(const PythonModule& module, const PythonNode& call) {
  const std::string_view text = module.text;
  std::size_t open = call.child("func")->range.end;
  while (text[open] != '(') {
    const std::size_t end = skip_string_or_comment(text, open);
    open = end == open ? open + 1 : end;
  }
  return {open, call.range.end};
}

ByteRange default_range(const PythonModule& module, const PythonParameter& parameter) {
  ByteRange range{parameter.node->range.end, parameter.node->range.end};
  if (parameter.default_value == nullptr) return range;
  const std::string_view text = module.text;
  int depth = 0;
  for (std::size_t i = range.begin;;) {
    if (const std::size_t end = skip_string_or_comment(text, i); end != i) {
      if (text[i] != '#') range.end = end;
      i = end;
      continue;
    }
    if (depth == 0 && (text[i] == ',' || text[i] == ')')) return range;
    if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
    if (text[i] == ')' || text[i] == ']' || text[i] == '}') --depth;
    ++i;
    if (std::string_view(" \t\r\n\\").find(text[i - 1]) == std::string_view::npos) range.end = i;
  }
}

std::string_view indentation_at(std::string_view text, std::size_t offset) {
  const std::size_t begin = line_begin(text, offset);
  const std::size_t end = std::min(text.find_first_not_of(kBlank, begin), text.size());
  return text.substr(begin, end - begin);
}

std::vector<std::string> split_items(std::string_view text) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t end = skip_string_or_comment(text, i); end != i) {
      i = end;
      continue;
    }
    if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
    if (text[i] == ')' || text[i] == ']' || text[i] == '}') --depth;
    if (text[i] == ',' && depth == 0) {
      items.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
    ++i;
  }
  if (std::string last = trimmed(text.substr(begin)); !last.empty()) items.push_back(last);
  return items;
}

std::vector<std::string> signature_items(const PythonModule& module, const PythonNode& function,
                                         const Edits& edits) {
  using Kind = PythonParameter::Kind;
  std::vector<std::string> items;
  bool seen_positional_only = false;
  bool seen_star = false;
  for (const PythonParameter& parameter : parameters_of(function)) {
    if (seen_positional_only && parameter.kind != Kind::positional_only) items.emplace_back("/");
    seen_positional_only = parameter.kind == Kind::positional_only;
    if (parameter.kind == Kind::keyword_only && !seen_star) items.emplace_back("*");
    seen_star |= parameter.kind == Kind::keyword_only || parameter.kind == Kind::var_positional;

    std::string item;
    if (parameter.kind == Kind::var_positional) item = "*";
    if (parameter.kind == Kind::var_keyword) item = "**";
    item += edits.apply(module.text, parameter.node->range);
    if (parameter.default_value != nullptr) {
      item += parameter.annotation == nullptr ? "=" : " = ";
      item += edits.apply(module.text, parameter.default_value->range);
    }
    items.push_back(std::move(item));
  }
  if (seen_positional_only) items.emplace_back("/");
  return items;
}

std::string layout_items(std::string_view head, const std::vector<std::string>& items,
                         std::string_view tail, std::size_t indent) {
  const std::string joined = fmt::format("{}", fmt::join(items, ", "));
  std::string line = fmt::format("{}({}{}", head, joined, tail);
  // An item of several lines is its author's layout.
  if (line.find('\n') != std::string::npos || indent + line.size() <= kLineLength) return line;
  const std::string outer(indent, ' ');
  const std::string inner(indent + 4, ' ');
  if (inner.size() + joined.size() <= kLineLength) {
    return fmt::format("{}(\n{}{}\n{}{}", head, inner, joined, outer, tail);
  }
  std::string text = fmt::format("{}(\n", head);
  for (const std::string& item : items) text += fmt::format("{}{},\n", inner, item);
  return text + outer + std::string(tail);
}

void dedent(const PythonModule& module, const PythonNode& definition, ByteRange range,
            std::size_t columns, Edits& edits) {
  if (columns == 0) return;
  std::vector<ByteRange> kept;  // strings whose lines are data
  walk(definition, [&](const PythonNode& node) {
    const PythonNode* value = node.type == "Expr" ? node.child("value") : nullptr;
    if (value != nullptr && value->type == "Constant") return false;  // a docstring
    if (node.type == "Constant" || node.type == "JoinedStr") kept.push_back(node.range);
    return true;
  });
  const std::string_view text = module.text;
  for (std::size_t line = range.begin; line < range.end; line = line_end(text, line)) {
    const bool data = std::any_of(kept.begin(), kept.end(), [&](const ByteRange& string) {
      return string.begin < line && line < string.end;
    });
    if (data || edits.rewrites(line)) continue;
    const std::size_t width = std::min(columns, indentation_at(text, line).size());
    if (width > 0) edits.erase({line, line + width});
  }
}

namespace {

// What stands before, inside and after the outermost brackets of a statement's first line.
struct Breakable {
  ByteRange whole;
  ByteRange brackets;
};

std::optional<Breakable> breakable(const PythonModule& module, const PythonNode& statement) {
  if (is_function(statement)) {
    const ByteRange brackets = parameter_list(module, statement);
    const PythonNode* returns = statement.child("returns");
    const std::size_t colon =
        module.text.find(':', returns == nullptr ? brackets.end : returns->range.end);
    return Breakable{{statement.range.begin, colon + 1}, brackets};
  }
  if (statement.type != "Expr" && statement.type != "Assign" && statement.type != "AnnAssign" &&
      statement.type != "Return") {
    return std::nullopt;
  }
  const PythonNode* value = statement.child("value");
  if (value == nullptr || value->type != "Call" || value->range.end != statement.range.end) {
    return std::nullopt;
  }
  return Breakable{statement.range, argument_list(module, *value)};
}

// Whether a statement is laid out as
//     head(
//         items
//     )tail
// without comments or a trailing comma: what black makes of it depends on its length alone.
bool items_on_their_own_line(std::string_view text, ByteRange whole, ByteRange brackets) {
  const std::string_view inside =
      text.substr(brackets.begin + 1, brackets.end - brackets.begin - 2);
  const std::string_view before = text.substr(whole.begin, brackets.begin - whole.begin);
  const std::string_view after = text.substr(brackets.end, whole.end - brackets.end);
  const std::string items = trimmed(inside);
  const std::string_view comments = "#\n";
  return inside.starts_with('\n') && !items.empty() && items.back() != ',' &&
         items.find_first_of(comments) == std::string::npos &&
         inside.find_last_of('\n') > inside.find(items) &&
         before.find('\n') == std::string_view::npos && after.find('\n') == std::string_view::npos;
}

}  // namespace

void wrap_long_lines(const PythonModule& module, const PythonNode& node, std::size_t columns,
                     Edits& edits) {
  const std::string_view text = module.text;
  walk(node, [&](const PythonNode& statement) {
    const std::optional<Breakable> found = breakable(module, statement);
    if (!found) return true;
    const auto [whole, brackets] = *found;
    const std::size_t indent = indentation_at(text, whole.begin).size();
    if (line_begin(text, whole.begin) + indent != whole.begin) return true;
    const std::size_t target = indent - std::min(indent, columns);
    const std::string after = edits.apply(text, whole);
    const std::string_view before = text.substr(whole.begin, whole.end - whole.begin);
    if (items_on_their_own_line(text, whole, brackets)) {
      if (target == indent && after == before) return true;
    } else if (before.find('\n') != std::string_view::npos ||
               indent + before.size() > kLineLength || target + after.size() <= kLineLength) {
      return true;
    }
    const std::string head = edits.apply(text, {whole.begin, brackets.begin});
    const std::string items = edits.apply(text, {brackets.begin + 1, brackets.end - 1});
    const std::string tail = ")" + edits.apply(text, {brackets.end, whole.end});
    edits.override_range(whole, layout_items(head, split_items(items), tail, target));
    return is_function(statement);
  });
}

}  // namespace ksplit
