// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <type_traits>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/check.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/literal.h"
#include "core/result.h"

namespace ksplit {

const char* name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage: return "usage";
    case ErrorCode::input_missing: return "input-missing";
    case ErrorCode::input_malformed: return "input-malformed";
    case ErrorCode::input_mismatch: return "input-mismatch";
    case ErrorCode::environment: return "environment";
    case ErrorCode::output_unwritable: return "output-unwritable";
    case ErrorCode::worker_failed: return "worker-failed";
    case ErrorCode::candidate_failed: return "candidate-failed";
    case ErrorCode::reference_failed: return "reference-failed";
    case ErrorCode::base_inaccurate: return "base-inaccurate";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::verification_failed: return "verification-failed";
    case ErrorCode::integration_failed: return "integration-failed";
    case ErrorCode::interrupted: return "interrupted";
  }
  return "unknown";
}

void throw_internal_error(const char* condition, const char* file, int line,
                          const std::string& what) {
  throw InternalError(fmt::format("{}:{}: {} ({})", file, line, what, condition));
}

Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return fail(ErrorCode::input_missing, fmt::format("no file `{}`", path.string()));
  }
  if (std::filesystem::is_directory(path, ignored)) {
    return fail(ErrorCode::input_malformed, fmt::format("`{}` is a directory", path.string()));
  }
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  if (!stream) {
    return fail(ErrorCode::input_malformed, fmt::format("cannot read `{}`", path.string()));
  }
  return content.str();
}

namespace {

tl::unexpected<Error> unwritable(const std::filesystem::path& path, const std::string& reason) {
  return fail(ErrorCode::output_unwritable,
              fmt::format("cannot write `{}`: {}", path.string(), reason));
}

}  // namespace

Status write_file(const std::filesystem::path& path, std::string_view content) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) return unwritable(path, error.message());
  const std::filesystem::path temporary =
      path.string() + fmt::format(".tmp{}", static_cast<long>(getpid()));
  {
    std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
    stream.flush();
    if (!stream) {
      const std::string reason = std::strerror(errno);
      std::filesystem::remove(temporary, error);
      return unwritable(path, reason);
    }
  }
  std::filesystem::rename(temporary, path, error);
  if (error) {
    const std::string reason = error.message();
    std::filesystem::remove(temporary, error);
    return unwritable(path, reason);
  }
  return {};
}

std::string hash_hex(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

namespace {

std::string quote_python(const std::string& text) {
  // JSON's escapes are a subset of Python's.
  return nlohmann::json(text).dump();
}

std::string float_to_python(double d) {
  if (std::isnan(d)) return "float(\"nan\")";
  if (std::isinf(d)) return d > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  std::string text = fmt::format("{}", d);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string to_python(const Literal& literal) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "None";
        } else if constexpr (std::is_same_v<T, bool>) {
          return v ? "True" : "False";
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          return fmt::format("{}", v);
        } else if constexpr (std::is_same_v<T, double>) {
          return float_to_python(v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return quote_python(v);
        } else {
          std::string text = "[";
          for (const Literal& item : v) text += (text.size() > 1 ? ", " : "") + to_python(item);
          return text + "]";
        }
      },
      literal.value);
}

nlohmann::json to_json(const Literal& literal) {
  return std::visit(
      [](const auto& v) -> nlohmann::json {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, double>) {
          if (std::isnan(v)) return {{"float", "nan"}};
          if (std::isinf(v)) return {{"float", v > 0 ? "inf" : "-inf"}};
          return v;
        } else if constexpr (std::is_same_v<T, Literal::List>) {
          nlohmann::json list = nlohmann::json::array();
          for (const Literal& item : v) list.push_back(to_json(item));
          return list;
        } else {
          return v;
        }
      },
      literal.value);
}

Result<Literal> literal_from_json(const nlohmann::json& json) {
  if (json.is_null()) return Literal{};
  if (json.is_boolean()) return Literal{json.get<bool>()};
  if (json.is_number_integer()) return Literal{json.get<std::int64_t>()};
  if (json.is_number_float()) return Literal{json.get<double>()};
  if (json.is_string()) return Literal{json.get<std::string>()};
  if (json.is_array()) {
    Literal::List list;
    for (const auto& item : json) {
      KSPLIT_TRY(Literal element, literal_from_json(item));
      list.push_back(std::move(element));
    }
    return Literal{std::move(list)};
  }
  if (json.is_object() && json.size() == 1 && json.contains("float") && json["float"].is_string()) {
    const auto text = json["float"].get<std::string>();
    if (text == "nan") return Literal{std::nan("")};
    if (text == "inf") return Literal{HUGE_VAL};
    if (text == "-inf") return Literal{-HUGE_VAL};
  }
  return fail(ErrorCode::input_malformed,
              fmt::format("expected a constant, found `{}`", json.dump().substr(0, 80)));
}

}  // namespace ksplit
