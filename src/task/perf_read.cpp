// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files.h"
#include "task/perf.h"

namespace ksplit {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMeasureHint =
    "name the file of these cases with --perf FILE, or remove it and the base is measured anew";

// What stands for Python's NaN, Infinity and -Infinity after `accept_python_floats`. DEL does not
// occur in anything these files hold.
constexpr std::string_view kNan = "\x7f";
constexpr std::string_view kInfinity = "\x7f+infi";
constexpr std::string_view kMinusInfinity = "\x7f-infin";

/// Python's json module writes NaN and Infinity, which JSON does not know. Each is replaced by a
/// string of the same length, so that places in error messages stay right.
std::string accept_python_floats(std::string text) {
  const auto replace = [&](std::size_t at, std::string_view word, std::string_view marker) {
    if (text.compare(at, word.size(), word) != 0) return false;
    text.replace(at, word.size(), "\"" + std::string(marker) + "\"");
    return true;
  };
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      if (replace(i, "NaN", kNan)) i += 2;
      if (replace(i, "Infinity", kInfinity)) i += 7;
      if (replace(i, "-Infinity", kMinusInfinity)) i += 8;
    }
  }
  return text;
}

SourceSpan place_of_byte(const std::string& text, std::size_t byte, const std::string& file) {
  const std::size_t end = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
  const std::size_t start = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t column = start == std::string::npos ? end + 1 : end - start;
  return {file, static_cast<int>(line) + 1, static_cast<int>(column)};
}

/// A JSON object with its path in the file, so that every error says which field is meant.
class Fields {
 public:
  Fields(const Json& object, std::string path, const std::string& file)
      : object_(object), path_(std::move(path)), file_(file) {}

  Result<int> integer(const char* key, int missing) const {
    const Json* value = present(key);
    if (!value) return missing;
    // A count beyond int is no count.
    if (!value->is_number_integer() || value->get<double>() < 0 ||
        value->get<double>() > std::numeric_limits<int>::max()) {
      return wrong(key, *value, "a count");
    }
    return value->get<int>();
  }

  Result<std::optional<double>> number(const char* key) const {
    const Json* value = present(key);
    if (!value) return std::optional<double>();
    if (value->is_number()) return std::optional(value->get<double>());
    if (value->is_string()) {
      const auto& marker = value->get_ref<const std::string&>();
      if (marker == kNan) return std::optional(std::nan(""));
      if (marker == kInfinity) return std::optional(HUGE_VAL);
      if (marker == kMinusInfinity) return std::optional(-HUGE_VAL);
    }
    return wrong(key, *value, "a number or null");
  }

  Result<std::string> text(const char* key) const {
    const Json* value = present(key);
    if (!value) return std::string();
    if (!value->is_string()) return wrong(key, *value, "a string or null");
    return value->get<std::string>();
  }

  /// The value if it is there and of the kind asked for; nullptr if it is missing or null.
  Result<const Json*> list(const char* key) const {
    const Json* value = present(key);
    if (value && !value->is_array()) return wrong(key, *value, "a list");
    return value;
  }
  Result<const Json*> object(const char* key) const {
    const Json* value = present(key);
    if (value && !value->is_object()) return wrong(key, *value, "an object or null");
    return value;
  }

  tl::unexpected<Error> wrong(const std::string& key, const Json& found,
                              const char* expected) const {
    return fail({ErrorCode::input_malformed,
                 fmt::format("`{}` is {}, expected {}", path_of(key), kind_of(found), expected),
                 SourceSpan{file_}});
  }

  std::string path_of(const std::string& key) const {
    return path_.empty() ? key : path_ + "." + key;
  }

 private:
  static std::string kind_of(const Json& value) {
    return fmt::format("{} `{}`", value.type_name(),
                       value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40));
  }

  const Json* present(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  const Json& object_;
  std::string path_;
  const std::string& file_;
};

Result<Measurement> parse_measurement(const Fields& parent, const char* key,
                                      const std::string& file) {
  KSPLIT_TRY(const Json* object, parent.object(key));
  Measurement side;
  if (!object) return side;
  const Fields fields(*object, parent.path_of(key), file);
  KSPLIT_TRY(side.avg_latency_ms, fields.number("avg_latency_ms"));
  KSPLIT_TRY(side.peak_memory_mb, fields.number("peak_memory_mb"));
  KSPLIT_TRY(const Json* operators, fields.object("operators"));
  if (!operators) return side;
  const Fields times(*operators, fields.path_of("operators"), file);
  for (const auto& [name, ignored] : operators->items()) {
    KSPLIT_TRY(const std::optional<double> time, times.number(name.c_str()));
    if (time) side.operators[name] = *time;
  }
  return side;
}

