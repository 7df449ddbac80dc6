// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/literal.h"
#include "core/result.h"
#include "task/case.h"

namespace ksplit {

// The published perf and verify results as values. A perf result read from a file and one that we
// measured are the same type: `summarize_perf` makes the totals of either from its cases.

/// An argument as the published JSON describes it.
struct InputDescription {
  bool is_tensor = false;
  std::vector<std::int64_t> shape;  // of a tensor
  std::string dtype;                // of a tensor, without "torch."
  Literal value;                    // of anything else

  bool operator==(const InputDescription&) const = default;
};
std::vector<InputDescription> describe_inputs(const Case& sample);

/// What was measured of one side (torch or the Triton implementation).
struct Measurement {
  std::optional<double> avg_latency_ms;
  std::optional<double> peak_memory_mb;
  std::map<std::string, double> operators;  // device time by operator, µs; totals only

  bool operator==(const Measurement&) const = default;
};

/// One case. `speedup_vs_torch` is the ratio as measured: it may be none, NaN, infinite, zero or
/// negative, and then takes no part in any mean (see `usable_ratio`).
struct ShapeResult {
  int case_idx = 0;                          // from 1
  std::vector<InputDescription> input_desc;  // empty: not recorded
  bool passed = true;
  Measurement framework;
  Measurement implementation;
  std::optional<double> speedup_vs_torch;
  std::string error_type;  // empty: none
  std::string error_msg;
};

struct PerfResult {
  std::string op_name;
  int warmup = 0;
  int repeats = 0;
  int total_cases = 0;
  int passed_cases = 0;
  int failed_cases = 0;
  // Passed cases whose ratio is no finite positive number, by kind.
  std::vector<int> nan_indices, inf_indices, zero_indices, negative_indices, none_indices;
  Measurement framework;  // means over the passed cases
  Measurement implementation;
  std::optional<double> speedup_vs_torch;  // geometric mean of the usable ratios
  std::vector<ShapeResult> per_shape_results;

  /// The result of a case; nullptr if the file has none.
  const ShapeResult* find(int case_index) const;
  /// The ratio of a case if it takes part in means.
  std::optional<double> ratio(int case_index) const;
};

/// The ratio when it is finite and positive and the case passed. A reference that does no device
/// work (a view) has no time, hence no ratio.
std::optional<double> usable_ratio(const ShapeResult& shape);

/// exp(mean(log r)); none for no ratios. Every ratio must be finite and positive.
std::optional<double> geometric_mean(const std::vector<double>& ratios);

/// Totals from the cases: counts, *_indices, means and the geometric mean.
PerfResult summarize_perf(std::string op_name, int warmup, int repeats,
                          std::vector<ShapeResult> shapes);

/// Rounded to six significant digits, as published: far below what timing resolves, and readable.
double published(double value);

struct VerifyFailure {
  int case_idx = 0;
  std::vector<InputDescription> input_desc;
  std::string error_type;
  std::string error_msg;
};

struct VerifyResult {
  std::string op_name;
  int total_cases = 0;
  int passed_cases = 0;
  int failed_cases = 0;
  std::vector<VerifyFailure> failures;
};

/// "triton_X" -> "verify_result_X.json"; "triton_ascend_impl" -> "verify_result.json".
std::string verify_result_file(const std::string& implementation_name);

/// The same for perf results: "perf_result_X.json", "perf_result.json".
std::string perf_result_file(const std::string& implementation_name);

/// The published schemas, keys in their published order. Numbers that are not finite become null,
/// the others are rounded by `published`.
nlohmann::ordered_json to_json(const std::vector<InputDescription>& inputs);
nlohmann::ordered_json to_json(const PerfResult& result);
nlohmann::ordered_json to_json(const VerifyResult& result);

/// Reads a perf result. Optional fields may be missing or null, Python's NaN and Infinity are
/// accepted; totals are recomputed from the cases where there are any, since earlier tools averaged
/// differently. Errors: input-malformed, with the place in the file or the path of the field.
Result<PerfResult> parse_perf(const std::string& text, const std::string& file);
Result<PerfResult> read_perf(const std::filesystem::path& file);

/// The number of cases of a verify result that lets its implementation be timed: one of the
/// operator `op_name` in which every case passed. Errors: verification-failed, saying what is
/// missing.
Result<int> read_passed_verify(const std::filesystem::path& file, const std::string& op_name);

/// Where a work directory keeps the perf result: `output/optimized_perf_result.json`, else
/// `output/perf_result.json`; none if neither exists.
std::optional<std::filesystem::path> find_perf(const std::filesystem::path& directory);

/// Whether a perf result was measured on these cases: number of cases, and per case the shapes,
/// dtypes and scalars of `input_desc` where recorded. Errors: input-mismatch naming the case.
Status check_perf_belongs(const PerfResult& perf, const Task& task, const std::string& file);

}  // namespace ksplit
