// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "core/check.h"
#include "dispatch/route_order.h"
#include "dispatch/router.h"

// The search works on rows: one a guard, in order of priority, holding the tests not yet known to
// hold. A step picks a test and moves the rows that share it under one `if`:
//
//   if test: <rows with the test, without it>
//   <rows without it>
//
// which keeps first-match meaning as long as no row moves ahead of another that might accept the
// same input and return something else.

namespace ksplit {

namespace {

using TestIds = std::set<int>;

struct Row {
  int guard = 0;  // position in Search::guards_
  TestIds left;   // tests still to be made

  bool operator<(const Row& other) const {
    return std::tie(guard, left) < std::tie(other.guard, other.left);
  }
};
using Rows = std::vector<Row>;
using Samples = std::vector<int>;

// Beyond these the search takes the locally best step instead of the best tree.
constexpr std::size_t kExactRows = 4;
constexpr std::size_t kExactTests = 9;

struct Priced {
  RouteBlock block;
  std::int64_t evaluated = 0;  // tests, summed over the samples that come here
  std::int64_t size = 0;       // tests written down

  auto price() const { return std::make_pair(evaluated, size); }
};

class Search {
 public:
  Search(const std::vector<RouteBranch>& branches, const std::vector<const Case*>& cases);

  RouteBlock run() { return best(start_, samples_).block; }

 private:
  Priced best(const Rows& rows, const Samples& samples);
  Priced under_shared_tests(const Rows& rows, const Samples& samples);
  Priced divided(const Rows& rows, const Samples& samples, int test);
  Priced leaf(const Row& row, const Samples& samples) const;

  bool available(const Row& row, int test) const;
  std::vector<int> choices(const Rows& rows) const;
  std::vector<bool> movable(const Rows& rows, int test) const;
  std::vector<int> in_order(const TestIds& tests) const;
  bool passes(int test, int sample) const {
    return passes_[static_cast<std::size_t>(test)][static_cast<std::size_t>(sample)];
  }
  std::int64_t evaluations(const std::vector<int>& tests, const Samples& samples,
                           Samples& passing) const;
  bool settled(const Row& row, int sample) const;
  int branch_of(const Row& row) const { return branches_[static_cast<std::size_t>(row.guard)]; }
  const Guard& guard_of(const Row& row) const {
    return guards_[static_cast<std::size_t>(row.guard)];
  }
  int id_of(const Test& test);
  void add_guard(const Guard& guard, int branch);

  std::vector<Test> tests_;
  std::vector<Guard> guards_;
  std::vector<int> branches_;                       // of each guard
  std::vector<std::map<int, TestIds>> protectors_;  // guard -> test -> tests that make it safe
  std::vector<std::vector<bool>> passes_;           // test -> sample
  Rows start_;
  Samples samples_;
  std::map<std::pair<Rows, Samples>, Priced> memo_;
};

Search::Search(const std::vector<RouteBranch>& branches, const std::vector<const Case*>& cases) {
  for (std::size_t b = 0; b < branches.size(); ++b) {
    for (const Guard& guard : branches[b].accepts) add_guard(guard, static_cast<int>(b));
  }
  for (const Test& test : tests_) {
    std::vector<bool>& row = passes_.emplace_back();
    for (const Case* sample : cases) row.push_back(holds(test, *sample));
  }
  for (std::size_t i = 0; i < cases.size(); ++i) samples_.push_back(static_cast<int>(i));
}

int Search::id_of(const Test& test) {
  const auto found = std::find(tests_.begin(), tests_.end(), test);
  if (found != tests_.end()) return static_cast<int>(found - tests_.begin());
  tests_.push_back(test);
  return static_cast<int>(tests_.size()) - 1;
}

void Search::add_guard(const Guard& guard, int branch) {
  Row row{static_cast<int>(guards_.size()), {}};
  std::map<int, TestIds>& protectors = protectors_.emplace_back();
  for (std::size_t i = 0; i < guard.size(); ++i) {
    const int id = id_of(guard[i]);
    if (!row.left.insert(id).second) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (protects(guard[j], guard[i])) protectors[id].insert(id_of(guard[j]));
    }
  }
  guards_.push_back(guard);
  branches_.push_back(branch);
  start_.push_back(std::move(row));
}

bool Search::available(const Row& row, int test) const {
  const auto& protectors = protectors_[static_cast<std::size_t>(row.guard)];
  const auto found = protectors.find(test);
  return found == protectors.end() ||
         std::none_of(found->second.begin(), found->second.end(),
                      [&](int protector) { return row.left.contains(protector); });
}

// A safe order for tests that are all going to be made: by stage, cheap ones first.
std::vector<int> Search::in_order(const TestIds& tests) const {
  std::vector<int> order(tests.begin(), tests.end());
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const auto key = [&](int id) {
      const Test& test = tests_[static_cast<std::size_t>(id)];
      return std::make_tuple(stage_of(test), test.subject.argument, cost_of(test));
    };
    return key(a) < key(b);
  });
  return order;
}

