// SPDX-License-Identifier: Apache-2.0
#include "generate/profile.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "generate/profiles.h"

namespace ksplit {
namespace {

/// Reads keys of one table; the first failure stays.
class Reader {
 public:
  Reader(const toml::table& table, std::string file) : table_(table), file_(std::move(file)) {}

  std::string text(const char* key) {
    const toml::node* node = require(key);
    if (!node) return {};
    if (const auto* value = node->as_string()) return value->get();
    refuse(*node, key, "a string");
    return {};
  }

  std::int64_t positive(const char* key) {
    const toml::node* node = require(key);
    if (!node) return 0;
    if (const auto* value = node->as_integer(); value && value->get() > 0) return value->get();
    refuse(*node, key, "a positive integer");
    return 0;
  }

  double positive_real(const char* key) {
    const toml::node* node = require(key);
    if (!node) return 0;
    if (const auto value = node->value<double>(); value && *value > 0) return *value;
    refuse(*node, key, "a positive number");
    return 0;
  }

  bool flag(const char* key) {
    const toml::node* node = require(key);
    if (!node) return false;
    if (const auto* value = node->as_boolean()) return value->get();
    refuse(*node, key, "true or false");
    return false;
  }

  template <class T>
  std::vector<T> list(const char* key, const char* expected, bool required) {
    const toml::node* node = required ? require(key) : table_.get(key);
    if (!node) return {};
    std::vector<T> values;
    if (const toml::array* array = node->as_array()) {
      for (const toml::node& item : *array) {
        if (const auto value = item.value_exact<T>()) values.push_back(*value);
      }
      if (values.size() == array->size()) return values;
    }
    refuse(*node, key, expected);
    return {};
  }

  /// A misspelt key must not pass as an absent one.
  void refuse_others(const std::vector<std::string_view>& known) {
    for (const auto& [key, node] : table_) {
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        fail_at(node.source(), fmt::format("unknown key `{}`", key.str()));
      }
    }
  }

  void refuse(const toml::node& node, const char* key, const char* expected) {
    fail_at(node.source(), fmt::format("`{}` must be {}", key, expected));
  }

  std::optional<Error>& error() { return error_; }

 private:
  const toml::node* require(const char* key) {
    const toml::node* node = table_.get(key);
    if (!node) fail_at(table_.source(), fmt::format("key `{}` is missing", key));
    return node;
  }

  void fail_at(const toml::source_region& region, std::string message) {
    if (error_) return;
    error_ = Error{ErrorCode::input_malformed, "profile " + file_ + ": " + std::move(message)};
    error_->at = SourceSpan{file_, static_cast<int>(region.begin.line),
                            static_cast<int>(region.begin.column)};
  }

  const toml::table& table_;
  std::string file_;
  std::optional<Error> error_;
};

std::vector<int> small_integers(Reader& reader, const toml::table& table, const char* key) {
  std::vector<int> values;
  for (const std::int64_t value :
       reader.list<std::int64_t>(key, "a list of powers of two up to 32", true)) {
    if (value < 1 || value > 32) {
      reader.refuse(*table.get(key), key, "a list of integers from 1 to 32");
      return {};
    }
    values.push_back(static_cast<int>(value));
  }
  return values;
}

}  // namespace

Result<DeviceProfile> load_profile(const std::string& toml_text, const std::string& name) {
  toml::table table;
  try {
    table = toml::parse(toml_text, name);
  } catch (const toml::parse_error& error) {
    Error failure{ErrorCode::input_malformed,
                  fmt::format("profile {}: {}", name, error.description())};
    failure.at = SourceSpan{name, static_cast<int>(error.source().begin.line),
                            static_cast<int>(error.source().begin.column)};
    return fail(std::move(failure));
  }

  Reader reader(table, name);
  DeviceProfile profile;
  profile.name = name;
  profile.kind = reader.text("kind");
  profile.devices = reader.list<std::string>("devices", "a list of strings", false);
  profile.cores = static_cast<int>(std::min<std::int64_t>(reader.positive("cores"), 1 << 20));
  profile.fast_memory_bytes = reader.positive("fast_memory_bytes");
  profile.grid_capped = reader.flag("grid_capped");
  profile.warps = small_integers(reader, table, "warps");
  profile.stages = small_integers(reader, table, "stages");
  profile.bandwidth_bytes_per_us = reader.positive_real("bandwidth_bytes_per_us");
  const std::string& kind = profile.kind;
  if (kind != "gpu" && kind != "cpu" && kind != "npu" && table.contains("kind")) {
    reader.refuse(*table.get("kind"), "kind", "gpu, cpu or npu");
  }
  reader.refuse_others({"kind", "devices", "cores", "fast_memory_bytes", "grid_capped", "warps",
                        "stages", "bandwidth_bytes_per_us"});
  if (auto& error = reader.error()) return fail(std::move(*error));
  return profile;
}

std::vector<std::string> builtin_profile_names() {
  std::vector<std::string> names;
  for (const EmbeddedProfile& profile : embedded_profiles()) names.emplace_back(profile.name);
  return names;
}

Result<DeviceProfile> builtin_profile(const std::string& name) {
  for (const EmbeddedProfile& profile : embedded_profiles()) {
    if (name == profile.name) return load_profile(profile.text, name);
  }
  return fail(ErrorCode::usage, fmt::format("no device profile is named `{}`", name),
              fmt::format("use one of {}, or the path of a .toml file",
                          fmt::join(builtin_profile_names(), ", ")));
}

Result<DeviceProfile> default_profile(const std::string& kind, const std::string& device_name) {
  std::optional<DeviceProfile> best;
  std::size_t longest = 0;  // "GH200" beats "H20"
  for (const std::string& name : builtin_profile_names()) {
    KSPLIT_TRY(DeviceProfile profile, builtin_profile(name));
    if (profile.kind != kind) continue;
    if (!best && profile.devices.empty()) best = profile;
    for (const std::string& part : profile.devices) {
      if (part.size() > longest && device_name.find(part) != std::string::npos) {
        longest = part.size();
        best = profile;
      }
    }
  }
  if (best) return std::move(*best);
  if (kind == "npu") return builtin_profile("ascend910b");
  return fail(ErrorCode::unsupported, fmt::format("no device profile covers kind `{}`", kind),
              "name one with `--profile`");
}

}  // namespace ksplit
