// SPDX-License-Identifier: Apache-2.0
#include "generate/configure/preconditions.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace ksplit {
namespace {

struct ByValue {
  bool operator()(const Literal& a, const Literal& b) const { return to_python(a) < to_python(b); }
};
using LiteralSet = std::set<Literal, ByValue>;

using Kinds = std::vector<std::string>;  // of a case's arguments; "" where no test can tell

std::string kind_of(const Argument& argument) {
  if (argument.tensor() != nullptr) return "Tensor";
  const Literal* literal = argument.literal();
  if (literal == nullptr) return {};
  if (literal->is_none()) return "NoneType";
  if (literal->as_bool() != nullptr) return "bool";
  if (literal->as_int() != nullptr) return "int";
  if (literal->as_float() != nullptr) return "float";
  if (literal->as_string() != nullptr) return "str";
  return "list";
}

Subject subject(Subject::Kind kind, std::size_t argument, std::int64_t dimension = 0) {
  Subject result;
  result.kind = kind;
  result.argument = static_cast<int>(argument);
  result.dimension = dimension;
  return result;
}

Test among(Subject what, const LiteralSet& values) {
  Test test;
  test.subject = what;
  test.kind = values.size() == 1 ? Test::Kind::equals : Test::Kind::one_of;
  test.values.assign(values.begin(), values.end());
  return test;
}

Guard guard_for(const Kinds& kinds, const std::vector<const Case*>& cases,
                const std::vector<bool>& varies) {
  using Kind = Subject::Kind;
  Guard guard;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const bool tensor = kinds[i] == "Tensor";
    // The kind of a number is the base's own concern; only where kinds differ must they be told.
    if (!tensor && (!varies[i] || kinds[i].empty())) continue;
    guard.push_back({subject(Kind::type, i), Test::Kind::equals, {Literal(kinds[i])}, {}});
    if (!tensor) continue;
    LiteralSet dtypes;
    LiteralSet ranks;
    for (const Case* sample : cases) {
      const TensorSpec& spec = *sample->inputs[i].tensor();
      dtypes.insert(Literal("torch." + spec.dtype));
      ranks.insert(Literal(static_cast<std::int64_t>(spec.shape.size())));
    }
    guard.push_back(among(subject(Kind::dtype, i), dtypes));
    guard.push_back(among(subject(Kind::rank, i), ranks));
    guard.push_back({subject(Kind::grad, i), Test::Kind::equals, {Literal(false)}, {}});
  }
  return guard;
}

}  // namespace

std::vector<Guard> type_guards(const std::vector<const Case*>& cases) {
  std::map<Kinds, std::vector<const Case*>> by_kinds;
  for (const Case* sample : cases) {
    Kinds kinds;
    for (const Argument& argument : sample->inputs) kinds.push_back(kind_of(argument));
    by_kinds[kinds].push_back(sample);
  }
  std::vector<bool> varies;
  for (const auto& [kinds, samples] : by_kinds) {
    varies.resize(std::max(varies.size(), kinds.size()));
    const Kinds& first = by_kinds.begin()->first;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (i >= first.size() || kinds[i] != first[i]) varies[i] = true;
    }
  }
  std::vector<Guard> guards;
  guards.reserve(by_kinds.size());
  for (const auto& [kinds, samples] : by_kinds) guards.push_back(guard_for(kinds, samples, varies));
  return guards;
}

std::vector<Subject> size_envelope(const std::vector<const Case*>& cases) {
  std::vector<Subject> envelope;
  if (cases.empty()) return envelope;
  for (std::size_t i = 0; i < cases.front()->inputs.size(); ++i) {
    const bool tensors = std::all_of(cases.begin(), cases.end(), [&](const Case* sample) {
      return i < sample->inputs.size() && sample->inputs[i].tensor() != nullptr;
    });
    if (!tensors) continue;
    envelope.push_back(subject(Subject::Kind::numel, i));
    const std::size_t rank = cases.front()->inputs[i].tensor()->shape.size();
    const bool same_rank = std::all_of(cases.begin(), cases.end(), [&](const Case* sample) {
      return sample->inputs[i].tensor()->shape.size() == rank;
    });
    for (std::size_t dimension = 0; same_rank && dimension < rank; ++dimension) {
      envelope.push_back(subject(Subject::Kind::size, i, static_cast<std::int64_t>(dimension)));
    }
  }
  return envelope;
}

}  // namespace ksplit