std::int64_t Search::evaluations(const std::vector<int>& tests, const Samples& samples,
                                 Samples& passing) const {
  std::int64_t count = 0;
  passing = samples;
  for (const int test : tests) {
    count += static_cast<std::int64_t>(passing.size());
    std::erase_if(passing, [&](int sample) { return !passes(test, sample); });
  }
  return count;
}

bool Search::settled(const Row& row, int sample) const {
  return std::all_of(row.left.begin(), row.left.end(),
                     [&](int test) { return passes(test, sample); });
}

RouteBlock::Statement statement(const std::vector<Test>& tests, const std::vector<int>& ids) {
  RouteBlock::Statement result;
  for (const int id : ids) result.tests.push_back(tests[static_cast<std::size_t>(id)]);
  return result;
}

Priced Search::leaf(const Row& row, const Samples& samples) const {
  const std::vector<int> order = in_order(row.left);
  Priced priced;
  Samples passing;
  priced.evaluated = evaluations(order, samples, passing);
  priced.size = static_cast<std::int64_t>(order.size());
  RouteBlock::Statement returning = statement(tests_, order);
  returning.branch = branch_of(row);
  priced.block.statements.push_back(std::move(returning));
  return priced;
}

// Tests of every row have to be made whatever the order: they come first, together.
Priced Search::under_shared_tests(const Rows& rows, const Samples& samples) {
  Rows inner = rows;
  TestIds shared;
  for (bool found = true; found;) {
    found = false;
    for (const int test : TestIds(inner.front().left)) {
      const bool everywhere = std::all_of(inner.begin(), inner.end(), [&](const Row& row) {
        return row.left.contains(test) && available(row, test);
      });
      if (!everywhere) continue;
      shared.insert(test);
      for (Row& row : inner) row.left.erase(test);
      found = true;
    }
  }
  if (shared.empty()) return {};
  const std::vector<int> order = in_order(shared);
  Samples passing;
  const std::int64_t evaluated = evaluations(order, samples, passing);
  Priced body = best(inner, passing);
  Priced priced;
  priced.evaluated = evaluated + body.evaluated;
  priced.size = static_cast<std::int64_t>(order.size()) + body.size;
  RouteBlock::Statement outer = statement(tests_, order);
  outer.body = std::move(body.block);
  priced.block.statements.push_back(std::move(outer));
  return priced;
}

// Which rows may go under `test` ahead of the others.
std::vector<bool> Search::movable(const Rows& rows, int test) const {
  std::vector<bool> moved(rows.size(), false);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].left.contains(test) || !available(rows[i], test)) continue;
    bool free = true;
    for (std::size_t j = 0; j < i && free; ++j) {
      free = moved[j] || branch_of(rows[j]) == branch_of(rows[i]) ||
             excludes(guard_of(rows[j]), guard_of(rows[i]));
    }
    moved[i] = free;
  }
  return moved;
}

