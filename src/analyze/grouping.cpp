// SPDX-License-Identifier: Apache-2.0
#include "analyze/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include "analyze/bottleneck.h"
#include "analyze/operands.h"
#include "core/check.h"

namespace ksplit {
namespace {

// ---- Hit test
// -------------------------------------------------------------------------------------

bool contains_one_of(const ReferenceGraph& graph, const std::vector<std::string>& bases) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const OperationNode& node) {
    return std::find(bases.begin(), bases.end(), base_name(node.op)) != bases.end();
  });
}

bool consists_of(const ReferenceGraph& graph, const std::vector<std::string>& bases) {
  bool works = false;
  for (const OperationNode& node : graph.nodes) {
    const std::string_view base = base_name(node.op);
    if (is_view(base)) continue;
    works = true;
    if (std::find(bases.begin(), bases.end(), base) == bases.end()) return false;
  }
  return works;
}

bool cases_differ(const std::vector<Features>& features, const std::string& name) {
  const auto value = [&](const Features& one) {
    const auto found = one.find(name);
    return found == one.end() ? Literal{} : found->second;
  };
  return std::any_of(features.begin(), features.end(),
                     [&](const Features& one) { return value(one) != value(features.front()); });
}

bool hits(const Rule& rule, const std::vector<ReferenceGraph>& graphs,
          const std::vector<Features>& features) {
  if (static_cast<int>(graphs.size()) < rule.min_cases) return false;
  if (rule.differs_in && !cases_differ(features, *rule.differs_in)) return false;
  return std::all_of(graphs.begin(), graphs.end(), [&](const ReferenceGraph& graph) {
    return (rule.contains.empty() || contains_one_of(graph, rule.contains)) &&
           (rule.only.empty() || consists_of(graph, rule.only));
  });
}

// ---- Where a case lies in a rule's dimensions
// -----------------------------------------------------

/// A case's place along one dimension. `rank` orders places; with classes it is the class.
struct Place {
  std::int64_t rank = 0;
  Literal value;       // without classes: the feature, or the first of the values alike
  Literal::List open;  // items that a list may as well have (Dimension::open)
};

