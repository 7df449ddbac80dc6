// SPDX-License-Identifier: Apache-2.0
#include "generate/candidate.h"

#include <string_view>

namespace ksplit {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool carries(std::string_view name, std::string_view group_id) {
  if (!name.ends_with(group_id)) return false;
  name.remove_suffix(group_id.size());
  return name.empty() || name.back() == '_';
}

/// Names that are the group's id or end in it, wherever they stand: a docstring or a comment that
/// speaks of a kernel must follow its name.
std::string rename_words(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    std::string_view word = text.substr(at, end - at);
    if (carries(word, from)) {
      word.remove_suffix(from.size());
      out.append(word).append(to);
    } else {
      out.append(word);
    }
    if (end < text.size()) out += text[end++];
    at = end;
  }
  return out;
}

}  // namespace

Candidate renamed(const Candidate& candidate, const std::string& group_id) {
  Candidate copy = candidate;
  const std::string& from = candidate.group_id;
  copy.id = rename_words(candidate.id, from, group_id);
  copy.group_id = group_id;
  copy.definitions = rename_words(candidate.definitions, from, group_id);
  copy.host = rename_words(candidate.host, from, group_id);
  return copy;
}

}  // namespace ksplit