Result<InputDescription> parse_input(const Json& json, const std::string& path,
                                     const std::string& file) {
  const auto wrong = [&](const std::string& expected) {
    return fail({ErrorCode::input_malformed, fmt::format("`{}` is not {}", path, expected),
                 SourceSpan{file}});
  };
  if (!json.is_object()) return wrong("an object with `type`");
  const Fields fields(json, path, file);
  KSPLIT_TRY(const std::string type, fields.text("type"));
  InputDescription input;
  if (type == "tensor") {
    input.is_tensor = true;
    KSPLIT_TRY(input.dtype, fields.text("dtype"));
    if (input.dtype.starts_with("torch.")) input.dtype.erase(0, 6);
    KSPLIT_TRY(const Json* shape, fields.list("shape"));
    if (!shape) return wrong("a tensor with `shape`");
    for (const Json& size : *shape) {
      if (!size.is_number_integer()) return wrong("a tensor whose `shape` is a list of integers");
      input.shape.push_back(size.get<std::int64_t>());
    }
  } else if (type == "scalar") {
    const auto value = json.find("value");
    if (value == json.end()) return input;
    auto literal = literal_from_json(*value);
    if (!literal) return wrong("a scalar whose `value` is a constant");
    input.value = std::move(*literal);
  } else {
    return wrong("of `type` \"tensor\" or \"scalar\"");
  }
  return input;
}

Result<ShapeResult> parse_shape(const Json& json, std::size_t position, const std::string& file) {
  const std::string path = fmt::format("per_shape_results[{}]", position);
  if (!json.is_object()) {
    return fail(
        {ErrorCode::input_malformed, fmt::format("`{}` is not an object", path), SourceSpan{file}});
  }
  const Fields fields(json, path, file);
  ShapeResult shape;
  KSPLIT_TRY(shape.case_idx, fields.integer("case_idx", static_cast<int>(position) + 1));
  KSPLIT_TRY(const Json* inputs, fields.list("input_desc"));
  for (std::size_t i = 0; inputs && i < inputs->size(); ++i) {
    KSPLIT_TRY(InputDescription input,
               parse_input((*inputs)[i], fmt::format("{}.input_desc[{}]", path, i), file));
    shape.input_desc.push_back(std::move(input));
  }
  KSPLIT_TRY(const std::string status, fields.text("status"));
  if (!status.empty() && status != "pass" && status != "fail") {
    return fields.wrong("status", json["status"], "\"pass\" or \"fail\"");
  }
  shape.passed = status != "fail";
  KSPLIT_TRY(shape.framework, parse_measurement(fields, "framework", file));
  KSPLIT_TRY(shape.implementation, parse_measurement(fields, "implementation", file));
  KSPLIT_TRY(shape.speedup_vs_torch, fields.number("speedup_vs_torch"));
  KSPLIT_TRY(shape.error_type, fields.text("error_type"));
  KSPLIT_TRY(shape.error_msg, fields.text("error_msg"));
  return shape;
}

