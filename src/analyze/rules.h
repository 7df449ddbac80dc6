// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/features.h"
#include "core/literal.h"
#include "core/result.h"

namespace ksplit {

// Experience as data: which operators a rule knows, along which features their cases differ, and
// which kernel serves which of them. Files are TOML; those in `experience/` are part of the binary
// and their head comments are the format's reference. A user's files are tried first.

/// A test on one feature, written in rule files as "< 256", "<= 4096", "> 1", "256..4096" (both
/// ends included), or as a plain TOML value that must be equal.
struct Condition {
  enum class Kind { equals, below, at_most, above, at_least, within };
  Kind kind = Kind::equals;
  Literal value;           // bound, or lower bound
  std::int64_t upper = 0;  // within
  std::string text;        // as printed in groups.json: "<256", "256..4096"

  bool holds(const Literal& feature) const;
};

/// Features and what they must satisfy; a case without the feature does not.
using Conditions = std::map<std::string, Condition, std::less<>>;
bool hold(const Conditions& conditions, const Features& features);

/// One way in which cases of a rule differ. Either classes (the first that holds; ordered, so that
/// neighbours are classes side by side), or every value is a class of its own.
struct Dimension {
  struct Class {
    std::string label;  // part of group ids
    Condition test;
  };
  std::string feature;
  std::string name;  // in groups.json
  std::vector<Class> classes;
  std::string label = "{}";                     // without classes: the label, {} is the value
  std::vector<std::vector<std::string>> alike;  // values that count as one ("float16", "bfloat16")
  bool label_if_divided = false;                // in ids only where it tells two groups apart
};

/// Block sizes that must be among the candidates of a kernel when some case of the group fits.
struct BlockRule {
  Conditions when;
  std::map<std::string, std::int64_t> blocks;
};

struct KernelRule {
  Conditions when;     // the first that holds for a case gives its kernel
  std::string family;  // "reduce-last"
  std::vector<BlockRule> blocks;
};

struct Rule {
  std::string name;    // "reduction"
  std::string prefix;  // group ids: grp_<prefix>_<labels>
  // Hit test, on the reference's operations without views.
  std::vector<std::string> contains;  // some operation of every case is one of these
  std::vector<std::string> only;      // every operation is one of these
  int min_cases = 2;
  std::optional<std::string> differs_in;  // a feature that is not the same on all cases
  // Which cases it groups, and how.
  Conditions cases;
  std::vector<Dimension> dimensions;
  std::vector<KernelRule> kernels;
  // Merging: a group of fewer than `min_group` cases joins the nearest group with the same kernel
  // that differs from it in `join` dimensions only, by at most `join_distance` in each; an earlier
  // dimension is given up before a later one. Without such a group it stands alone.
  int min_group = 2;
  std::vector<std::string> join;
  int join_distance = 1;
};

struct RuleSet {
  std::vector<Rule> rules;  // in the order they are tried
};

/// Errors: input-malformed with file, line and column, naming the key and what is accepted.
Result<RuleSet> parse_rules(std::string_view text, const std::string& file);

/// The user's files, in the order given, then those of the binary. Errors: input-missing and those
/// of `parse_rules`.
Result<RuleSet> load_rules(const std::vector<std::filesystem::path>& user_files);

}  // namespace ksplit
