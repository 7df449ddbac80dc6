// SPDX-License-Identifier: Apache-2.0
#include "worker/fields.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace ksplit {

using nlohmann::json;

namespace {

constexpr std::size_t kExcerpt = 60;

std::optional<std::int64_t> as_integer(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const bool too_large = value.is_number_unsigned() &&
                         value.get<std::uint64_t>() >
                             static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (too_large) return std::nullopt;
  return value.get<std::int64_t>();
}

std::optional<double> as_number(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_object()) return std::nullopt;
  const auto literal = literal_from_json(value);
  if (!literal || literal->as_float() == nullptr) return std::nullopt;
  return *literal->as_float();
}

std::optional<std::string> as_text(const json& value) {
  if (!value.is_string()) return std::nullopt;
  return value.get<std::string>();
}

std::string element(const std::string& name, std::size_t index) {
  return fmt::format("{}[{}]", name, index);
}

/// Each element of `list` through `convert`; calls `reject` with the name of one it refuses.
template <class T, class Convert, class Reject>
std::vector<T> convert_all(const json* list, const std::string& name, Convert convert,
                           Reject reject) {
  std::vector<T> values;
  if (list == nullptr) return values;
  values.reserve(list->size());
  for (const json& item : *list) {
    if (auto value = convert(item)) {
      values.push_back(*std::move(value));
    } else {
      reject(element(name, values.size()));
      return {};
    }
  }
  return values;
}

}  // namespace

FieldReader::FieldReader(std::string_view op, const json& value)
    : FieldReader(op, value, "", &own_error_) {}

FieldReader::FieldReader(std::string_view op, const json& value, std::string path,
                         std::optional<Error>* error)
    : op_(op), value_(&value), path_(std::move(path)), error_(error) {
  if (!value.is_object()) {
    remember(
        fmt::format("worker answered `{}` with {} that is not an object", op_,
                    path_.empty() ? "a result" : "`" + path_.substr(0, path_.size() - 1) + "`"));
  }
}

void FieldReader::remember(std::string message) {
  if (!*error_) *error_ = Error{ErrorCode::worker_failed, std::move(message)};
}

void FieldReader::reject(const std::string& name, std::string_view expected) {
  remember(
      fmt::format("worker answered `{}` with `{}{}` that is not {}", op_, path_, name, expected));
}

bool FieldReader::has(const std::string& name) const {
  if (!value_->is_object()) return false;
  const auto found = value_->find(name);
  return found != value_->end() && !found->is_null();
}

std::vector<std::string> FieldReader::names() const {
  std::vector<std::string> names;
  if (!value_->is_object()) return names;
  for (const auto& [name, value] : value_->items()) names.push_back(name);
  return names;
}

const json* FieldReader::find(const std::string& name) {
  if (!value_->is_object()) return nullptr;
  const auto found = value_->find(name);
  if (found != value_->end()) return &*found;
  remember(fmt::format("worker answered `{}` without `{}{}`", op_, path_, name));
  return nullptr;
}

const json* FieldReader::find_list(const std::string& name) {
  const json* value = find(name);
  if (value != nullptr && !value->is_array()) reject(name, "a list");
  return value != nullptr && value->is_array() ? value : nullptr;
}

bool FieldReader::boolean(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return false;
  if (!value->is_boolean()) reject(name, "true or false");
  return value->is_boolean() && value->get<bool>();
}

std::int64_t FieldReader::integer(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return 0;
  const auto integer = as_integer(*value);
  if (!integer) reject(name, "an integer");
  return integer.value_or(0);
}

int FieldReader::small_integer(const std::string& name) {
  const std::int64_t value = integer(name);
  const bool fits =
      value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
  if (!fits) reject(name, "an integer of 32 bits");
  return fits ? static_cast<int>(value) : 0;
}

double FieldReader::number(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return 0;
  const auto number = as_number(*value);
  if (!number) reject(name, "a number");
  return number.value_or(0);
}

double FieldReader::statistic(const std::string& name) {
  const json* value = find(name);
  return value != nullptr && value->is_null() ? std::nan("") : number(name);
}

std::string FieldReader::text(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return {};
  auto text = as_text(*value);
  if (!text) reject(name, "a string");
  return std::move(text).value_or("");
}

Literal FieldReader::constant(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return {};
  auto literal = literal_from_json(*value);
  if (!literal) {
    const std::string excerpt = value->dump().substr(0, kExcerpt);
    reject(name, fmt::format("a constant: `{}`", excerpt));
    return {};
  }
  return *std::move(literal);
}

std::vector<std::int64_t> FieldReader::integers(const std::string& name) {
  return convert_all<std::int64_t>(find_list(name), name, as_integer,
                                   [this](const auto& item) { reject(item, "an integer"); });
}

std::vector<double> FieldReader::numbers(const std::string& name) {
  return convert_all<double>(find_list(name), name, as_number,
                             [this](const auto& item) { reject(item, "a number"); });
}

std::vector<std::string> FieldReader::texts(const std::string& name) {
  return convert_all<std::string>(find_list(name), name, as_text,
                                  [this](const auto& item) { reject(item, "a string"); });
}

void FieldReader::object(const std::string& name, const Read& read) {
  const json* value = find(name);
  if (value == nullptr) return;
  FieldReader nested(op_, *value, path_ + name + ".", error_);
  if (value->is_object()) read(nested);
}

void FieldReader::each(const std::string& name, const Read& read) {
  const json* list = find_list(name);
  if (list == nullptr) return;
  std::size_t index = 0;
  for (const json& item : *list) {
    FieldReader nested(op_, item, path_ + element(name, index++) + ".", error_);
    if (*error_) return;
    read(nested);
  }
}

}  // namespace ksplit
