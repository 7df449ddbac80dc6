// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <initializer_list>

#include "analyze/rules.h"

namespace ksplit {
namespace {

constexpr std::int64_t kLargestCount = 1'000'000;

/// Reads a rule file and keeps the first error; after one, every read gives a harmless value, so
/// that the code below states the format and nothing else.
class RuleReader {
 public:
  explicit RuleReader(std::string file) : file_(std::move(file)) {}

  Result<RuleSet> read(const toml::table& root);

 private:
  Rule rule(const toml::table& table);
  void hit(const toml::table& table, Rule& rule);
  void merge(const toml::table& table, Rule& rule);
  Dimension dimension(const toml::table& table);
  Dimension::Class dimension_class(const toml::table& table, const FeatureInfo& feature);
  KernelRule kernel(const toml::table& table);
  std::vector<BlockRule> block_rules(const toml::table& table);
  std::vector<std::map<std::string, std::int64_t>> block_sizes(const toml::table& table);
  JoinStep join(const toml::table& table, const Rule& rule);

  Conditions conditions(const toml::table* table);
  Condition condition(const toml::node& node, const FeatureInfo& feature);
  void comparison(const toml::node& node, std::string_view text, Condition& condition);
  FeatureInfo feature(const toml::node* name_node, std::string_view name);
  Literal literal(const toml::node& node);

  void allow(const toml::table& table, std::initializer_list<std::string_view> keys);
  std::string text(const toml::table& table, std::string_view key, bool required);
  std::string identifier(const toml::table& table, std::string_view key);
  int count(const toml::table& table, std::string_view key, int missing);
  bool flag(const toml::table& table, std::string_view key);
  std::vector<std::string> words(const toml::table& table, std::string_view key);
  std::vector<std::string> words_in(const toml::node& node);
  const toml::table* sub_table(const toml::table& table, std::string_view key);
  std::vector<const toml::table*> tables(const toml::table& table, std::string_view key);

  void reject(const toml::node& node, std::string message, std::string hint = {}) {
    if (error_) return;
    const toml::source_position& at = node.source().begin;
    error_ = Error{ErrorCode::input_malformed,
                   std::move(message),
                   SourceSpan{file_, static_cast<int>(at.line), static_cast<int>(at.column)},
                   {},
                   std::move(hint)};
  }