Priced Search::divided(const Rows& rows, const Samples& samples, int test) {
  const std::vector<bool> moved = movable(rows, test);
  Rows inner, outer;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    (moved[i] ? inner : outer).push_back(rows[i]);
    if (moved[i]) inner.back().left.erase(test);
  }
  Samples passing, remaining;
  evaluations({test}, samples, passing);
  for (const int sample : samples) {
    const bool returned =
        passes(test, sample) && std::any_of(inner.begin(), inner.end(),
                                            [&](const Row& row) { return settled(row, sample); });
    if (!returned) remaining.push_back(sample);
  }
  Priced priced = best(inner, passing);
  priced.evaluated += static_cast<std::int64_t>(samples.size());
  priced.size += 1;
  RouteBlock::Statement first = statement(tests_, {test});
  first.body = std::move(priced.block);
  priced.block = RouteBlock{{std::move(first)}};
  if (outer.empty()) return priced;

  Priced rest = best(outer, remaining);
  priced.evaluated += rest.evaluated;
  priced.size += rest.size;
  std::move(rest.block.statements.begin(), rest.block.statements.end(),
            std::back_inserter(priced.block.statements));
  return priced;
}

// Tests that some step may pick. The first row's are always among them. Where the exact search
// would take long, only the one that most rows share.
std::vector<int> Search::choices(const Rows& rows) const {
  std::map<int, std::ptrdiff_t> shared_by;
  TestIds all;
  for (const Row& row : rows) {
    all.insert(row.left.begin(), row.left.end());
    for (const int test : row.left) {
      if (shared_by.contains(test)) continue;
      const std::vector<bool> moved = movable(rows, test);
      const auto count = std::count(moved.begin(), moved.end(), true);
      if (count > 0) shared_by[test] = count;
    }
  }
  std::vector<int> result;
  result.reserve(shared_by.size());
  for (const auto& [test, count] : shared_by) result.push_back(test);
  std::stable_sort(result.begin(), result.end(), [&](int a, int b) {
    const auto key = [&](int id) {
      const Test& test = tests_[static_cast<std::size_t>(id)];
      return std::make_tuple(-shared_by.at(id), stage_of(test), cost_of(test));
    };
    return key(a) < key(b);
  });
  const bool exact = rows.size() <= kExactRows && all.size() <= kExactTests;
  if (!exact) result.resize(1);
  return result;
}

Priced Search::best(const Rows& rows, const Samples& samples) {
  if (rows.empty()) return {};
  // A row without tests left returns at once, and nothing after it is reached.
  if (rows.size() == 1 || rows.front().left.empty()) return leaf(rows.front(), samples);
  const auto key = std::make_pair(rows, samples);
  if (const auto known = memo_.find(key); known != memo_.end()) return known->second;

  Priced found = under_shared_tests(rows, samples);
  if (found.block.statements.empty()) {
    for (const int test : choices(rows)) {
      Priced priced = divided(rows, samples, test);
      if (found.block.statements.empty() || priced.price() < found.price()) {
        found = std::move(priced);
      }
    }
  }
  KSPLIT_CHECK(!found.block.statements.empty(), "the first row always has a test to make");
  return memo_[key] = found;
}

// if a: if b: ...  =>  if a and b: ...
void merge_nested(RouteBlock& block) {
  for (RouteBlock::Statement& outer : block.statements) {
    merge_nested(outer.body);
    if (outer.branch >= 0 || outer.body.statements.size() != 1) continue;
    RouteBlock::Statement inner = std::move(outer.body.statements.front());
    std::move(inner.tests.begin(), inner.tests.end(), std::back_inserter(outer.tests));
    outer.branch = inner.branch;
    outer.body = std::move(inner.body);
  }
}

bool walk_block(const RouteBlock& block, const Case& sample, RouteWalk& result) {
  for (const RouteBlock::Statement& statement : block.statements) {
    bool passed = true;
    for (const Test& test : statement.tests) {
      ++result.tests;
      passed = holds(test, sample);
      if (!passed) break;
    }
    if (!passed) continue;
    if (statement.branch >= 0) {
      result.branch = statement.branch;
      return true;
    }
    if (walk_block(statement.body, sample, result)) return true;
  }
  return false;
}

}  // namespace

RouteBlock build_route_tree(const std::vector<RouteBranch>& branches,
                            const std::vector<const Case*>& samples) {
  RouteBlock tree = Search(branches, samples).run();
  merge_nested(tree);
  return tree;
}

RouteWalk walk(const RouteBlock& tree, const Case& sample) {
  RouteWalk result;
  walk_block(tree, sample, result);
  return result;
}

}  // namespace ksplit
