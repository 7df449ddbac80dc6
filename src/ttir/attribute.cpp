// SPDX-License-Identifier: Apache-2.0
#include "ttir/attribute.h"

#include <algorithm>

namespace ksplit::ttir {
namespace {

auto position(const std::vector<NamedAttribute>& entries, std::string_view name) {
  return std::lower_bound(
      entries.begin(), entries.end(), name,
      [](const NamedAttribute& entry, std::string_view key) { return entry.name < key; });
}

}  // namespace

const Attribute* Dictionary::find(std::string_view name) const {
  const auto at = position(entries, name);
  return at != entries.end() && at->name == name ? &at->value : nullptr;
}

void Dictionary::set(std::string name, Attribute value) {
  const auto at = position(entries, name);
  const auto mutable_at = entries.begin() + (at - entries.cbegin());
  if (at != entries.end() && at->name == name) {
    mutable_at->value = std::move(value);
  } else {
    entries.insert(mutable_at, NamedAttribute{std::move(name), std::move(value)});
  }
}

void Dictionary::erase(std::string_view name) {
  const auto at = position(entries, name);
  if (at != entries.end() && at->name == name) entries.erase(at);
}

}  // namespace ksplit::ttir