Result<std::vector<ShapeResult>> parse_shapes(const Fields& fields, const std::string& file) {
  KSPLIT_TRY(const Json* list, fields.list("per_shape_results"));
  std::vector<ShapeResult> shapes;
  std::set<int> seen;
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    KSPLIT_TRY(ShapeResult shape, parse_shape((*list)[i], i, file));
    if (!seen.insert(shape.case_idx).second) {
      return fail({ErrorCode::input_malformed,
                   fmt::format("`per_shape_results` has case {} twice", shape.case_idx),
                   SourceSpan{file}});
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace

Result<PerfResult> parse_perf(const std::string& text, const std::string& file) {
  Json json;
  try {
    json = Json::parse(accept_python_floats(text));
  } catch (const Json::parse_error& error) {
    return fail({ErrorCode::input_malformed, "the perf result is not JSON",
                 place_of_byte(text, error.byte, file)});
  }
  if (!json.is_object()) {
    return fail({ErrorCode::input_malformed, "the perf result is not a JSON object",
                 SourceSpan{file, 1, 1}});
  }
  const Fields fields(json, "", file);
  KSPLIT_TRY(const std::string op_name, fields.text("op_name"));
  KSPLIT_TRY(const int warmup, fields.integer("warmup", 0));
  KSPLIT_TRY(const int repeats, fields.integer("repeats", 0));
  KSPLIT_TRY(std::vector<ShapeResult> shapes, parse_shapes(fields, file));
  const int recorded = static_cast<int>(shapes.size());
  PerfResult result = summarize_perf(op_name, warmup, repeats, std::move(shapes));
  KSPLIT_TRY(result.total_cases, fields.integer("total_cases", recorded));
  if (recorded > 0) return result;

  // Totals only: there is nothing to recompute them from.
  KSPLIT_TRY(result.passed_cases, fields.integer("passed_cases", result.total_cases));
  KSPLIT_TRY(result.failed_cases, fields.integer("failed_cases", 0));
  KSPLIT_TRY(result.framework, parse_measurement(fields, "framework", file));
  KSPLIT_TRY(result.implementation, parse_measurement(fields, "implementation", file));
  KSPLIT_TRY(const std::optional<double> overall, fields.number("speedup_vs_torch"));
  if (overall && std::isfinite(*overall) && *overall > 0) result.speedup_vs_torch = overall;
  return result;
}

Result<PerfResult> read_perf(const std::filesystem::path& file) {
  KSPLIT_TRY(const std::string text, read_file(file));
  return parse_perf(text, file.string());
}

std::optional<std::filesystem::path> find_perf(const std::filesystem::path& directory) {
  for (const char* name : {"optimized_perf_result.json", "perf_result.json"}) {
    std::filesystem::path file = directory / "output" / name;
    std::error_code unreadable;
    if (std::filesystem::exists(file, unreadable)) return file;
  }
  return std::nullopt;
}

namespace {

std::string describe(const InputDescription& input) {
  if (!input.is_tensor) return to_python(input.value);
  return fmt::format("{}[{}]", input.dtype, fmt::join(input.shape, ", "));
}

std::optional<double> as_number(const Literal& literal) {
  if (const bool* flag = literal.as_bool()) return *flag ? 1 : 0;
  if (const std::int64_t* integer = literal.as_int()) return static_cast<double>(*integer);
  if (const double* real = literal.as_float()) return *real;
  return std::nullopt;
}

/// Recorded scalars may be constants or, for everything but numbers, their Python text.
bool same_scalar(const Literal& recorded, const Literal& actual) {
  if (recorded == actual) return true;
  if (const auto a = as_number(recorded), b = as_number(actual); a && b) {
    return *a == *b || (std::isnan(*a) && std::isnan(*b));
  }
  const std::string* text = recorded.as_string();
  if (!text) return false;
  // A tuple and a list are one value here: "(0, 1)" and "(0,)" are "[0,1]" and "[0]".
  const auto normal = [](std::string python) {
    std::erase_if(python, [](unsigned char c) { return std::isspace(c) != 0; });
    std::replace(python.begin(), python.end(), '(', '[');
    std::replace(python.begin(), python.end(), ')', ']');
    if (const auto comma = python.find(",]"); comma != std::string::npos) python.erase(comma, 1);
    return python;
  };
  return normal(*text) == normal(to_python(actual));
}

bool same_input(const InputDescription& recorded, const Argument& actual) {
  const TensorSpec* tensor = actual.tensor();
  if (recorded.is_tensor != (tensor != nullptr)) return false;
  if (tensor) {
    // A file without dtypes is less to check, not wrong.
    return recorded.shape == tensor->shape &&
           (recorded.dtype.empty() || recorded.dtype == tensor->dtype);
  }
  const Literal* literal = actual.literal();
  return !literal || same_scalar(recorded.value, *literal);
}

/// What differs between the record of a case and the case, in words; empty if nothing does.
std::string difference(const ShapeResult& shape, const Case& sample) {
  if (shape.input_desc.size() > sample.inputs.size()) {
    return fmt::format("{} inputs in the file, {} in the task", shape.input_desc.size(),
                       sample.inputs.size());
  }
  // Inputs left out at the end hold their defaults.
  for (std::size_t i = 0; i < shape.input_desc.size(); ++i) {
    if (same_input(shape.input_desc[i], sample.inputs[i])) continue;
    return fmt::format("`{}` is {} in the file, {} in the task", sample.inputs[i].name,
                       describe(shape.input_desc[i]), describe(describe_inputs(sample)[i]));
  }
  return {};
}

}  // namespace

Status check_perf_belongs(const PerfResult& perf, const Task& task, const std::string& file) {
  const auto mismatch = [&](std::string message) {
    return fail({ErrorCode::input_mismatch,
                 std::move(message),
                 SourceSpan{file},
                 {},
                 std::string(kMeasureHint)});
  };
  if (perf.total_cases != static_cast<int>(task.cases.size())) {
    return mismatch(fmt::format("the perf result is about {} cases, the task has {}",
                                perf.total_cases, task.cases.size()));
  }
  for (const ShapeResult& shape : perf.per_shape_results) {
    const auto found = std::find_if(task.cases.begin(), task.cases.end(), [&](const Case& sample) {
      return sample.index == shape.case_idx;
    });
    if (found == task.cases.end()) {
      return mismatch(
          fmt::format("the perf result has a case {}, the task has none", shape.case_idx));
    }
    if (const std::string what = difference(shape, *found); !what.empty()) {
      return mismatch(
          fmt::format("the perf result is from other cases: in case {}, {}", shape.case_idx, what));
    }
  }
  return {};
}

}  // namespace ksplit
