// SPDX-License-Identifier: Apache-2.0
#include "judge/accuracy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/check.h"

namespace ksplit {

namespace {

struct DtypeRow {
  std::string_view dtype;
  AccuracyRule rule;
  int precision;  // bits of the significand, so that rounding errs by at most 2^-precision
};

// Tolerances as published; float8 and hifloat32 have no elementwise rule of their own and take t.
constexpr double power_of_two(int exponent) {
  double value = 1;
  for (; exponent < 0; ++exponent) value /= 2;
  return value;
}
constexpr DtypeRow kRows[] = {
    {"float32", {power_of_two(-13), 1e-5, power_of_two(-13)}, 24},
    {"float16", {power_of_two(-10), 1e-3, power_of_two(-10)}, 11},
    {"bfloat16", {power_of_two(-7), 1e-2, power_of_two(-7)}, 8},
    {"hifloat32", {power_of_two(-11), 1e-5, power_of_two(-11)}, 12},
    {"float8_e4m3fn", {power_of_two(-3), power_of_two(-3), power_of_two(-3)}, 4},
    {"float8_e5m2", {power_of_two(-2), power_of_two(-2), power_of_two(-2)}, 3},
    {"float64", {power_of_two(-13), 1e-5, power_of_two(-13)}, 53},
};

const DtypeRow& row_of(std::string_view dtype) {
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows),
                                   [&](const DtypeRow& row) { return row.dtype == dtype; });
  return found == std::end(kRows) ? kRows[0] : *found;
}

bool is_exact(std::string_view dtype) {
  return dtype == "bool" || dtype.starts_with("int") || dtype.starts_with("uint");
}

bool elementwise_holds(const OutputAccuracy& output) {
  return output.violations == 0;
}

bool mere_mare_holds(const OutputAccuracy& output) {
  if (is_exact(output.dtype) || output.elements == 0) return elementwise_holds(output);
  const double t = rule_for(output.dtype).t;
  return output.mere < t && output.mare < 10 * t;
}

// Largest ratio that two error classes of one size show by chance on n elements, 999 times of 1000.
double chance(double elements) {
  return std::exp(3.09 / std::sqrt(std::max(elements, 2.0) - 1));
}

double floor_of(const OutputAccuracy& output) {
  return std::exp2(-row_of(output.dtype).precision) * output.golden_rms / std::sqrt(3.0);
}

// Both errors zero: equal. A base without any error (golden all zeros) leaves a candidate none.
double ratio_above(double floor, double candidate, double base) {
  const double numerator = std::max(candidate, floor);
  const double denominator = std::max(base, floor);
  return numerator == denominator ? 1 : numerator / denominator;
}

struct Limits {
  AccuracyClass name;
  double pooled, rmse, largest;
};
constexpr Limits kStrict = {AccuracyClass::strict, 1.05, 1.25, 2};
constexpr Limits kSameClass = {AccuracyClass::same_class, 2, 2, 4};

std::string worst_element(const OutputAccuracy& output) {
  if (!output.worst) return {};
  return fmt::format(": element {} is {}, expected {}", output.worst->index,
                     to_python(output.worst->actual), to_python(output.worst->expected));
}

std::string structure_fault(const OutputAccuracy& output) {
  if (!output.dtype_equal) {
    return fmt::format("dtype is {}, not the reference's", output.dtype);
  }
  if (!output.shape_equal) {
    return fmt::format("shape is [{}], not the reference's", fmt::join(output.shape, ", "));
  }
  return {};
}

std::string non_finite_fault(const OutputAccuracy& output) {
  if (!output.nan_equal) return "NaN in other places than the reference" + worst_element(output);
  if (!output.inf_equal) return "Inf in other places than the reference" + worst_element(output);
  return {};
}

std::string violations_fault(const OutputAccuracy& output) {
  if (is_exact(output.dtype)) {
    return fmt::format("{} of {} elements unequal{}", output.violations, output.elements,
                       worst_element(output));
  }
  const AccuracyRule rule = rule_for(output.dtype);
  return fmt::format("{} of {} elements beyond {:.3g} + {:.3g} |expected|{}", output.violations,
                     output.elements, rule.atol, rule.rtol, worst_element(output));
}