  std::string file_;
  std::optional<Error> error_;
};

Result<RuleSet> RuleReader::read(const toml::table& root) {
  allow(root, {"rule"});
  RuleSet set;
  for (const toml::table* table : tables(root, "rule")) set.rules.push_back(rule(*table));
  if (error_) return fail(*error_);
  return set;
}

Rule RuleReader::rule(const toml::table& table) {
  allow(table, {"name", "prefix", "hit", "cases", "dimension", "kernel", "merge"});
  Rule rule;
  rule.name = identifier(table, "name");
  rule.prefix = identifier(table, "prefix");
  if (const toml::table* part = sub_table(table, "hit")) {
    hit(*part, rule);
  } else {
    reject(table, fmt::format("rule `{}` has no `hit`", rule.name));
  }
  rule.cases = conditions(sub_table(table, "cases"));
  for (const toml::table* part : tables(table, "dimension")) {
    rule.dimensions.push_back(dimension(*part));
  }
  for (const toml::table* part : tables(table, "kernel")) rule.kernels.push_back(kernel(*part));
  if (rule.kernels.empty()) reject(table, fmt::format("rule `{}` has no `kernel`", rule.name));
  if (const toml::table* part = sub_table(table, "merge")) merge(*part, rule);
  return rule;
}

void RuleReader::hit(const toml::table& table, Rule& rule) {
  allow(table, {"contains", "only", "min_cases", "differs_in"});
  rule.contains = words(table, "contains");
  rule.only = words(table, "only");
  if (rule.contains.empty() && rule.only.empty()) {
    reject(table, "`hit` names no operation", "give `contains` or `only` with ATen names");
  }
  rule.min_cases = count(table, "min_cases", rule.min_cases);
  const std::string differing = text(table, "differs_in", false);
  if (!differing.empty()) rule.differs_in = feature(table.get("differs_in"), differing).name;
}

void RuleReader::merge(const toml::table& table, Rule& rule) {
  allow(table, {"min_group", "join"});
  rule.min_group = count(table, "min_group", rule.min_group);
  for (const toml::table* part : tables(table, "join")) rule.join.push_back(join(*part, rule));
}

JoinStep RuleReader::join(const toml::table& table, const Rule& rule) {
  allow(table, {"differ", "same", "distance"});
  JoinStep step;
  step.differ = words(table, "differ");
  for (const std::string& name : step.differ) {
    const bool known =
        std::any_of(rule.dimensions.begin(), rule.dimensions.end(),
                    [&](const Dimension& dimension) { return dimension.name == name; });
    if (!known && name != kKernelDimension) {
      reject(*table.get("differ"), fmt::format("rule `{}` has no dimension `{}`", rule.name, name));
    }
  }
  step.same = words(table, "same");
  for (const std::string& name : step.same) feature(table.get("same"), name);
  if (const toml::node* node = table.get("distance")) {
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < 0 || *value > kLargestCount) {
      reject(*node, "`distance` must be a number from 0 on");
    }
    step.distance = static_cast<int>(value.value_or(0));
  }
  return step;
}

Dimension RuleReader::dimension(const toml::table& table) {
  allow(table, {"name", "feature", "classes", "label", "alike", "open", "label_if_divided"});
  Dimension dimension;
  dimension.name = identifier(table, "name");
  const std::string name = text(table, "feature", true);
  const FeatureInfo info = feature(table.get("feature"), name);
  dimension.feature = info.name;
  for (const toml::table* part : tables(table, "classes")) {
    dimension.classes.push_back(dimension_class(*part, info));
  }
  if (const toml::node* label = table.get("label")) {
    dimension.label = text(table, "label", true);
    if (dimension.label.find("{}") == std::string::npos || !dimension.classes.empty()) {
      reject(*label, "`label` must hold `{}` for the value, and classes have labels of their own");
    }
  }
  if (const toml::node* node = table.get("alike")) {
    const toml::array* lists = node->as_array();
    if (!lists || info.kind != FeatureInfo::Kind::text || !dimension.classes.empty()) {
      reject(*node, "`alike` is a list of lists of values of a text feature without classes");
    } else {
      for (const toml::node& list : *lists) dimension.alike.push_back(words_in(list));
    }
  }
  if (const toml::node* open = table.get("open")) {
    dimension.open = text(table, "open", true);
    const bool lists = info.kind == FeatureInfo::Kind::list &&
                       feature(open, dimension.open).kind == FeatureInfo::Kind::list;
    if (!lists) reject(*open, "`open` names a list feature, for a list feature");
  }
  dimension.label_if_divided = flag(table, "label_if_divided");
  return dimension;
}

Dimension::Class RuleReader::dimension_class(const toml::table& table, const FeatureInfo& info) {
  allow(table, {"label", "test"});
  Dimension::Class one;
  one.label = identifier(table, "label");
  if (const toml::node* test = table.get("test")) {
    one.test = condition(*test, info);
  } else {
    reject(table, fmt::format("class `{}` has no `test`", one.label));
  }
  return one;
}

KernelRule RuleReader::kernel(const toml::table& table) {
  allow(table, {"family", "when", "blocks"});
  KernelRule kernel;
  kernel.family = text(table, "family", true);
  kernel.when = conditions(sub_table(table, "when"));
  for (const toml::table* part : tables(table, "blocks")) {
    std::vector<BlockRule> rules = block_rules(*part);
    std::move(rules.begin(), rules.end(), std::back_inserter(kernel.blocks));
  }
  return kernel;
}

std::vector<BlockRule> RuleReader::block_rules(const toml::table& table) {
  allow(table, {"when", "sizes"});
  const Conditions when = conditions(sub_table(table, "when"));
  const toml::table* sizes = sub_table(table, "sizes");
  if (!sizes) {
    reject(table, "a block configuration has no `sizes`");
    return {};
  }
  std::vector<BlockRule> rules;
  for (auto& blocks : block_sizes(*sizes)) rules.push_back({when, std::move(blocks)});
  return rules;
}

/// Every combination of the sizes listed for each parameter, the last parameter varying fastest.
std::vector<std::map<std::string, std::int64_t>> RuleReader::block_sizes(const toml::table& table) {
  std::vector<std::map<std::string, std::int64_t>> combinations = {{}};
  for (const auto& entry : table) {
    const std::string name(entry.first.str());
    const toml::node& node = entry.second;
    std::vector<std::int64_t> values;
    const auto add = [&](const toml::node& item) {
      const auto value = item.value_exact<std::int64_t>();
      if (!value || *value < 1) reject(item, fmt::format("`{}` must be sizes above 0", name));
      values.push_back(value.value_or(1));
    };
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& item : *list) add(item);
    } else {
      add(node);
    }
    std::vector<std::map<std::string, std::int64_t>> longer;
    for (const auto& combination : combinations) {
      for (const std::int64_t value : values) {
        longer.push_back(combination);
        longer.back()[name] = value;
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

Conditions RuleReader::conditions(const toml::table* table) {
  Conditions conditions;
  if (!table) return conditions;
  for (const auto& [key, node] : *table) {
    conditions[std::string(key.str())] = condition(node, feature(&node, key.str()));
  }
  return conditions;
}

Condition RuleReader::condition(const toml::node& node, const FeatureInfo& info) {
  Condition condition;
  const auto word = node.value_exact<std::string_view>();
  if (word && info.kind == FeatureInfo::Kind::integer) {
    comparison(node, *word, condition);
    return condition;
  }
  condition.value = literal(node);
  condition.text = word ? std::string(*word) : to_python(condition.value);
  const bool fits = (info.kind == FeatureInfo::Kind::integer && condition.value.as_int()) ||
                    (info.kind == FeatureInfo::Kind::boolean && condition.value.as_bool()) ||
                    (info.kind == FeatureInfo::Kind::text && condition.value.as_string()) ||
                    (info.kind == FeatureInfo::Kind::list && condition.value.as_list());
  if (!fits) {
    constexpr std::string_view kKinds[] = {"an integer or a comparison", "true or false",
                                           "a string", "a list"};
    reject(node, fmt::format("the test of `{}` must be {}", info.name,
                             kKinds[static_cast<std::size_t>(info.kind)]));
  }
  return condition;
}

/// "< 256", "<= 256", "> 1", ">= 2", "256..4096".
void RuleReader::comparison(const toml::node& node, std::string_view text, Condition& condition) {
  const auto wrong = [&] {
    reject(node, fmt::format("`{}` is no comparison", text),
           "write \"< 256\", \"<= 256\", \"> 1\", \">= 2\" or \"256..4096\"");
  };
  const auto number = [&](std::string_view digits) {
    while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
    while (!digits.empty() && digits.back() == ' ') digits.remove_suffix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) wrong();
    return value;
  };
  if (const auto dots = text.find(".."); dots != std::string_view::npos) {
    condition.kind = Condition::Kind::within;
    condition.value = number(text.substr(0, dots));
    condition.upper = number(text.substr(dots + 2));
    condition.text = fmt::format("{}..{}", *condition.value.as_int(), condition.upper);
    if (condition.upper < *condition.value.as_int()) wrong();
    return;
  }
  constexpr std::pair<std::string_view, Condition::Kind> kOperators[] = {
      {"<=", Condition::Kind::at_most},
      {">=", Condition::Kind::at_least},
      {"<", Condition::Kind::below},
      {">", Condition::Kind::above}};
  for (const auto& [sign, kind] : kOperators) {
    if (!text.starts_with(sign)) continue;
    condition.kind = kind;
    condition.value = number(text.substr(sign.size()));
    condition.text = fmt::format("{}{}", sign, *condition.value.as_int());
    return;
  }
  wrong();
}

FeatureInfo RuleReader::feature(const toml::node* name_node, std::string_view name) {
  std::vector<std::string_view> names;
  for (const FeatureInfo& info : feature_table()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  if (name_node) {
    reject(*name_node, fmt::format("unknown feature `{}`", name),
           fmt::format("features are {}", fmt::join(names, ", ")));
  }
  return {};
}

Literal RuleReader::literal(const toml::node& node) {
  if (const auto value = node.value_exact<bool>()) return *value;
  if (const auto value = node.value_exact<std::int64_t>()) return *value;
  if (const auto value = node.value_exact<std::string>()) return *value;
  Literal::List list;
  if (const toml::array* array = node.as_array()) {
    for (const toml::node& item : *array) list.push_back(literal(item));
  } else {
    reject(node, "expected true, false, an integer, a string or a list of them");
  }
  return Literal{std::move(list)};
}

void RuleReader::allow(const toml::table& table, std::initializer_list<std::string_view> keys) {
  for (const auto& [key, node] : table) {
    if (std::find(keys.begin(), keys.end(), key.str()) == keys.end()) {
      reject(node, fmt::format("unknown key `{}`", key.str()),
             fmt::format("keys here are {}", fmt::join(keys.begin(), keys.end(), ", ")));
    }
  }
}

std::string RuleReader::text(const toml::table& table, std::string_view key, bool required) {
  const toml::node* node = table.get(key);
  if (!node) {
    if (required) reject(table, fmt::format("no `{}` here", key));
    return {};
  }
  const auto value = node->value_exact<std::string>();
  if (!value || value->empty()) reject(*node, fmt::format("`{}` must be a string", key));
  return value.value_or("");
}

/// Text that can be part of a Python identifier.
std::string RuleReader::identifier(const toml::table& table, std::string_view key) {
  std::string word = text(table, key, true);
  const bool fits = std::all_of(word.begin(), word.end(),
                                [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (!fits) {
    reject(*table.get(key),
           fmt::format("`{}` must consist of letters, digits and _, not `{}`", key, word));
  }
  return word;
}

int RuleReader::count(const toml::table& table, std::string_view key, int missing) {
  const toml::node* node = table.get(key);
  if (!node) return missing;
  const auto value = node->value_exact<std::int64_t>();
  if (!value || *value < 1 || *value > kLargestCount) {
    reject(*node, fmt::format("`{}` must be a number from 1 on", key));
    return missing;
  }
  return static_cast<int>(*value);
}

bool RuleReader::flag(const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  if (!node) return false;
  const auto value = node->value_exact<bool>();
  if (!value) reject(*node, fmt::format("`{}` must be true or false", key));
  return value.value_or(false);
}

std::vector<std::string> RuleReader::words(const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  return node ? words_in(*node) : std::vector<std::string>{};
}

std::vector<std::string> RuleReader::words_in(const toml::node& node) {
  std::vector<std::string> words;
  const toml::array* list = node.as_array();
  if (!list) {
    reject(node, "expected a list of strings");
    return words;
  }
  for (const toml::node& item : *list) {
    const auto word = item.value_exact<std::string>();
    if (!word) reject(item, "expected a string");
    words.push_back(word.value_or(""));
  }
  return words;
}

const toml::table* RuleReader::sub_table(const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  if (node && !node->is_table()) reject(*node, fmt::format("`{}` must be a table", key));
  return node ? node->as_table() : nullptr;
}

std::vector<const toml::table*> RuleReader::tables(const toml::table& table, std::string_view key) {
  std::vector<const toml::table*> list;
  const toml::node* node = table.get(key);
  if (!node) return list;
  const toml::array* array = node->as_array();
  if (!array) {
    reject(*node, fmt::format("`{}` must be a list of tables", key));
    return list;
  }
  for (const toml::node& item : *array) {
    if (!item.is_table()) reject(item, fmt::format("`{}` must be a list of tables", key));
    if (item.is_table()) list.push_back(item.as_table());
  }
  return list;
}

}  // namespace

Result<RuleSet> parse_rules(std::string_view text, const std::string& file) {
  try {
    const toml::table root = toml::parse(text, file);
    return RuleReader(file).read(root);
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    return fail({ErrorCode::input_malformed, std::string(error.description()),
                 SourceSpan{file, static_cast<int>(at.line), static_cast<int>(at.column)}});
  }
}

}  // namespace ksplit
