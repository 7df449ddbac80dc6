// SPDX-License-Identifier: Apache-2.0
#include "judge/screen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "core/check.h"

namespace ksplit {

namespace {

// Positions in Screening::cases, ascending.
using Members = std::vector<std::size_t>;

// Splits that look best after one step are the ones whose parts are divided further.
constexpr std::size_t kBeam = 12;
constexpr int kBase = -1;

// Two sides told apart by one subject. `mutual`: a test of either side excludes the other; else
// only a test of the left side does, and the right side must be asked after it.
struct Split {
  Subject subject;
  Members left, right;
  bool mutual = true;
};

// How to serve some cases: by one candidate (or the base), or split in two.
struct Plan {
  double cost = 0;  // sum of log time ratios, and of the policy's price of each split
  int candidate = kBase;
  std::shared_ptr<const Split> split;
  std::shared_ptr<const Plan> left, right;
};
using PlanRef = std::shared_ptr<const Plan>;

class Divider {
 public:
  Divider(const Screening& screening, const std::vector<Subject>& subjects,
          const DivisionPolicy& policy);

  PlanRef best(const Members& members, int parts);
  double log_ratio(std::size_t position, int candidate) const;
  std::vector<int> ranked(const Members& members) const;
  double cost(const Members& members, int candidate) const;

 private:
  PlanRef leaf(const Members& members) const;
  PlanRef child(const Members& members, int parts, const Plan& shared);
  PlanRef combine(const Members& members, std::shared_ptr<const Split> split, PlanRef left,
                  PlanRef right) const;
  std::vector<Split> splits(const Members& members) const;

  // The subject's values on all cases, for subjects that have one on each.
  struct Feature {
    Subject subject;
    std::vector<Literal> values;
    bool ordered = false;
  };

