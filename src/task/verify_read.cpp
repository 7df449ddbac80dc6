// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "core/files.h"
#include "task/perf.h"

namespace ksplit {

namespace {

using Json = nlohmann::json;

constexpr const char* kHint =
    "verify the implementation first, or say --verify_not_required to time it unverified";

tl::unexpected<Error> refused(const std::filesystem::path& file, const std::string& why) {
  return fail(ErrorCode::verification_failed, fmt::format("`{}` {}", file.string(), why), kHint);
}

std::optional<int> count(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_unsigned()) return std::nullopt;
  // A count beyond this is no count.
  constexpr unsigned kMost = 1'000'000'000;
  const auto value = found->get<std::uint64_t>();
  return value > kMost ? std::nullopt : std::optional(static_cast<int>(value));
}

/// "; case 2: AccuracyError" for the first failure on record, if it can be read.
std::string first_failure(const Json& json) {
  const auto failures = json.find("failures");
  if (failures == json.end() || !failures->is_array() || failures->empty()) return {};
  const Json& first = failures->front();
  if (!first.is_object()) return {};
  const std::optional<int> index = count(first, "case_idx");
  const auto type = first.find("error_type");
  if (!index || type == first.end() || !type->is_string()) return {};
  return fmt::format("; case {}: {}", *index, type->get<std::string>());
}

}  // namespace

Result<int> read_passed_verify(const std::filesystem::path& file, const std::string& op_name) {
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) {
    return refused(file, "is not there: the implementation has not been verified");
  }
  const auto text = read_file(file);
  if (!text) return refused(file, "cannot be read");
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return refused(file, "is no JSON object");
  const std::optional<int> total = count(json, "total_cases");
  const std::optional<int> passed = count(json, "passed_cases");
  if (!total || !passed) return refused(file, "lacks the count total_cases or passed_cases");
  if (*total == 0) return refused(file, "is about no case at all");
  if (*passed != *total) {
    return refused(
        file, fmt::format("has {} of {} cases passed{}", *passed, *total, first_failure(json)));
  }
  const auto op = json.find("op_name");
  if (op != json.end() && *op != op_name) {
    return refused(file, fmt::format("is about another operator, {}", op->dump()));
  }
  return *total;
}

}  // namespace ksplit
