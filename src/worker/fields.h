// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/literal.h"
#include "core/result.h"

namespace ksplit {

/// Reads the fields of a worker's answer without a check after each. The first field that is
/// absent or of the wrong kind is remembered; later reads give empty values, and `finish` gives the
/// error instead of what was built:
///
///   FieldReader fields("route", result);
///   RouteCost cost{fields.number("router_us"), fields.text("route")};
///   return fields.finish(std::move(cost));
///
/// A reader does not own its JSON. The readers of nested objects that `object` and `each` hand out
/// share the memory of the outermost one.
class FieldReader {
 public:
  using Read = std::function<void(FieldReader&)>;

  FieldReader(std::string_view op, const nlohmann::json& value);
  FieldReader(const FieldReader&) = delete;
  FieldReader& operator=(const FieldReader&) = delete;

  bool has(const std::string& name) const;  // present and not null
  std::vector<std::string> names() const;   // of all fields

  bool boolean(const std::string& name);
  std::int64_t integer(const std::string& name);
  int small_integer(const std::string& name);  // must fit an int
  double number(const std::string& name);      // {"float": "nan"} and its like too
  double statistic(const std::string& name);   // a number, or null for NaN
  std::string text(const std::string& name);
  Literal constant(const std::string& name);
  std::vector<std::int64_t> integers(const std::string& name);
  std::vector<double> numbers(const std::string& name);
  std::vector<std::string> texts(const std::string& name);

  /// Calls `read` with a reader of the object `name`.
  void object(const std::string& name, const Read& read);

  /// Calls `read` with a reader of each object in the list `name`.
  void each(const std::string& name, const Read& read);

  /// Remembers that field `name` is not `expected` ("a tensor").
  void reject(const std::string& name, std::string_view expected);

  template <class T>
  Result<T> finish(T value) const {
    if (*error_) return fail(**error_);
    return value;
  }

 private:
  FieldReader(std::string_view op, const nlohmann::json& value, std::string path,
              std::optional<Error>* error);

  /// The field's value, or nullptr; an absent one is remembered.
  const nlohmann::json* find(const std::string& name);
  const nlohmann::json* find_list(const std::string& name);
  void remember(std::string message);

  std::string op_;
  const nlohmann::json* value_;
  std::string path_;  // of value_ within the answer, "cases[0]."; empty for the outermost
  std::optional<Error> own_error_;
  std::optional<Error>* error_;
};

}  // namespace ksplit
