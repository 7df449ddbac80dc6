// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "core/result.h"

namespace ksplit {

/// A Python constant as a value: None, bool, int, float, str, or a list (or tuple) of those.
struct Literal {
  using List = std::vector<Literal>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List> value;

  Literal() = default;
  Literal(bool b) : value(b) {}
  Literal(std::int64_t i) : value(i) {}
  Literal(int i) : value(static_cast<std::int64_t>(i)) {}
  Literal(double d) : value(d) {}
  Literal(std::string s) : value(std::move(s)) {}
  Literal(const char* s) : value(std::string(s)) {}
  Literal(List l) : value(std::move(l)) {}

  bool operator==(const Literal&) const = default;

  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
  const bool* as_bool() const { return std::get_if<bool>(&value); }
  const std::int64_t* as_int() const { return std::get_if<std::int64_t>(&value); }
  const double* as_float() const { return std::get_if<double>(&value); }
  const std::string* as_string() const { return std::get_if<std::string>(&value); }
  const List* as_list() const { return std::get_if<List>(&value); }
};

/// Python source text of the constant: `None`, `True`, `-3`, `0.5`, `float("inf")`, `"a"`, `[1]`.
std::string to_python(const Literal& literal);

/// JSON in which a float that is not finite is the string "nan", "inf" or "-inf" inside
/// {"float": ...}; everything else is plain JSON.
nlohmann::json to_json(const Literal& literal);
Result<Literal> literal_from_json(const nlohmann::json& json);

}  // namespace ksplit
