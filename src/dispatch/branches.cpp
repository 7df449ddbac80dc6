// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/check.h"
#include "dispatch/route_order.h"
#include "dispatch/router.h"
#include "judge/separate.h"

namespace ksplit {

namespace {

using Cases = std::vector<const Case*>;

Cases accepted(const Guard& guard, const Cases& cases) {
  Cases result;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(result),
               [&](const Case* sample) { return holds(guard, *sample); });
  return result;
}

std::vector<int> indices(const Cases& cases) {
  std::vector<int> result;
  for (const Case* sample : cases) result.push_back(sample->index);
  return result;
}

Subject about(Subject::Kind kind, int argument) {
  return {.kind = kind, .argument = argument, .dimension = 0, .dimension_argument = {}};
}

// The tightest test that states what the cases have in common; none where a case has no value.
std::optional<Test> common_range(const Subject& subject, const Cases& cases) {
  std::vector<Literal> values;
  for (const Case* sample : cases) {
    std::optional<Literal> value = evaluate(subject, *sample);
    if (!value || !value->as_int()) return std::nullopt;
    values.push_back(std::move(*value));
  }
  const auto [low, high] = std::minmax_element(
      values.begin(), values.end(),
      [](const Literal& a, const Literal& b) { return *a.as_int() < *b.as_int(); });
  if (*low == *high) return Test{subject, Test::Kind::equals, {*low}, {}};
  return Test{subject, Test::Kind::between, {*low, *high}, {}};
}

std::optional<Test> common_type(int argument, const Cases& cases) {
  Test test{about(Subject::Kind::type, argument), Test::Kind::equals, {}, {}};
  for (const Case* sample : cases) {
    std::optional<Literal> value = evaluate(test.subject, *sample);
    if (!value) return std::nullopt;
    if (std::find(test.values.begin(), test.values.end(), *value) == test.values.end()) {
      test.values.push_back(std::move(*value));
    }
  }
  if (test.values.size() > 1) test.kind = Test::Kind::one_of;
  return test;
}

void append_unless_known(Guard& guard, const Test& test) {
  if (!implies(guard, test)) guard.push_back(test);
}

// Adds the tests without which evaluating `test` could raise on some input, then `test` itself.
// False, and nothing added, where the cases share no such tests.
bool append_safely(Guard& guard, const Test& test, const Cases& cases) {
  using Kind = Subject::Kind;
  const Subject& subject = test.subject;
  Guard extended = guard;
  const auto need_type = [&](int argument) {
    const std::optional<Test> type = common_type(argument, cases);
    if (type) append_unless_known(extended, *type);
    return type.has_value();
  };
  if (subject.kind != Kind::type && !need_type(subject.argument)) return false;
  if (subject.kind == Kind::size || subject.kind == Kind::stride) {
    const Subject rank = about(Kind::rank, subject.argument);
    if (subject.dimension_argument) {
      if (!need_type(*subject.dimension_argument)) return false;
      append_unless_known(
          extended,
          {about(Kind::value, *subject.dimension_argument), Test::Kind::axis_of, {}, rank});
    } else {
      const std::optional<Test> ranks = common_range(rank, cases);
      if (!ranks) return false;
      append_unless_known(extended, *ranks);
    }
  }
  append_unless_known(extended, test);
  if (accepted(extended, cases).size() != cases.size()) return false;
  guard = std::move(extended);
  return true;
}

// Best single test that keeps `inside` and drops some of `intruders`; false if there is none.
bool narrow(Guard& guard, const Cases& inside, Cases& intruders, const Task& task) {
  Cases both = inside;
  both.insert(both.end(), intruders.begin(), intruders.end());
  Guard best;
  Cases fewest = intruders;
  for (const Subject& subject : distinguishing_subjects(task, both)) {
    const std::optional<Test> test = separating_test(subject, inside, intruders);
    if (!test) continue;
    Guard narrowed = guard;
    if (!append_safely(narrowed, *test, inside)) continue;
    Cases left = accepted(narrowed, intruders);
    if (left.size() >= fewest.size()) continue;
    best = std::move(narrowed);
    fewest = std::move(left);
  }
  if (best.empty()) return false;
  guard = std::move(best);
  intruders = std::move(fewest);
  return true;
}

// Halves of the cases, by the first subject that tells some of them apart.
std::pair<Cases, Cases> halved(const Cases& cases, const Task& task) {
  std::pair<Cases, Cases> halves;
  for (const Subject& subject : distinguishing_subjects(task, cases)) {
    const std::optional<Literal> first = evaluate(subject, *cases.front());
    for (const Case* sample : cases) {
      (evaluate(subject, *sample) == first ? halves.first : halves.second).push_back(sample);
    }
    break;
  }
  return halves;
}

// Guards that together accept all of `inside` and none of `outside`: one where single tests do it,
// else one for each of several sets of cases. Errors: unsupported, naming cases alike in all
// a router can ask.
Status separate(Guard guard, const Cases& inside, const Cases& outside, const Task& task,
                std::vector<Guard>& guards) {
  Cases intruders = accepted(guard, outside);
  const Guard start = guard;
  while (!intruders.empty() && narrow(guard, inside, intruders, task)) continue;
  if (intruders.empty()) {
    guards.push_back(simplified(guard));
    return {};
  }
  const auto [some, others] = halved(inside, task);
  if (others.empty()) {
    return fail(ErrorCode::unsupported,
                fmt::format("no simple test tells cases {} from cases {}",
                            fmt::join(indices(inside), ", "), fmt::join(indices(intruders), ", ")));
  }
  KSPLIT_TRY_STATUS(separate(start, some, outside, task, guards));
  return separate(start, others, outside, task, guards);
}

}  // namespace

