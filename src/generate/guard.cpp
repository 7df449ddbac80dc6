// SPDX-License-Identifier: Apache-2.0
#include "generate/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace ksplit {
namespace {

std::optional<double> as_number(const Literal& literal) {
  if (const bool* b = literal.as_bool()) return *b ? 1.0 : 0.0;
  if (const std::int64_t* i = literal.as_int()) return static_cast<double>(*i);
  if (const double* d = literal.as_float()) return *d;
  return std::nullopt;
}

/// `left == right` as Python decides it: 1 == 1.0 == True.
bool python_equal(const Literal& left, const Literal& right) {
  const std::int64_t* i = left.as_int();
  const std::int64_t* j = right.as_int();
  if (i && j) return *i == *j;  // exact beyond 2^53
  if (const auto a = as_number(left), b = as_number(right); a && b) return *a == *b;
  const Literal::List* a = left.as_list();
  const Literal::List* b = right.as_list();
  if (a && b) return std::equal(a->begin(), a->end(), b->begin(), b->end(), python_equal);
  return left == right;
}

bool by_identity(const Literal& value) {
  return value.is_none() || value.as_bool();
}

/// `equals` as it is written: `is` for None and bools, else `==`.
bool matches(const Literal& subject, const Literal& expected) {
  return by_identity(expected) ? subject == expected : python_equal(subject, expected);
}

const char* type_name(const Argument& argument) {
  if (argument.tensor()) return "Tensor";
  const Literal* literal = argument.literal();
  if (!literal) return nullptr;
  static constexpr const char* kNames[] = {"NoneType", "bool", "int", "float", "str", "list"};
  return kNames[literal->value.index()];
}

std::optional<std::int64_t> dimension_of(const Subject& subject, const Case& sample) {
  if (!subject.dimension_argument) return subject.dimension;
  const auto position = static_cast<std::size_t>(*subject.dimension_argument);
  if (position >= sample.inputs.size()) return std::nullopt;
  const Literal* literal = sample.inputs[position].literal();
  const std::int64_t* dimension = literal ? literal->as_int() : nullptr;
  return dimension ? std::optional(*dimension) : std::nullopt;
}

/// The element that `list[index]` names in Python.
std::optional<Literal> element(const std::vector<std::int64_t>& list,
                               std::optional<std::int64_t> index) {
  if (!index) return std::nullopt;
  const auto length = static_cast<std::int64_t>(list.size());
  const std::int64_t position = *index < 0 ? *index + length : *index;
  if (position < 0 || position >= length) return std::nullopt;
  return Literal(list[static_cast<std::size_t>(position)]);
}

std::optional<Literal> evaluate_tensor(const Subject& subject, const TensorSpec& tensor,
                                       const Case& sample) {
  using Kind = Subject::Kind;
  switch (subject.kind) {
    case Kind::dtype: return Literal("torch." + tensor.dtype);
    case Kind::rank: return Literal(static_cast<std::int64_t>(tensor.shape.size()));
    case Kind::size: return element(tensor.shape, dimension_of(subject, sample));
    case Kind::stride: return element(tensor.strides, dimension_of(subject, sample));
    case Kind::numel: return Literal(tensor.numel());
    case Kind::shape: return Literal(Literal::List(tensor.shape.begin(), tensor.shape.end()));
    case Kind::contiguous: return Literal(tensor.contiguous);
    case Kind::aligned: return Literal(tensor.alignment >= 16);
    case Kind::device: return Literal("the device of the run");
    case Kind::grad: return Literal(false);
    case Kind::type: return Literal("Tensor");
    case Kind::value: return std::nullopt;
  }
  return std::nullopt;
}

bool between(const Literal& subject, const Literal& low, const Literal& high) {
  const std::int64_t* s = subject.as_int();
  const std::int64_t* l = low.as_int();
  const std::int64_t* h = high.as_int();
  if (s && l && h) return *l <= *s && *s <= *h;
  const auto a = as_number(subject), b = as_number(low), c = as_number(high);
  return a && b && c && *b <= *a && *a <= *c;
}

bool is_multiple(const Literal& subject, const Literal& divisor) {
  const std::int64_t* s = subject.as_int();
  const std::int64_t* d = divisor.as_int();
  return s && d && *d != 0 && *s % *d == 0;
}

bool is_axis(const Literal& subject, const Literal& rank) {
  const std::int64_t* s = subject.as_int();
  const std::int64_t* r = rank.as_int();
  return s && r && -*r <= *s && *s < *r;
}

/// Whether a subject with this value passes the test.
bool satisfies(const Test& test, const Literal& value) {
  switch (test.kind) {
    case Test::Kind::equals: return matches(value, test.values.at(0));
    case Test::Kind::one_of:
      return std::any_of(test.values.begin(), test.values.end(),
                         [&](const Literal& expected) { return python_equal(value, expected); });
    case Test::Kind::between: return between(value, test.values.at(0), test.values.at(1));
    case Test::Kind::divisible: return is_multiple(value, test.values.at(0));
    case Test::Kind::equals_subject:
    case Test::Kind::axis_of: break;
  }
  KSPLIT_CHECK(false, "a test of two subjects has no single value");
  return false;
}

}  // namespace

