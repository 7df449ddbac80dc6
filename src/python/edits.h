// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "python/module.h"

namespace ksplit {

/// Changes to a source text, by range, all relative to the original text and made in one go, so
/// that everything that is not named stays as its author wrote it.
///
/// Two edits may touch but not overlap; overlapping ones are a bug of the caller (InternalError).
/// Insertions at one offset appear in the order they were made, before a replacement that begins
/// there. Repeating an edit exactly has no effect.
class Edits {
 public:
  void replace(ByteRange range, std::string text);
  void insert(std::size_t offset, std::string text);
  void erase(ByteRange range) { replace(range, {}); }

  /// Drops the edits inside `range` and replaces it as a whole.
  void override_range(ByteRange range, std::string text);

  /// Whether some edit rewrites the byte at `offset`.
  bool rewrites(std::size_t offset) const;

  bool empty() const { return replacements_.empty() && insertions_.empty(); }

  /// The text of `range` after the edits inside it.
  std::string apply(std::string_view text, ByteRange range) const;
  std::string apply(std::string_view text) const { return apply(text, {0, text.size()}); }

 private:
  struct Replacement {
    std::size_t end;
    std::string text;
  };
  std::map<std::size_t, Replacement> replacements_;  // by first byte
  std::multimap<std::size_t, std::string> insertions_;
};

}  // namespace ksplit