bool has(const Literal::List& list, const Literal& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::string value_text(const Literal& value, const char* separator) {
  if (const std::string* text = value.as_string()) return *text;
  const Literal::List* list = value.as_list();
  if (!list) return to_python(value);
  std::string text;
  for (const Literal& item : *list)
    text += (text.empty() ? "" : separator) + value_text(item, separator);
  return text;
}

std::optional<Place> place_of(const Dimension& dimension, const Features& features) {
  const auto found = features.find(dimension.feature);
  if (found == features.end()) return std::nullopt;
  for (std::size_t c = 0; c < dimension.classes.size(); ++c) {
    if (dimension.classes[c].test.holds(found->second)) {
      return Place{static_cast<std::int64_t>(c), {}, {}};
    }
  }
  if (!dimension.classes.empty()) return std::nullopt;
  Literal value = found->second;
  if (const std::string* text = value.as_string()) {
    for (const auto& alike : dimension.alike) {
      if (std::find(alike.begin(), alike.end(), *text) != alike.end()) value = alike.front();
    }
  }
  Place place{value.as_int() ? *value.as_int() : 0, std::move(value), {}};
  const auto open = features.find(dimension.open);
  if (open != features.end()) place.open = *open->second.as_list();
  return place;
}

bool same_place(const Place& a, const Place& b) {
  return a.rank == b.rank && a.value == b.value;
}

/// How far two places lie apart: classes and integers by their difference, lists by the items that
/// only one of them has and that are not open in the other, anything else 0 or 1.
std::int64_t distance(const Place& a, const Place& b) {
  const Literal::List* x = a.value.as_list();
  const Literal::List* y = b.value.as_list();
  if (x && y) {
    const auto missing = [](const Literal::List& from, const Literal::List& in,
                            const Literal::List& open) {
      return std::count_if(from.begin(), from.end(),
                           [&](const Literal& item) { return !has(in, item) && !has(open, item); });
    };
    return missing(*x, *y, b.open) + missing(*y, *x, a.open);
  }
  if (a.rank != b.rank) return std::abs(a.rank - b.rank);
  return a.value == b.value ? 0 : 1;
}

/// The place of a group that takes in cases from another place. Where open items were what made the
/// two alike, they are decided now.
Place united(Place place, const Place& joining) {
  Literal::List* list = std::get_if<Literal::List>(&place.value.value);
  if (!list || distance(place, joining) != 0) return place;
  for (const Literal& item : *joining.value.as_list()) {
    if (!has(*list, item)) list->push_back(item);
  }
  std::erase_if(place.open,
                [&](const Literal& item) { return has(*list, item) || !has(joining.open, item); });
  return place;
}

/// Cases that agree in every dimension, and those that joined them.
struct Cell {
  std::size_t kernel = 0;            // position in Rule::kernels
  std::vector<Place> places;         // one a dimension; of the cases that did not join
  std::vector<std::size_t> members;  // positions in the task, ascending
  bool stands_alone = false;
};

bool same_cell(const Cell& a, const Cell& b) {
  return a.kernel == b.kernel &&
         std::equal(a.places.begin(), a.places.end(), b.places.begin(), same_place);
}

/// Order of groups: kernels as the rule lists them, then place by place.
bool comes_before(const Cell& a, const Cell& b) {
  if (a.kernel != b.kernel) return a.kernel < b.kernel;
  for (std::size_t d = 0; d < a.places.size(); ++d) {
    if (a.places[d].rank != b.places[d].rank) return a.places[d].rank < b.places[d].rank;
    const std::string x = value_text(a.places[d].value, "_");
    const std::string y = value_text(b.places[d].value, "_");
    if (x != y) return x < y;
  }
  return a.members.front() < b.members.front();
}

/// Not small itself, how far apart, minus how many cases, first case: the least is best.
using JoinCost = std::tuple<bool, std::int64_t, std::int64_t, std::size_t>;

// ---- The cells of one rule
// ------------------------------------------------------------------------

class RuleGrouping {
 public:
  RuleGrouping(const Rule& rule, const Task& task, const std::vector<Features>& features,
               const PerfResult& perf)
      : rule_(rule), task_(task), features_(features), perf_(perf) {}

  /// Takes the cases that are still free and that the rule covers.
  Result<std::vector<Group>> groups(std::vector<bool>& taken) {
    for (std::size_t c = 0; c < features_.size(); ++c) {
      if (taken[c]) continue;
      KSPLIT_TRY(const bool added, add(c));
      taken[c] = added;
    }
    join_small_cells();
    std::sort(cells_.begin(), cells_.end(), comes_before);
    std::vector<Group> groups;
    groups.reserve(cells_.size());
    for (const Cell& cell : cells_) groups.push_back(group_of(cell));
    return groups;
  }

 private:
  Result<bool> add(std::size_t c) {
    if (!hold(rule_.cases, features_[c])) return false;
    Cell cell;
    for (const Dimension& dimension : rule_.dimensions) {
      auto place = place_of(dimension, features_[c]);
      if (!place) return false;
      cell.places.push_back(std::move(*place));
    }
    const auto kernel = std::find_if(
        rule_.kernels.begin(), rule_.kernels.end(),
        [&](const KernelRule& candidate) { return hold(candidate.when, features_[c]); });
    if (kernel == rule_.kernels.end()) {
      return fail(ErrorCode::input_malformed,
                  fmt::format("rule `{}` takes case {} and has no kernel for it", rule_.name,
                              task_.cases[c].index),
                  "add a `kernel` without `when` as the last one");
    }
    cell.kernel = static_cast<std::size_t>(kernel - rule_.kernels.begin());
    const auto found = std::find_if(cells_.begin(), cells_.end(),
                                    [&](const Cell& other) { return same_cell(cell, other); });
    if (found != cells_.end()) {
      take_in(*found, cell.places, {c});
    } else {
      cell.members.push_back(c);
      cells_.push_back(std::move(cell));
    }
    return true;
  }

  static void take_in(Cell& cell, const std::vector<Place>& places,
                      const std::vector<std::size_t>& members) {
    for (std::size_t d = 0; d < places.size(); ++d) {
      cell.places[d] = united(std::move(cell.places[d]), places[d]);
    }
    cell.members.insert(cell.members.end(), members.begin(), members.end());
    std::sort(cell.members.begin(), cell.members.end());
  }

  bool is_small(const Cell& cell) const {
    return static_cast<int>(cell.members.size()) < rule_.min_group;
  }

  void join_small_cells() {
    for (;;) {
      auto small = cells_.end();
      for (auto cell = cells_.begin(); cell != cells_.end(); ++cell) {
        if (cell->stands_alone || !is_small(*cell)) continue;
        if (small == cells_.end() || cell->members.front() < small->members.front()) small = cell;
      }
      if (small == cells_.end()) return;
      Cell* target = nullptr;
      for (const JoinStep& step : rule_.join) {
        if (!target) target = best_partner(*small, step);
      }
      if (target) {
        take_in(*target, small->places, small->members);
        target->stands_alone = false;
        cells_.erase(small);
      } else {
        small->stands_alone = true;
      }
    }
  }

  Cell* best_partner(const Cell& cell, const JoinStep& step) {
    Cell* best = nullptr;
    JoinCost best_cost;
    for (Cell& other : cells_) {
      if (&other == &cell || !have_the_same(step.same, cell, other)) continue;
      const auto apart = distance_within(step, cell, other);
      if (!apart) continue;
      const JoinCost cost{!is_small(other), *apart,
                          -static_cast<std::int64_t>(other.members.size()), other.members.front()};
      if (best && best_cost < cost) continue;
      best = &other;
      best_cost = cost;
    }
    return best;
  }

  bool have_the_same(const std::vector<std::string>& names, const Cell& a, const Cell& b) const {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      const auto value = [&](std::size_t member) {
        const auto found = features_[member].find(name);
        return found == features_[member].end() ? Literal{} : found->second;
      };
      const Literal expected = value(a.members.front());
      if (expected.is_none()) return false;
      const auto equal = [&](std::size_t member) { return value(member) == expected; };
      return std::all_of(a.members.begin(), a.members.end(), equal) &&
             std::all_of(b.members.begin(), b.members.end(), equal);
    });
  }

  /// The sum of the distances in all dimensions; none if the step does not allow them.
  std::optional<std::int64_t> distance_within(const JoinStep& step, const Cell& a,
                                              const Cell& b) const {
    const auto may_differ = [&](std::string_view name) {
      return std::find(step.differ.begin(), step.differ.end(), name) != step.differ.end();
    };
    if (a.kernel != b.kernel && !may_differ(kKernelDimension)) return std::nullopt;
    std::int64_t sum = 0;
    for (std::size_t d = 0; d < rule_.dimensions.size(); ++d) {
      if (same_place(a.places[d], b.places[d])) continue;
      const std::int64_t apart = distance(a.places[d], b.places[d]);
      if (!may_differ(rule_.dimensions[d].name) || apart > step.distance) return std::nullopt;
      sum += apart;
    }
    return sum;
  }

  // ---- From cells to groups ----

  /// The values that a cell's cases have along a dimension, as they are to be printed or made part
  /// of an id; each once, in order.
  std::vector<std::string> values(const Cell& cell, std::size_t d, bool for_id) const {
    const Dimension& dimension = rule_.dimensions[d];
    std::map<std::pair<std::int64_t, std::string>, std::string> ordered;
    for (const std::size_t member : cell.members) {
      const Literal& feature = features_[member].find(dimension.feature)->second;
      const auto place = place_of(dimension, features_[member]);
      KSPLIT_CHECK(place, "a cell's cases have a place along every dimension");
      const std::int64_t rank = place->rank;
      if (!dimension.classes.empty()) {
        const auto& one = dimension.classes[static_cast<std::size_t>(rank)];
        // "reduce_size": "<256" says it all, "axis_position": "==1" would not.
        const bool by_label = for_id || dimension.name != dimension.feature;
        ordered[{rank, {}}] = by_label ? one.label : one.test.text;
      } else {
        std::string text = value_text(feature, for_id ? "_" : ", ");
        if (for_id) {
          text = std::string(dimension.label).replace(dimension.label.find("{}"), 2, text);
        }
        ordered[{rank, text}] = text;
      }
    }
    std::vector<std::string> list;
    list.reserve(ordered.size());
    for (auto& [key, text] : ordered) list.push_back(std::move(text));
    return list;
  }

  std::string id_of(const Cell& cell, bool divided) const {
    std::string id = "grp_" + rule_.prefix;
    for (std::size_t d = 0; d < rule_.dimensions.size(); ++d) {
      if (rule_.dimensions[d].label_if_divided && !divided) continue;
      for (const std::string& label : values(cell, d, true)) id += "_" + label;
    }
    for (char& c : id) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    return id;
  }

  Group group_of(const Cell& cell) const {
    const KernelRule& kernel = rule_.kernels[cell.kernel];
    Group group;
    const std::string short_id = id_of(cell, false);
    const auto same_id = std::count_if(cells_.begin(), cells_.end(), [&](const Cell& other) {
      return id_of(other, false) == short_id;
    });
    group.group_id = same_id > 1 ? id_of(cell, true) : short_id;
    group.bottleneck_reason = "experience:" + rule_.name;
    group.kernel = kernel.family;
    for (std::size_t d = 0; d < rule_.dimensions.size(); ++d) {
      group.features.emplace_back(rule_.dimensions[d].name,
                                  fmt::format("{}", fmt::join(values(cell, d, false), " or ")));
    }
    group.features.emplace_back("kernel", kernel.family);
    std::vector<double> ratios;
    for (const std::size_t member : cell.members) {
      const int index = task_.cases[member].index;
      group.case_indices.push_back(index);
      if (const auto ratio = perf_.ratio(index)) ratios.push_back(*ratio);
    }
    group.baseline_speedup = geometric_mean(ratios);
    for (const BlockRule& rule : kernel.blocks) {
      const bool wanted =
          std::any_of(cell.members.begin(), cell.members.end(),
                      [&](std::size_t member) { return hold(rule.when, features_[member]); });
      if (wanted) group.blocks.push_back(rule.blocks);
    }
    return group;
  }

  const Rule& rule_;
  const Task& task_;
  const std::vector<Features>& features_;
  const PerfResult& perf_;
  std::vector<Cell> cells_;
};

