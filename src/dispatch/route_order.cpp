// SPDX-License-Identifier: Apache-2.0
#include "dispatch/route_order.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace ksplit {

namespace {

bool compares_subjects(const Test& test) {
  return test.kind == Test::Kind::equals_subject || test.kind == Test::Kind::axis_of;
}

int stage_of(const Subject& subject) {
  switch (subject.kind) {
    case Subject::Kind::type: return 0;
    case Subject::Kind::size:
    case Subject::Kind::stride: return 2;
    default: return 1;
  }
}

int cost_of(const Subject& subject) {
  using Kind = Subject::Kind;
  switch (subject.kind) {
    case Kind::value: return 1;
    case Kind::type:
    case Kind::dtype:
    case Kind::rank:
    case Kind::grad: return 2;
    case Kind::contiguous:
    case Kind::numel:
    case Kind::device: return 3;
    case Kind::size:
    case Kind::stride: return 4;
    case Kind::shape:
    case Kind::aligned: return 6;
  }
  return 6;
}

std::set<int> arguments_of(const Test& test) {
  std::set<int> arguments;
  const auto add = [&](const Subject& subject) {
    arguments.insert(subject.argument);
    if (subject.dimension_argument) arguments.insert(*subject.dimension_argument);
  };
  add(test.subject);
  if (compares_subjects(test)) add(test.other);
  return arguments;
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

int stage_of(const Test& test) {
  return std::max(stage_of(test.subject), compares_subjects(test) ? stage_of(test.other) : 0);
}

bool protects(const Test& earlier, const Test& later) {
  if (stage_of(earlier) >= stage_of(later)) return false;
  const std::set<int> a = arguments_of(earlier);
  const std::set<int> b = arguments_of(later);
  return std::any_of(a.begin(), a.end(), [&](int argument) { return b.contains(argument); });
}

int cost_of(const Test& test) {
  return cost_of(test.subject) + (compares_subjects(test) ? cost_of(test.other) : 0);
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
  return result;
}

}  // namespace ksplit