std::optional<Literal> evaluate(const Subject& subject, const Case& sample) {
  const auto position = static_cast<std::size_t>(subject.argument);
  if (position >= sample.inputs.size()) return std::nullopt;
  const Argument& argument = sample.inputs[position];
  if (const TensorSpec* tensor = argument.tensor()) {
    return evaluate_tensor(subject, *tensor, sample);
  }
  if (subject.kind == Subject::Kind::type) {
    const char* name = type_name(argument);
    return name ? std::optional<Literal>(name) : std::nullopt;
  }
  if (subject.kind == Subject::Kind::value && argument.literal()) return *argument.literal();
  return std::nullopt;
}

bool holds(const Test& test, const Case& sample) {
  const std::optional<Literal> value = evaluate(test.subject, sample);
  if (!value) return false;
  if (test.kind == Test::Kind::equals_subject || test.kind == Test::Kind::axis_of) {
    const std::optional<Literal> other = evaluate(test.other, sample);
    if (!other) return false;
    return test.kind == Test::Kind::axis_of ? is_axis(*value, *other)
                                            : python_equal(*value, *other);
  }
  if (test.subject.kind == Subject::Kind::device) return false;
  return satisfies(test, *value);
}

bool holds(const Guard& guard, const Case& sample) {
  return std::all_of(guard.begin(), guard.end(),
                     [&](const Test& test) { return holds(test, sample); });
}

namespace {

/// How the values of a test on this subject are written.
std::string value_text(const Subject& subject, const Literal& value) {
  using Kind = Subject::Kind;
  if (subject.kind == Kind::dtype) return *value.as_string();
  if (subject.kind == Kind::type) {
    const std::string& name = *value.as_string();
    if (name == "Tensor") return "torch.Tensor";
    return name == "NoneType" ? "type(None)" : name;
  }
  if (subject.kind == Kind::shape && value.as_list()) {
    const std::string list = to_python(value);
    const char* tail = value.as_list()->size() == 1 ? ",)" : ")";
    return "(" + list.substr(1, list.size() - 2) + tail;
  }
  return to_python(value);
}

std::string value_list(const Test& test) {
  std::vector<std::string> texts;
  for (const Literal& value : test.values) {
    texts.push_back(value_text(test.subject, value));
    if (test.subject.kind == Subject::Kind::type && *value.as_string() == "list") {
      texts.emplace_back("tuple");
    }
  }
  return fmt::format("({}{})", fmt::join(texts, ", "), texts.size() == 1 ? "," : "");
}

std::string equality(const Test& test, const std::string& subject) {
  using Kind = Subject::Kind;
  const Literal& value = test.values.at(0);
  if (test.subject.kind == Kind::type) {
    if (*value.as_string() == "list") return subject + " in (list, tuple)";
    return subject + " is " + value_text(test.subject, value);
  }
  if (const bool* expected = value.as_bool()) {
    if (test.subject.kind == Kind::value) return subject + (*expected ? " is True" : " is False");
    return *expected ? subject : "not " + subject;
  }
  if (value.is_none()) return subject + " is None";
  return subject + " == " + value_text(test.subject, value);
}

bool has_list(const Test& test) {
  return std::any_of(test.values.begin(), test.values.end(),
                     [](const Literal& value) { return value.as_list() != nullptr; });
}

}  // namespace