Status check_unique(const std::vector<Group>& groups) {
  std::set<std::string_view> ids;
  for (const Group& group : groups) {
    if (!ids.insert(group.group_id).second) {
      return fail(ErrorCode::input_malformed,
                  fmt::format("the rules give two groups the id `{}`", group.group_id),
                  "choose prefixes and labels that tell them apart");
    }
  }
  return {};
}

/// Cases that no rule took go by their bottleneck.
std::vector<Group> groups_of_the_rest(const Task& task, const std::vector<Features>& features,
                                      const PerfResult& perf, const std::vector<bool>& taken,
                                      bool forced) {
  std::vector<Case> cases;
  std::vector<Features> rest;
  for (std::size_t c = 0; c < taken.size(); ++c) {
    if (taken[c]) continue;
    cases.push_back(task.cases[c]);
    rest.push_back(features[c]);
  }
  return bottleneck_groups(cases, rest, perf, forced);
}

}  // namespace

Result<std::vector<Group>> make_groups(const Task& task, const std::vector<ReferenceGraph>& graphs,
                                       const PerfResult& perf, const RuleSet& rules, bool forced) {
  KSPLIT_CHECK(task.cases.size() == graphs.size(), "one trace a case");
  std::vector<Features> features;
  features.reserve(graphs.size());
  for (std::size_t c = 0; c < graphs.size(); ++c) {
    features.push_back(case_features(task.cases[c], graphs[c]));
  }
  std::vector<bool> taken(graphs.size(), false);
  std::vector<Group> groups;
  for (const Rule& rule : rules.rules) {
    if (!hits(rule, graphs, features)) continue;
    KSPLIT_TRY(std::vector<Group> more, RuleGrouping(rule, task, features, perf).groups(taken));
    std::move(more.begin(), more.end(), std::back_inserter(groups));
  }
  for (Group& group : groups_of_the_rest(task, features, perf, taken, forced && groups.empty())) {
    groups.push_back(std::move(group));
  }
  KSPLIT_TRY_STATUS(check_unique(groups));
  return groups;
}

}  // namespace ksplit