// How the errors of one output compare with the base's.
struct ErrorRatios {
  double rmse = 1, largest = 1;
};

// The base of an output without a finite element has no error that could set a limit.
bool has_error(const OutputAccuracy& base) {
  return !is_exact(base.dtype) && base.elements > 0 && std::isfinite(base.rmse) &&
         std::isfinite(base.max_error) && std::isfinite(base.golden_rms);
}

ErrorRatios error_ratios(const OutputAccuracy& candidate, const OutputAccuracy& base) {
  if (!has_error(base)) return {};
  const double floor = floor_of(base);
  return {ratio_above(floor, candidate.rmse, base.rmse),
          ratio_above(floor, candidate.max_error, base.max_error)};
}

// Written so that a NaN in any statistic refuses.
std::string error_fault(const OutputAccuracy& candidate, const OutputAccuracy& base,
                        const Limits& limits) {
  const ErrorRatios ratios = error_ratios(candidate, base);
  const double allowance = chance(static_cast<double>(candidate.elements));
  if (!(ratios.rmse <= limits.rmse * allowance)) {
    return fmt::format("RMSE {:.3g} is {:.3g} times the base's {:.3g} (limit {:.3g})",
                       candidate.rmse, ratios.rmse, base.rmse, limits.rmse * allowance);
  }
  if (!(ratios.largest <= limits.largest * allowance)) {
    return fmt::format("largest error {:.3g} is {:.3g} times the base's {:.3g} (limit {:.3g})",
                       candidate.max_error, ratios.largest, base.max_error,
                       limits.largest * allowance);
  }
  return {};
}

std::string output_fault(const OutputAccuracy& candidate, const OutputAccuracy& base,
                         const Limits& limits) {
  if (std::string fault = structure_fault(candidate); !fault.empty()) return fault;
  if (!candidate.strides_equal && base.strides_equal) return "strides are not the reference's";
  if (candidate.changed_inputs != base.changed_inputs) {
    return fmt::format("changes the inputs [{}], the base [{}]",
                       fmt::join(candidate.changed_inputs, ", "),
                       fmt::join(base.changed_inputs, ", "));
  }
  if (candidate.aliased_inputs != base.aliased_inputs) {
    return fmt::format("lies in the memory of the inputs [{}], the base's of [{}]",
                       fmt::join(candidate.aliased_inputs, ", "),
                       fmt::join(base.aliased_inputs, ", "));
  }
  if (std::string fault = non_finite_fault(candidate); !fault.empty()) return fault;
  if (!elementwise_holds(candidate) && (elementwise_holds(base) || !has_error(base))) {
    return violations_fault(candidate);
  }
  return error_fault(candidate, base, limits);
}

// "output 2: ..." where there are several.
std::string in_output(std::size_t position, std::size_t count, const std::string& fault) {
  return count == 1 ? fault : fmt::format("output {}: {}", position, fault);
}

CaseAccuracy published_rules(const CaseVerification& verified) {
  CaseAccuracy accuracy;
  accuracy.case_index = verified.case_index;
  if (verified.error) {
    accuracy.reason = verified.error->message;
    return accuracy;
  }
  const auto comparable = [](const OutputAccuracy& output) {
    return structure_fault(output).empty() && non_finite_fault(output).empty();
  };
  const auto all = [&](auto rule) {
    return std::all_of(verified.outputs.begin(), verified.outputs.end(),
                       [&](const OutputAccuracy& o) { return comparable(o) && rule(o); });
  };
  accuracy.elementwise = all(elementwise_holds);
  accuracy.mere_mare = all(mere_mare_holds);
  return accuracy;
}

