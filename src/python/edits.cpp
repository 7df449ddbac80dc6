// SPDX-License-Identifier: Apache-2.0
#include "python/edits.h"

#include <fmt/format.h>

#include <iterator>

#include "core/check.h"

namespace ksplit {

void Edits::replace(ByteRange range, std::string text) {
  KSPLIT_CHECK(range.begin < range.end, fmt::format("empty range at byte {}", range.begin));
  const auto next = replacements_.lower_bound(range.begin);
  if (next != replacements_.end()) {
    const bool same =
        next->first == range.begin && next->second.end == range.end && next->second.text == text;
    if (same) return;
    KSPLIT_CHECK(next->first >= range.end,
                 fmt::format("edit of bytes {}..{} overlaps the one at {}", range.begin, range.end,
                             next->first));
  }
  if (next != replacements_.begin()) {
    const auto previous = std::prev(next);
    KSPLIT_CHECK(previous->second.end <= range.begin,
                 fmt::format("edit of bytes {}..{} overlaps {}..{}", range.begin, range.end,
                             previous->first, previous->second.end));
  }
  replacements_.emplace(range.begin, Replacement{range.end, std::move(text)});
}

void Edits::insert(std::size_t offset, std::string text) {
  const auto [first, last] = insertions_.equal_range(offset);
  for (auto it = first; it != last; ++it) {
    if (it->second == text) return;
  }
  insertions_.emplace(offset, std::move(text));
}

void Edits::override_range(ByteRange range, std::string text) {
  for (auto it = replacements_.lower_bound(range.begin);
       it != replacements_.end() && it->first < range.end;) {
    it = replacements_.erase(it);
  }
  insertions_.erase(insertions_.lower_bound(range.begin), insertions_.lower_bound(range.end));
  replace(range, std::move(text));
}

bool Edits::rewrites(std::size_t offset) const {
  const auto next = replacements_.upper_bound(offset);
  return next != replacements_.begin() && std::prev(next)->second.end > offset;
}

std::string Edits::apply(std::string_view text, ByteRange range) const {
  std::string result;
  std::size_t position = range.begin;
  auto insertion = insertions_.lower_bound(range.begin);
  const auto copy_until = [&](std::size_t end) {
    for (;
         insertion != insertions_.end() && insertion->first <= end && insertion->first <= range.end;
         ++insertion) {
      result.append(text.substr(position, insertion->first - position));
      result.append(insertion->second);
      position = insertion->first;
    }
    result.append(text.substr(position, end - position));
    position = end;
  };
  for (auto it = replacements_.lower_bound(range.begin);
       it != replacements_.end() && it->first < range.end; ++it) {
    KSPLIT_CHECK(it->second.end <= range.end, "an edit crosses the end of the range applied to");
    copy_until(it->first);
    result.append(it->second.text);
    position = it->second.end;
    KSPLIT_CHECK(insertion == insertions_.end() || insertion->first >= position,
                 "an insertion inside a replaced range");
  }
  copy_until(range.end);
  return result;
}

}  // namespace ksplit