Result<RouteBranch> build_branch(const RoutedPart& part, const Cases& others, const Task& task) {
  const Candidate& candidate = *part.candidate;
  KSPLIT_CHECK(!part.cases.empty(), "a part has cases");
  RouteBranch branch{candidate.host, {}};
  Cases unserved = part.cases;
  for (const Guard& precondition : candidate.preconditions) {
    const Cases served = accepted(precondition, unserved);
    if (served.empty()) continue;
    std::erase_if(unserved, [&](const Case* sample) { return holds(precondition, *sample); });

    Guard guard = precondition;
    for (const Subject& subject : candidate.envelope) {
      if (const auto range = common_range(subject, served)) append_unless_known(guard, *range);
    }
    for (const Test& test : part.separating) {
      KSPLIT_CHECK(append_safely(guard, test, served), "a separating test holds on its part");
    }
    KSPLIT_TRY_STATUS(separate(guard, served, others, task, branch.accepts));
  }
  if (!unserved.empty()) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} states no precondition that holds on cases {}", candidate.id,
                            fmt::join(indices(unserved), ", ")));
  }
  return branch;
}

Result<std::vector<RouteBranch>> build_branches(const std::vector<RoutedPart>& parts,
                                                const Cases& all, const Task& task) {
  std::vector<RouteBranch> branches;
  Cases unclaimed = all;
  for (const RoutedPart& part : parts) {
    std::erase_if(unclaimed, [&](const Case* sample) {
      return std::find(part.cases.begin(), part.cases.end(), sample) != part.cases.end();
    });
    auto branch = build_branch(part, unclaimed, task);
    if (!branch) {
      Error error = std::move(branch).error();
      error.message = fmt::format("{}: {}", part.candidate->group_id, error.message);
      return fail(std::move(error));
    }
    branches.push_back(std::move(*branch));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const Case* sample : parts[i].cases) {
      KSPLIT_CHECK(route(branches, *sample) == static_cast<int>(i),
                   fmt::format("case {} does not take its branch", sample->index));
    }
  }
  for (const Case* sample : unclaimed) {
    KSPLIT_CHECK(route(branches, *sample) == -1,
                 fmt::format("case {} does not stay on the base", sample->index));
  }
  return branches;
}

int route(const std::vector<RouteBranch>& branches, const Case& sample) {
  for (std::size_t i = 0; i < branches.size(); ++i) {
    for (const Guard& guard : branches[i].accepts) {
      if (holds(guard, sample)) return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace ksplit
