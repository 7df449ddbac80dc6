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
using Sources = std::set<int>;
using Samples = std::vector<int>;

struct Row {
  int guard = 0;  // position in Search::guards_
  TestIds left;   // tests still to be made

  bool operator<(const Row& other) const {
    return std::tie(guard, left) < std::tie(other.guard, other.left);
  }
};
using Rows = std::vector<Row>;

// Where the router stands: rows that may still return, samples that come here, sources of subjects
// that they have all been asked for.
struct State {
  Rows rows;
  Samples samples;
  Sources asked;

  bool operator<(const State& other) const {
    return std::tie(rows, samples, asked) < std::tie(other.rows, other.samples, other.asked);
  }
};

// Up to these every step is tried; beyond, only the steps whose test most rows share.
constexpr std::size_t kExactRows = 4;
constexpr std::size_t kExactTests = 9;
constexpr std::size_t kSteps = 3;
constexpr std::size_t kMostStates = 4000;  // then only the first of them

struct Priced {
  RouteBlock block;
  std::int64_t time = 0;  // units of route_order.h, summed over the samples that come here
  std::int64_t size = 0;  // tests written down

  auto price() const { return std::make_pair(time, size); }
};

class Search {
 public:
  Search(const std::vector<RouteBranch>& branches, const std::vector<const Case*>& cases);

  RouteBlock run() { return best(start_).block; }

 private:
  Priced best(const State& state);
  Priced under_shared_tests(const State& state);
  Priced divided(const State& state, int test);
  Priced returning(const Row& row, State state) const;

  void add_guard(const Guard& guard, int branch);
  int id_of(const Test& test);
  bool available(const Row& row, int test) const;
  std::vector<bool> movable(const Rows& rows, int test) const;
  std::vector<int> choices(const Rows& rows) const;

  int cost(int test, const Sources& asked) const;
  std::int64_t make(int test, State& state) const;
  RouteBlock::Statement make_all(TestIds tests, State& state, Priced& priced) const;
  bool accepts(const Row& row, int sample) const;

  const Test& test(int id) const { return tests_[static_cast<std::size_t>(id)]; }
  bool passes(int id, int sample) const {
    return passes_[static_cast<std::size_t>(id)][static_cast<std::size_t>(sample)];
  }
  int branch_of(const Row& row) const { return branches_[static_cast<std::size_t>(row.guard)]; }
  const Guard& guard_of(const Row& row) const {
    return guards_[static_cast<std::size_t>(row.guard)];
  }

  std::vector<Test> tests_;
  std::vector<Subject> sources_;
  std::vector<Sources> sources_of_;        // of each test
  std::vector<std::vector<bool>> passes_;  // test -> sample
  std::vector<Guard> guards_;
  std::vector<int> branches_;                       // of each guard
  std::vector<std::map<int, TestIds>> protectors_;  // guard -> test -> tests that make it safe
  State start_;
  std::map<State, Priced> memo_;
};

Search::Search(const std::vector<RouteBranch>& branches, const std::vector<const Case*>& cases) {
  for (std::size_t b = 0; b < branches.size(); ++b) {
    for (const Guard& guard : branches[b].accepts) add_guard(guard, static_cast<int>(b));
  }
  for (const Test& test : tests_) {
    std::vector<bool>& row = passes_.emplace_back();
    for (const Case* sample : cases) row.push_back(holds(test, *sample));
    Sources& sources = sources_of_.emplace_back();
    for (const Subject& subject : subjects_of(test)) {
      const std::optional<Subject> source = source_of(subject);
      if (!source) continue;
      auto found = std::find(sources_.begin(), sources_.end(), *source);
      if (found == sources_.end()) found = sources_.insert(found, *source);
      sources.insert(static_cast<int>(found - sources_.begin()));
    }
  }
  for (std::size_t i = 0; i < cases.size(); ++i) start_.samples.push_back(static_cast<int>(i));
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
  start_.rows.push_back(std::move(row));
}

bool Search::available(const Row& row, int test) const {
  const auto& protectors = protectors_[static_cast<std::size_t>(row.guard)];
  const auto found = protectors.find(test);
  return found == protectors.end() ||
         std::none_of(found->second.begin(), found->second.end(),
                      [&](int protector) { return row.left.contains(protector); });
}

int Search::cost(int id, const Sources& asked) const {
  int sum = cost_of_comparison(test(id));
  for (const int source : sources_of_[static_cast<std::size_t>(id)]) {
    if (asked.contains(source)) continue;
    sum += cost_of_source(sources_[static_cast<std::size_t>(source)]);
  }
  return sum;
}

// All samples make the test; those that pass go on.
std::int64_t Search::make(int id, State& state) const {
  const auto time = static_cast<std::int64_t>(state.samples.size()) * cost(id, state.asked);
  const Sources& sources = sources_of_[static_cast<std::size_t>(id)];
  state.asked.insert(sources.begin(), sources.end());
  std::erase_if(state.samples, [&](int sample) { return !passes(id, sample); });
  return time;
}

