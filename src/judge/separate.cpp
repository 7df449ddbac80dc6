// SPDX-License-Identifier: Apache-2.0
#include "judge/separate.h"

#include <algorithm>
#include <set>

namespace ksplit {

namespace {

Subject subject_of(Subject::Kind kind, int argument, std::int64_t dimension = 0) {
  return {.kind = kind, .argument = argument, .dimension = dimension, .dimension_argument = {}};
}

void add_dimensions(std::vector<Subject>& subjects, Subject::Kind kind, int argument,
                    std::size_t least_rank, std::size_t most_rank,
                    const std::vector<int>& integer_arguments) {
  for (const int dimension_argument : integer_arguments) {
    Subject subject = subject_of(kind, argument);
    subject.dimension_argument = dimension_argument;
    subjects.push_back(subject);
  }
  const auto rank = static_cast<std::int64_t>(most_rank);
  for (std::int64_t d = 0; d < rank; ++d) subjects.push_back(subject_of(kind, argument, d));
  // From the end is another dimension only where ranks differ.
  if (least_rank == most_rank) return;
  for (std::int64_t d = -1; d >= -rank; --d) subjects.push_back(subject_of(kind, argument, d));
}

std::optional<std::vector<Literal>> distinct_values(const Subject& subject,
                                                    const std::vector<const Case*>& cases) {
  std::vector<Literal> values;
  for (const Case* sample : cases) {
    const std::optional<Literal> value = evaluate(subject, *sample);
    if (!value) return std::nullopt;
    if (std::find(values.begin(), values.end(), *value) == values.end()) values.push_back(*value);
  }
  return values;
}

Test equality(const Subject& subject, std::vector<Literal> values) {
  const Test::Kind kind = values.size() == 1 ? Test::Kind::equals : Test::Kind::one_of;
  return {.subject = subject, .kind = kind, .values = std::move(values), .other = {}};
}

void add_ordered_tests(std::vector<Test>& tests, const Subject& subject,
                       std::vector<Literal>& values) {
  std::sort(values.begin(), values.end(),
            [](const Literal& a, const Literal& b) { return *a.as_int() < *b.as_int(); });
  if (values.size() == 1) return;
  tests.push_back({.subject = subject,
                   .kind = Test::Kind::between,
                   .values = {values.front(), values.back()},
                   .other = {}});
  for (const std::int64_t divisor : kDivisors) {
    if (std::all_of(values.begin(), values.end(),
                    [&](const Literal& value) { return *value.as_int() % divisor == 0; })) {
      tests.push_back(
          {.subject = subject, .kind = Test::Kind::divisible, .values = {divisor}, .other = {}});
    }
  }
}

}  // namespace

bool few_values(const std::vector<Literal>& values) {
  std::vector<Literal> distinct;
  for (const Literal& value : values) {
    if (std::find(distinct.begin(), distinct.end(), value) != distinct.end()) continue;
    distinct.push_back(value);
    if (distinct.size() > kMostValues) return false;
  }
  return true;
}

bool is_ordered(const Subject& subject, const std::vector<const Case*>& cases) {
  if (subject.kind == Subject::Kind::value) return false;
  return std::all_of(cases.begin(), cases.end(), [&](const Case* sample) {
    const std::optional<Literal> value = evaluate(subject, *sample);
    return value && value->as_int();
  });
}

std::vector<Subject> distinguishing_subjects(const Task& task,
                                             const std::vector<const Case*>& cases) {
  using Kind = Subject::Kind;
  const int arguments = static_cast<int>(task.parameters.size());
  std::vector<int> integers, tensors;
  std::vector<std::size_t> least_rank, most_rank;
  std::vector<Subject> subjects;
  for (int a = 0; a < arguments; ++a) {
    std::set<std::size_t> ranks;
    bool all_integers = !cases.empty();
    for (const Case* sample : cases) {
      const Argument& argument = sample->inputs[static_cast<std::size_t>(a)];
      if (const TensorSpec* tensor = argument.tensor()) ranks.insert(tensor->shape.size());
      all_integers = all_integers && argument.literal() && argument.literal()->as_int();
    }
    if (all_integers) integers.push_back(a);
    for (const Kind kind : {Kind::type, Kind::value}) subjects.push_back(subject_of(kind, a));
    if (ranks.empty()) continue;
    tensors.push_back(a);
    least_rank.push_back(*ranks.begin());
    most_rank.push_back(*ranks.rbegin());
  }
  for (const Kind kind : {Kind::dtype, Kind::rank, Kind::contiguous}) {
    for (const int a : tensors) subjects.push_back(subject_of(kind, a));
  }
  for (const Kind kind : {Kind::size, Kind::stride}) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      add_dimensions(subjects, kind, tensors[i], least_rank[i], most_rank[i], integers);
      if (kind == Kind::size) subjects.push_back(subject_of(Kind::numel, tensors[i]));
    }
  }
  for (const int a : tensors) subjects.push_back(subject_of(Kind::aligned, a));

  std::erase_if(subjects, [&](const Subject& subject) {
    const auto first = cases.empty() ? std::nullopt : evaluate(subject, *cases.front());
    return std::all_of(cases.begin(), cases.end(),
                       [&](const Case* sample) { return evaluate(subject, *sample) == first; });
  });
  return subjects;
}

std::optional<Test> separating_test(const Subject& subject, const std::vector<const Case*>& inside,
                                    const std::vector<const Case*>& outside) {
  std::optional<std::vector<Literal>> values = distinct_values(subject, inside);
  if (!values || values->empty()) return std::nullopt;

  // The broadest test first: of those that exclude as many, it admits most that was never seen.
  std::vector<Test> tests;
  if (is_ordered(subject, inside)) add_ordered_tests(tests, subject, *values);
  if (few_values(*values)) tests.push_back(equality(subject, *values));

  std::optional<Test> best;
  std::ptrdiff_t most_excluded = 0;
  for (const Test& test : tests) {
    const std::ptrdiff_t excluded = std::count_if(
        outside.begin(), outside.end(), [&](const Case* sample) { return !holds(test, *sample); });
    if (excluded <= most_excluded) continue;
    most_excluded = excluded;
    best = test;
  }
  return best;
}

}  // namespace ksplit