std::string to_python(const Subject& subject, const std::vector<Parameter>& parameters) {
  using Kind = Subject::Kind;
  const auto name_of = [&](int position) -> const std::string& {
    return parameters.at(static_cast<std::size_t>(position)).name;
  };
  const std::string& name = name_of(subject.argument);
  const auto dimension = [&] {
    return subject.dimension_argument ? name_of(*subject.dimension_argument)
                                      : std::to_string(subject.dimension);
  };
  switch (subject.kind) {
    case Kind::dtype: return name + ".dtype";
    case Kind::rank: return name + ".dim()";
    case Kind::size: return fmt::format("{}.size({})", name, dimension());
    case Kind::stride: return fmt::format("{}.stride({})", name, dimension());
    case Kind::numel: return name + ".numel()";
    case Kind::shape: return name + ".shape";
    case Kind::contiguous: return name + ".is_contiguous()";
    case Kind::aligned: return name + ".data_ptr() % 16 == 0";
    case Kind::value: return name;
    case Kind::type: return fmt::format("type({})", name);
    case Kind::device: return name + ".get_device()";
    case Kind::grad: return name + ".requires_grad";
  }
  return name;
}

std::string to_python(const Test& test, const std::vector<Parameter>& parameters) {
  std::string subject = to_python(test.subject, parameters);
  const bool by_value = test.subject.kind == Subject::Kind::value;
  if (by_value && has_list(test)) subject = fmt::format("list({})", subject);
  switch (test.kind) {
    case Test::Kind::equals: return equality(test, subject);
    case Test::Kind::one_of: return subject + " in " + value_list(test);
    case Test::Kind::between:
      return fmt::format("{} <= {} <= {}", to_python(test.values.at(0)), subject,
                         to_python(test.values.at(1)));
    case Test::Kind::divisible:
      return fmt::format("{} % {} == 0", subject, to_python(test.values.at(0)));
    case Test::Kind::equals_subject: return subject + " == " + to_python(test.other, parameters);
    case Test::Kind::axis_of: {
      const std::string rank = to_python(test.other, parameters);
      return fmt::format("-{} <= {} < {}", rank, subject, rank);
    }
  }
  return subject;
}

namespace {

/// The values that pass a test, where there are few; each stands for all that equal it.
std::vector<Literal> passing_values(const Test& test) {
  if (test.kind == Test::Kind::equals || test.kind == Test::Kind::one_of) return test.values;
  if (test.kind == Test::Kind::between && test.values.at(0) == test.values.at(1)) {
    return {test.values[0]};
  }
  return {};
}

bool implies_alone(const Test& known, const Test& test) {
  if (known == test) return true;
  if (known.kind == Test::Kind::equals_subject && test.kind == Test::Kind::equals_subject) {
    return known.subject == test.other && known.other == test.subject;
  }
  if (known.subject != test.subject) return false;
  if (test.kind == Test::Kind::equals_subject || test.kind == Test::Kind::axis_of) return false;
  if (test.kind == Test::Kind::equals && by_identity(test.values.at(0))) return false;
  if (const std::vector<Literal> values = passing_values(known); !values.empty()) {
    return std::all_of(values.begin(), values.end(),
                       [&](const Literal& value) { return satisfies(test, value); });
  }
  if (known.kind == Test::Kind::between && test.kind == Test::Kind::between) {
    return between(known.values.at(0), test.values.at(0), test.values.at(1)) &&
           between(known.values.at(1), test.values.at(0), test.values.at(1));
  }
  if (known.kind == Test::Kind::divisible && test.kind == Test::Kind::divisible) {
    return is_multiple(known.values.at(0), test.values.at(0));
  }
  return false;
}

}  // namespace

bool implies(const Guard& known, const Test& test) {
  return std::any_of(known.begin(), known.end(),
                     [&](const Test& fact) { return implies_alone(fact, test); });
}

}  // namespace ksplit