// One condition of several tests: of those that are safe, always the one that turns most inputs
// away for its cost.
RouteBlock::Statement Search::make_all(TestIds tests, State& state, Priced& priced) const {
  constexpr double kUnseen = 0.05;  // inputs no sample stands for fail any test now and then
  RouteBlock::Statement statement;
  priced.size += static_cast<std::int64_t>(tests.size());
  while (!tests.empty()) {
    int next = -1;
    double least = 0;
    for (const int id : tests) {
      const bool safe = std::none_of(tests.begin(), tests.end(), [&](int other) {
        return other != id && protects(test(other), test(id)) && !protects(test(id), test(other));
      });
      if (!safe) continue;
      const auto failing = std::count_if(state.samples.begin(), state.samples.end(),
                                         [&](int sample) { return !passes(id, sample); });
      const auto all = std::max<std::size_t>(state.samples.size(), 1);
      const double share = static_cast<double>(failing) / static_cast<double>(all);
      const double score = cost(id, state.asked) / (share + kUnseen);
      if (next >= 0 && score >= least) continue;
      next = id;
      least = score;
    }
    KSPLIT_CHECK(next >= 0, "some test of a condition comes first");
    priced.time += make(next, state);
    statement.tests.push_back(test(next));
    tests.erase(next);
  }
  return statement;
}

bool Search::accepts(const Row& row, int sample) const {
  return std::all_of(row.left.begin(), row.left.end(),
                     [&](int test) { return passes(test, sample); });
}

Priced Search::returning(const Row& row, State state) const {
  Priced priced;
  RouteBlock::Statement statement = make_all(row.left, state, priced);
  statement.branch = branch_of(row);
  priced.block.statements.push_back(std::move(statement));
  return priced;
}

// Tests of every row have to be made whatever the order: they come first, together.
Priced Search::under_shared_tests(const State& state) {
  State inner = state;
  TestIds shared;
  for (bool found = true; found;) {
    found = false;
    for (const int test : TestIds(inner.rows.front().left)) {
      const bool everywhere = std::all_of(
          inner.rows.begin(), inner.rows.end(),
          [&](const Row& row) { return row.left.contains(test) && available(row, test); });
      if (!everywhere) continue;
      shared.insert(test);
      for (Row& row : inner.rows) row.left.erase(test);
      found = true;
    }
  }
  if (shared.empty()) return {};
  Priced priced;
  RouteBlock::Statement outer = make_all(shared, inner, priced);
  Priced body = best(inner);
  priced.time += body.time;
  priced.size += body.size;
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

Priced Search::divided(const State& state, int id) {
  const std::vector<bool> moved = movable(state.rows, id);
  State inner{{}, state.samples, state.asked};
  Priced priced;
  priced.size = 1;
  priced.time = make(id, inner);
  State outer{{}, {}, inner.asked};
  for (std::size_t i = 0; i < state.rows.size(); ++i) {
    (moved[i] ? inner : outer).rows.push_back(state.rows[i]);
    if (moved[i]) inner.rows.back().left.erase(id);
  }
  for (const int sample : state.samples) {
    const bool returned =
        passes(id, sample) && std::any_of(inner.rows.begin(), inner.rows.end(),
                                          [&](const Row& row) { return accepts(row, sample); });
    if (!returned) outer.samples.push_back(sample);
  }

  Priced body = best(inner);
  RouteBlock::Statement first{{test(id)}, std::move(body.block), -1};
  priced.block.statements.push_back(std::move(first));
  Priced rest = best(outer);
  std::move(rest.block.statements.begin(), rest.block.statements.end(),
            std::back_inserter(priced.block.statements));
  priced.time += body.time + rest.time;
  priced.size += body.size + rest.size;
  return priced;
}

// Tests that some step may pick; the first row's are always among them.
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
    const auto key = [&](int id) { return std::make_pair(-shared_by.at(id), cost(id, {})); };
    return key(a) < key(b);
  });
  const bool exact = rows.size() <= kExactRows && all.size() <= kExactTests;
  const std::size_t most = memo_.size() > kMostStates ? 1 : exact ? result.size() : kSteps;
  result.resize(std::min(result.size(), most));
  return result;
}

Priced Search::best(const State& state) {
  const Rows& rows = state.rows;
  if (rows.empty()) return {};
  // A row without tests left returns at once, and nothing after it is reached.
  if (rows.size() == 1 || rows.front().left.empty()) return returning(rows.front(), state);
  if (const auto known = memo_.find(state); known != memo_.end()) return known->second;

  Priced found = under_shared_tests(state);
  if (found.block.statements.empty()) {
    for (const int test : choices(rows)) {
      Priced priced = divided(state, test);
      if (found.block.statements.empty() || priced.price() < found.price()) {
        found = std::move(priced);
      }
    }
  }
  KSPLIT_CHECK(!found.block.statements.empty(), "the first row always has a test to make");
  return memo_[state] = found;
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
