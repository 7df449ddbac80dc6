// SPDX-License-Identifier: Apache-2.0
#include "dispatch/route_order.h"

#include <algorithm>
#include <iterator>

namespace ksplit {

namespace {

bool compares_subjects(const Test& test) {
  return test.kind == Test::Kind::equals_subject || test.kind == Test::Kind::axis_of;
}

bool is_about(const Subject& question, int argument) {
  return question.argument == argument || question.dimension_argument == argument;
}

// Whether a value of the subject settles how many axes a tensor has or which one is meant.
bool settles_axes(const Subject& subject) {
  return subject.kind == Subject::Kind::rank || subject.kind == Subject::Kind::shape ||
         subject.kind == Subject::Kind::value;
}

bool names_axis(const Subject& subject) {
  return subject.kind == Subject::Kind::size ||
         (subject.kind == Subject::Kind::stride && subject.dimension != kAllAxes);
}

bool lists_values(const Test& test) {
  return test.kind == Test::Kind::equals || test.kind == Test::Kind::one_of;
}

// Unequal in Python too: two integers, or two strings, not 1 and True.
bool surely_differ(const Literal& a, const Literal& b) {
  return a.value.index() == b.value.index() && a != b && !a.as_float() && !a.as_list();
}

bool surely_outside(const Literal& value, const Test& range) {
  const std::int64_t* at = value.as_int();
  const std::int64_t* low = range.values[0].as_int();
  const std::int64_t* high = range.values[1].as_int();
  return at && low && high && (*at < *low || *at > *high);
}

bool disjoint_ranges(const Test& a, const Test& b) {
  return surely_outside(a.values[1], b) && surely_outside(a.values[0], b) &&
         surely_outside(b.values[0], a);
}

}  // namespace

std::vector<Subject> subjects_of(const Test& test) {
  if (compares_subjects(test)) return {test.subject, test.other};
  return {test.subject};
}

bool protects(const Test& earlier, const Subject& question) {
  if (question.kind == Subject::Kind::type) return false;
  const std::vector<Subject> asked = subjects_of(earlier);
  return std::any_of(asked.begin(), asked.end(), [&](const Subject& subject) {
    const bool settles =
        subject.kind == Subject::Kind::type || (names_axis(question) && settles_axes(subject));
    return settles && is_about(question, subject.argument);
  });
}

bool protects(const Test& earlier, const Test& later) {
  const std::vector<Subject> questions = subjects_of(later);
  return std::any_of(questions.begin(), questions.end(),
                     [&](const Subject& question) { return protects(earlier, question); });
}

std::optional<Subject> source_of(const Subject& subject) {
  using Kind = Subject::Kind;
  switch (subject.kind) {
    case Kind::type:
    case Kind::value: return std::nullopt;
    case Kind::rank:
    case Kind::size: return Subject{Kind::shape, subject.argument, 0, std::nullopt};
    case Kind::stride: return Subject{Kind::stride, subject.argument, kAllAxes, std::nullopt};
    default: return Subject{subject.kind, subject.argument, 0, std::nullopt};
  }
}

// Measured with CPython 3.11 and torch 2.13; only their ratios matter.
int cost_of_source(const Subject& source) {
  using Kind = Subject::Kind;
  switch (source.kind) {
    case Kind::grad:
    case Kind::device: return 6;
    case Kind::contiguous: return 8;
    case Kind::dtype: return 10;
    case Kind::numel: return 14;
    case Kind::shape: return 19;
    default: return 15;
  }
}

int cost_of_comparison(const Test& test) {
  if (test.subject.kind == Subject::Kind::shape) return 10;
  switch (test.kind) {
    case Test::Kind::one_of: return 2 + 2 * static_cast<int>(test.values.size());
    case Test::Kind::equals: return 2;
    default: return 3;
  }
}

bool excludes(const Test& a, const Test& b) {
  if (a.subject != b.subject) return false;
  if (lists_values(a) && lists_values(b)) {
    return std::all_of(a.values.begin(), a.values.end(), [&](const Literal& value) {
      return std::all_of(b.values.begin(), b.values.end(),
                         [&](const Literal& other) { return surely_differ(value, other); });
    });
  }
  if (lists_values(a) && b.kind == Test::Kind::between) {
    return std::all_of(a.values.begin(), a.values.end(),
                       [&](const Literal& value) { return surely_outside(value, b); });
  }
  if (a.kind == Test::Kind::between && lists_values(b)) return excludes(b, a);
  return a.kind == Test::Kind::between && b.kind == Test::Kind::between && disjoint_ranges(a, b);
}

bool excludes(const Guard& a, const Guard& b) {
  return std::any_of(a.begin(), a.end(), [&](const Test& test) {
    return std::any_of(b.begin(), b.end(),
                       [&](const Test& other) { return excludes(test, other); });
  });
}

namespace {

// Equal subjects make equal: of two tensors with one dtype each test on the dtype of one is a test
// on the other's; equal shapes have equal element counts.
bool equates(const Test& test, const Subject& a, const Subject& b) {
  using Kind = Subject::Kind;
  if (test.kind != Test::Kind::equals_subject || a.kind != b.kind) return false;
  const bool same_kind = test.subject.kind == a.kind && test.other.kind == b.kind;
  const bool by_shape = a.kind == Kind::numel && test.subject.kind == Kind::shape;
  if (!same_kind && !by_shape) return false;
  const int first = test.subject.argument, second = test.other.argument;
  return (first == a.argument && second == b.argument) ||
         (first == b.argument && second == a.argument);
}

// Only for questions that make nothing else safe, so that dropping one moves no danger.
void drop_implied_by_equals(Guard& guard) {
  using Kind = Subject::Kind;
  const auto implied = [&guard](const Test& test) {
    if (test.subject.kind != Kind::dtype && test.subject.kind != Kind::numel) return false;
    if (compares_subjects(test)) return false;
    return std::any_of(guard.begin(), guard.end(), [&](const Test& known) {
      if (known.subject.argument == test.subject.argument || compares_subjects(known)) return false;
      const bool equal = std::any_of(guard.begin(), guard.end(), [&](const Test& equality) {
        return equates(equality, known.subject, test.subject);
      });
      Test moved = known;
      moved.subject = test.subject;
      return equal && implies({moved}, test);
    });
  };
  // From the end, one by one: of two that imply each other the first stays.
  for (std::size_t i = guard.size(); i-- > 0;) {
    if (implied(guard[i])) guard.erase(guard.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

Guard simplified(const Guard& guard) {
  Guard result;
  for (const Test& test : guard) {
    if (std::any_of(result.begin(), result.end(), [&](const Test& known) {
          return known == test || (known.subject == test.subject && implies({known}, test));
        })) {
      continue;
    }
    // A tighter test on the same subject takes the place of the looser one: what made that safe
    // makes it safe, and what relied on that may rely on it.
    const auto weaker = std::find_if(result.begin(), result.end(), [&](const Test& known) {
      return known.subject == test.subject && implies({test}, known);
    });
    if (weaker == result.end()) {
      result.push_back(test);
      continue;
    }
    *weaker = test;
    const auto redundant = [&](const Test& known) {
      return known.subject == test.subject && known != test && implies({test}, known);
    };
    result.erase(std::remove_if(std::next(weaker), result.end(), redundant), result.end());
  }
  drop_implied_by_equals(result);
  return result;
}

}  // namespace ksplit
