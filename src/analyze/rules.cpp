// SPDX-License-Identifier: Apache-2.0
#include "analyze/rules.h"

#include <algorithm>

#include "analyze/embedded_rules.h"
#include "core/check.h"
#include "core/files.h"

namespace ksplit {

bool Condition::holds(const Literal& feature) const {
  if (kind == Kind::equals) return feature == value;
  const std::int64_t* number = feature.as_int();
  const std::int64_t* bound = value.as_int();
  if (!number || !bound) return false;
  switch (kind) {
    case Kind::below: return *number < *bound;
    case Kind::at_most: return *number <= *bound;
    case Kind::above: return *number > *bound;
    case Kind::at_least: return *number >= *bound;
    case Kind::within: return *bound <= *number && *number <= upper;
    case Kind::equals: break;
  }
  return false;
}

bool hold(const Conditions& conditions, const Features& features) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const auto& entry) {
    const auto feature = features.find(entry.first);
    return feature != features.end() && entry.second.holds(feature->second);
  });
}

Result<RuleSet> load_rules(const std::vector<std::filesystem::path>& user_files) {
  RuleSet all;
  const auto append = [&](RuleSet more) {
    std::move(more.rules.begin(), more.rules.end(), std::back_inserter(all.rules));
  };
  for (const std::filesystem::path& file : user_files) {
    KSPLIT_TRY(const std::string text, read_file(file));
    KSPLIT_TRY(RuleSet rules, parse_rules(text, file.string()));
    append(std::move(rules));
  }
  for (const EmbeddedRules& embedded : embedded_rules()) {
    auto rules = parse_rules(embedded.text, std::string(embedded.file));
    KSPLIT_CHECK(rules, "a rule file of the binary is malformed: " + std::string(embedded.file));
    append(std::move(*rules));
  }
  return all;
}

}  // namespace ksplit