  const Screening& screening_;
  const DivisionPolicy& policy_;
  std::vector<Feature> features_;
  std::map<std::pair<Members, int>, PlanRef> memo_;
};

Divider::Divider(const Screening& screening, const std::vector<Subject>& subjects,
                 const DivisionPolicy& policy)
    : screening_(screening), policy_(policy) {
  for (const Subject& subject : subjects) {
    Feature feature{subject, {}, is_ordered(subject, screening.cases)};
    for (const Case* sample : screening.cases) {
      const std::optional<Literal> value = evaluate(subject, *sample);
      if (value) feature.values.push_back(*value);
    }
    if (feature.values.size() == screening.cases.size()) features_.push_back(std::move(feature));
  }
}

double Divider::log_ratio(std::size_t position, int candidate) const {
  if (candidate == kBase) return 0;
  const std::optional<double> ratio =
      screening_.ratios[position][static_cast<std::size_t>(candidate)];
  const bool usable = ratio && *ratio > 0 && *ratio <= policy_.case_limit;
  return usable ? std::log(*ratio) : std::numeric_limits<double>::infinity();
}

double Divider::cost(const Members& members, int candidate) const {
  double sum = 0;
  for (const std::size_t position : members) sum += log_ratio(position, candidate);
  return sum;
}

// Candidates that may serve all of the members and beat the base on them, best first.
std::vector<int> Divider::ranked(const Members& members) const {
  std::vector<std::pair<double, int>> order;
  for (int c = 0; c < static_cast<int>(screening_.candidates.size()); ++c) {
    const double sum = cost(members, c);
    if (sum < 0) order.emplace_back(sum, c);
  }
  std::sort(order.begin(), order.end());
  std::vector<int> result(order.size());
  std::transform(order.begin(), order.end(), result.begin(),
                 [](const auto& entry) { return entry.second; });
  return result;
}

PlanRef Divider::leaf(const Members& members) const {
  auto plan = std::make_shared<Plan>();
  const std::vector<int> order = ranked(members);
  if (!order.empty()) {
    plan->candidate = order.front();
    plan->cost = cost(members, plan->candidate);
  }
  return plan;
}

// A kernel for one case must beat what it would have shared by far; else the base serves it.
PlanRef Divider::child(const Members& members, int parts, const Plan& shared) {
  PlanRef plan = best(members, parts);
  if (members.size() == 1 && plan->candidate != kBase) {
    const double gain = log_ratio(members.front(), shared.candidate) - plan->cost;
    if (gain < std::log(policy_.single_gain)) return std::make_shared<Plan>();
  }
  return plan;
}

PlanRef Divider::combine(const Members& members, std::shared_ptr<const Split> split, PlanRef left,
                         PlanRef right) const {
  auto plan = std::make_shared<Plan>();
  plan->cost =
      left->cost + right->cost + static_cast<double>(members.size()) * std::log(policy_.split_gain);
  plan->split = std::move(split);
  plan->left = std::move(left);
  plan->right = std::move(right);
  return plan;
}

PlanRef Divider::best(const Members& members, int parts) {
  const auto key = std::make_pair(members, parts);
  if (const auto known = memo_.find(key); known != memo_.end()) return known->second;

  const PlanRef undivided = leaf(members);
  PlanRef found = undivided;
  const auto consider = [&](PlanRef plan) {
    if (plan->cost < found->cost - 1e-12) found = std::move(plan);
  };
  if (parts >= 2 && members.size() >= 2) {
    std::vector<PlanRef> options;
    for (Split& split : splits(members)) {
      PlanRef left = child(split.left, 1, *undivided);
      PlanRef right = child(split.right, 1, *undivided);
      // The base has no branch in the router that could be asked first.
      if (!split.mutual && left->candidate == kBase) continue;
      options.push_back(combine(members, std::make_shared<Split>(std::move(split)), left, right));
    }
    std::stable_sort(options.begin(), options.end(),
                     [](const PlanRef& a, const PlanRef& b) { return a->cost < b->cost; });
    for (std::size_t i = 0; i < options.size(); ++i) {
      const std::shared_ptr<const Split> split = options[i]->split;
      consider(options[i]);
      if (i >= kBeam) continue;
      for (int on_left = 1; on_left < parts && parts > 2; ++on_left) {
        if (!split->mutual && on_left > 1) break;
        consider(combine(members, split, child(split->left, on_left, *undivided),
                         child(split->right, parts - on_left, *undivided)));
      }
    }
  }
  return memo_[key] = found;
}

std::vector<Split> Divider::splits(const Members& members) const {
  std::vector<Split> mutual, ordered;
  std::set<Members> seen;
  const auto add = [&](std::vector<Split>& splits, const Subject& subject, auto on_left) {
    Split split{subject, {}, {}, &splits == &mutual};
    for (const std::size_t member : members) {
      (on_left(member) ? split.left : split.right).push_back(member);
    }
    if (split.left.empty() || split.right.empty()) return;
    if (split.mutual && seen.contains(split.right)) return;
    if (seen.insert(split.left).second) splits.push_back(std::move(split));
  };
  const auto integer = [](const Feature& feature, std::size_t i) {
    return *feature.values[i].as_int();
  };
  // Of two ways to the same parts the first is kept: cheap subjects, and tests that leave the order
  // of the parts free, before others.
  for (const Feature& f : features_) {
    for (const std::size_t at : members) {
      if (f.ordered) {
        add(mutual, f.subject, [&](std::size_t i) { return integer(f, i) <= integer(f, at); });
      } else if (few_values(f.values)) {
        add(mutual, f.subject, [&](std::size_t i) { return f.values[i] == f.values[at]; });
      }
    }
  }
  for (const Feature& f : features_) {
    for (const std::size_t at : members) {
      add(ordered, f.subject, [&](std::size_t i) { return f.values[i] == f.values[at]; });
    }
    for (const std::int64_t divisor : kDivisors) {
      if (!f.ordered) break;
      add(ordered, f.subject, [&](std::size_t i) { return integer(f, i) % divisor == 0; });
    }
  }
  mutual.insert(mutual.end(), std::make_move_iterator(ordered.begin()),
                std::make_move_iterator(ordered.end()));
  return mutual;
}

// A leaf of the chosen plan, and the splits on the way to it.
struct Leaf {
  Members members;
  int candidate;
  std::vector<std::pair<const Split*, bool>> path;  // the split, and whether this is its left side
};

void collect(const Plan& plan, Members members, std::vector<std::pair<const Split*, bool>> path,
             std::vector<Leaf>& leaves) {
  if (!plan.split) {
    leaves.push_back({std::move(members), plan.candidate, std::move(path)});
    return;
  }
  path.emplace_back(plan.split.get(), true);
  collect(*plan.left, plan.split->left, path, leaves);
  path.back().second = false;
  collect(*plan.right, plan.split->right, path, leaves);
}

std::vector<const Case*> cases_of(const Screening& screening, const Members& members) {
  std::vector<const Case*> cases;
  for (const std::size_t position : members) cases.push_back(screening.cases[position]);
  return cases;
}

Guard tests_of(const Leaf& leaf, const Screening& screening) {
  const std::vector<const Case*> inside = cases_of(screening, leaf.members);
  Guard guard;
  for (const auto& [split, on_left] : leaf.path) {
    if (!split->mutual && !on_left) continue;
    const auto test = separating_test(split->subject, inside,
                                      cases_of(screening, on_left ? split->right : split->left));
    KSPLIT_CHECK(test.has_value(), "a split has a test that tells its sides apart");
    if (std::find(guard.begin(), guard.end(), *test) == guard.end()) guard.push_back(*test);
  }
  return guard;
}

Part part_of(const Leaf& leaf, const Divider& divider, const Screening& screening,
             const DivisionPolicy& policy) {
  Part part;
  for (const Case* sample : cases_of(screening, leaf.members)) {
    part.case_indices.push_back(sample->index);
  }
  std::sort(part.case_indices.begin(), part.case_indices.end());
  if (leaf.candidate == kBase) return part;
  for (const int candidate : divider.ranked(leaf.members)) {
    if (static_cast<int>(part.ranked.size()) == policy.ranked) break;
    part.ranked.push_back(screening.candidates[static_cast<std::size_t>(candidate)]);
  }
  part.ratio = std::exp(divider.cost(leaf.members, leaf.candidate) /
                        static_cast<double>(leaf.members.size()));
  part.separating = tests_of(leaf, screening);
  return part;
}

}  // namespace

std::vector<Part> divide_group(const Screening& screening, const std::vector<Subject>& subjects,
                               const DivisionPolicy& policy) {
  KSPLIT_CHECK(screening.ratios.size() == screening.cases.size(),
               "one row of ratios for each case");
  Members all(screening.cases.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;

  Divider divider(screening, subjects, policy);
  const PlanRef plan = divider.best(all, policy.max_parts);
  std::vector<Leaf> leaves;
  collect(*plan, all, {}, leaves);

  std::vector<Part> parts;
  Leaf on_base{{}, kBase, {}};
  for (Leaf& leaf : leaves) {
    if (leaf.candidate == kBase) {
      on_base.members.insert(on_base.members.end(), leaf.members.begin(), leaf.members.end());
    } else {
      parts.push_back(part_of(leaf, divider, screening, policy));
    }
  }
  if (!on_base.members.empty()) parts.push_back(part_of(on_base, divider, screening, policy));
  return parts;
}

}  // namespace ksplit