CaseAccuracy judge_case(const CaseVerification& candidate, const CaseVerification& base,
                        const Limits& limits) {
  CaseAccuracy accuracy = published_rules(candidate);
  if (candidate.error) return accuracy;
  if (base.error || candidate.outputs.size() != base.outputs.size()) {
    accuracy.reason = base.error ? "the base fails on this case, so there is nothing to be held to"
                                 : fmt::format("{} outputs, the base has {}",
                                               candidate.outputs.size(), base.outputs.size());
    return accuracy;
  }
  if (base.fault.empty()) accuracy.reason = candidate.fault;
  for (std::size_t i = 0; i < candidate.outputs.size(); ++i) {
    const ErrorRatios ratios = error_ratios(candidate.outputs[i], base.outputs[i]);
    accuracy.rmse_ratio = i == 0 ? ratios.rmse : std::max(accuracy.rmse_ratio, ratios.rmse);
    accuracy.max_ratio = i == 0 ? ratios.largest : std::max(accuracy.max_ratio, ratios.largest);
    if (!accuracy.reason.empty()) continue;
    const std::string fault = output_fault(candidate.outputs[i], base.outputs[i], limits);
    if (!fault.empty()) accuracy.reason = in_output(i, candidate.outputs.size(), fault);
  }
  accuracy.passed = accuracy.reason.empty();
  return accuracy;
}

// RMSE over all cases, each in units of its floor, candidate over base.
struct Pooled {
  double candidate = 0, base = 0, outputs = 0, inverse_elements = 0;

  void add(const OutputAccuracy& c, const OutputAccuracy& b) {
    const double floor = floor_of(b);
    if (!has_error(b) || !(floor > 0)) return;
    candidate += std::pow(std::max(c.rmse / floor, 1.0), 2);
    base += std::pow(std::max(b.rmse / floor, 1.0), 2);
    outputs += 1;
    inverse_elements += 1 / static_cast<double>(std::max<std::int64_t>(c.elements, 1));
  }
  double ratio() const { return outputs == 0 ? 1 : std::sqrt(candidate / base); }
  double allowance() const {
    return outputs == 0 ? 1 : chance(outputs * outputs / inverse_elements);
  }
};

const CaseVerification& base_of(const VerifyOutcome& base, int case_index) {
  const auto found =
      std::find_if(base.cases.begin(), base.cases.end(),
                   [&](const CaseVerification& c) { return c.case_index == case_index; });
  KSPLIT_CHECK(found != base.cases.end(), fmt::format("the base has no case {}", case_index));
  return *found;
}

Pooled pooled_errors(const VerifyOutcome& candidate, const VerifyOutcome& base) {
  Pooled pooled;
  for (const CaseVerification& verified : candidate.cases) {
    const std::vector<OutputAccuracy>& of_base = base_of(base, verified.case_index).outputs;
    for (std::size_t i = 0; i < std::min(verified.outputs.size(), of_base.size()); ++i) {
      pooled.add(verified.outputs[i], of_base[i]);
    }
  }
  return pooled;
}

AccuracyVerdict judge_within(const VerifyOutcome& candidate, const VerifyOutcome& base,
                             const Limits& limits) {
  AccuracyVerdict verdict;
  int failed = 0;
  for (const CaseVerification& verified : candidate.cases) {
    verdict.cases.push_back(judge_case(verified, base_of(base, verified.case_index), limits));
    const CaseAccuracy& accuracy = verdict.cases.back();
    if (accuracy.passed) continue;
    if (failed++ == 0) {
      verdict.reason = fmt::format("case {}: {}", accuracy.case_index, accuracy.reason);
    }
  }
  const Pooled pooled = pooled_errors(candidate, base);
  verdict.pooled_rmse_ratio = pooled.ratio();
  if (failed > 1) verdict.reason += fmt::format(" (and {} more cases)", failed - 1);
  if (candidate.cases.empty()) verdict.reason = "no case was verified";
  if (verdict.reason.empty() && !(pooled.ratio() <= limits.pooled * pooled.allowance())) {
    verdict.reason = fmt::format("RMSE over all cases is {:.3g} times the base's (limit {:.3g})",
                                 pooled.ratio(), limits.pooled * pooled.allowance());
  }
  if (verdict.reason.empty()) verdict.reached = limits.name;
  return verdict;
}

// Bit-equal to the base can be told where both are bit-equal to the reference.
bool bit_equal(const VerifyOutcome& candidate, const VerifyOutcome& base) {
  const auto all_equal = [](const CaseVerification& verified) {
    return std::all_of(verified.outputs.begin(), verified.outputs.end(),
                       [](const OutputAccuracy& output) { return output.bit_equal_native; });
  };
  return std::all_of(candidate.cases.begin(), candidate.cases.end(),
                     [&](const CaseVerification& verified) {
                       return all_equal(verified) && all_equal(base_of(base, verified.case_index));
                     });
}

