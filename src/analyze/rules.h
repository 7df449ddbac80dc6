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
// which kernel serves which of them. Files are TOML (docs/experience.md); those in `experience/`
// are part of the binary, and a user's are tried first.

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
  std::string open;  // of a list feature: another one with items that are neither in it nor out of
                     // it, so that two lists are alike if they differ in open items only; or empty
  bool label_if_divided = false;  // in ids only where it tells two groups apart
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

/// The kernel family in JoinStep::differ.
inline constexpr std::string_view kKernelDimension = "kernel";

/// Which group a group that is too small may join: one that differs in nothing but these
/// dimensions, by at most `distance` in each (neighbouring classes are 1 apart, values of a text
/// feature too, lists as many items as only one of them has), and has equal features `same`. Of
/// several, one that is too small itself comes first, then the nearest, the biggest and the
/// earliest.
struct JoinStep {
  std::vector<std::string> differ;  // dimensions, kKernelDimension
  std::vector<std::string> same;
  int distance = 1;
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
  // A group of fewer than `min_group` cases joins another one by the first step that finds one.
  // Without any it stands alone.
  int min_group = 2;
  std::vector<JoinStep> join;
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