/// MERE and MARE against the golden, relative to the size of the whole output rather than of each
/// element: what is left to ask where sums cancel, as running sums that cross zero do, and both
/// published rules refuse the reference itself.
bool normwise_holds(const OutputAccuracy& output) {
  constexpr double kLargestOverMean = 10;  // MARE's limit over MERE's
  const double t = row_of(output.dtype).rule.t;
  return !is_exact(output.dtype) && output.golden == OutputAccuracy::Golden::float64 &&
         output.rmse < t * output.golden_rms &&
         output.max_error < kLargestOverMean * t * output.golden_rms;
}

std::string base_fault(const CaseVerification& verified) {
  if (verified.error) return verified.error->message;
  for (std::size_t i = 0; i < verified.outputs.size(); ++i) {
    const OutputAccuracy& output = verified.outputs[i];
    std::string fault = structure_fault(output);
    if (fault.empty()) fault = non_finite_fault(output);
    if (fault.empty() && !elementwise_holds(output) && !mere_mare_holds(output) &&
        !normwise_holds(output)) {
      fault = violations_fault(output);
    }
    if (!fault.empty()) return in_output(i, verified.outputs.size(), fault);
  }
  return {};
}

}  // namespace

AccuracyRule rule_for(const std::string& dtype) {
  return is_exact(dtype) ? AccuracyRule{} : row_of(dtype).rule;
}

AccuracyRules rules_for(const std::vector<std::string>& dtypes) {
  AccuracyRules rules;
  for (const std::string& dtype : dtypes) rules.emplace(dtype, rule_for(dtype));
  return rules;
}

const char* name_of(AccuracyClass reached) {
  switch (reached) {
    case AccuracyClass::bitwise: return "bitwise";
    case AccuracyClass::strict: return "strict";
    case AccuracyClass::same_class: return "same-class";
  }
  return "same-class";
}

AccuracyVerdict judge_accuracy(const VerifyOutcome& candidate, const VerifyOutcome& base,
                               AccuracyClass required) {
  AccuracyVerdict strict = judge_within(candidate, base, kStrict);
  if (strict.passed() && bit_equal(candidate, base)) {
    strict.reached = AccuracyClass::bitwise;
    return strict;
  }
  if (required == AccuracyClass::bitwise && strict.passed()) {
    strict.reached.reset();
    strict.reason = "not bit-equal to the base on every case";
  }
  if (strict.passed() || required != AccuracyClass::same_class) return strict;
  return judge_within(candidate, base, kSameClass);
}

std::vector<CaseAccuracy> assess_base(const VerifyOutcome& base) {
  std::vector<CaseAccuracy> cases;
  for (const CaseVerification& verified : base.cases) {
    cases.push_back(published_rules(verified));
    cases.back().reason = base_fault(verified);
    cases.back().passed = cases.back().reason.empty();
  }
  return cases;
}

Status judge_base(const VerifyOutcome& base) {
  std::vector<std::string> faults;
  for (const CaseAccuracy& accuracy : assess_base(base)) {
    if (accuracy.passed) continue;
    faults.push_back(fmt::format("case {}: {}", accuracy.case_index, accuracy.reason));
  }
  if (faults.empty()) return {};
  const auto uncovered = [](const CaseVerification& verified) {
    return verified.error && verified.error->kind == ErrorCode::unsupported;
  };
  if (std::ranges::any_of(base.cases, uncovered)) {
    return fail(ErrorCode::unsupported,
                fmt::format("the generic kernel cannot run here; {}", fmt::join(faults, "; ")),
                "use a GPU, or KSPLIT_CPU=interpreter for what Triton's interpreter covers: it "
                "gives accuracy, and times that are not compared with torch");
  }
  return fail(ErrorCode::base_inaccurate,
              fmt::format("the generic kernel fails accuracy on {} of {} cases; {}", faults.size(),
                          base.cases.size(), fmt::join(faults, "; ")),
              "correct the generic kernel first: a specialised one is held to it");
}

}  // namespace ksplit
