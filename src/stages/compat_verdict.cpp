// SPDX-License-Identifier: Apache-2.0
#include "stages/compat_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "judge/accuracy.h"

namespace ksplit {

namespace {

constexpr const char* kAccuracyError = "AccuracyError";

bool begins_identifier(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool in_identifier(char c) {
  return begins_identifier(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Sums that cancel may break the elementwise rule and nothing else that is asked of a base.
std::string elementwise_fault(const CaseVerification& verified) {
  const auto found = std::ranges::find_if(
      verified.outputs, [](const OutputAccuracy& output) { return output.violations > 0; });
  if (found == verified.outputs.end()) return "an output is not the reference's";
  const AccuracyRule rule = rule_for(found->dtype);
  std::string fault = fmt::format("{} of {} elements beyond {:.3g} + {:.3g} |expected|",
                                  found->violations, found->elements, rule.atol, rule.rtol);
  if (found->worst) {
    fault += fmt::format(": element {} is {}, expected {}", found->worst->index,
                         to_python(found->worst->actual), to_python(found->worst->expected));
  }
  return fault;
}

}  // namespace

std::string exception_kind(const std::string& message) {
  const std::size_t colon = message.find(": ");
  if (colon == std::string::npos) return {};
  const auto begin = message.begin() + static_cast<std::ptrdiff_t>(colon) + 2;
  const auto end = std::find_if_not(begin, message.end(), in_identifier);
  if (begin == end || !begins_identifier(*begin)) return {};
  const std::string_view rest(end, message.end());
  const bool whole = rest.empty() || rest.starts_with(':') || rest.starts_with(" (line ");
  return whole ? std::string(begin, end) : std::string();
}

VerifyFailure raised_failure(const Case& sample, const std::string& message) {
  const std::string kind = exception_kind(message);
  return {sample.index, describe_inputs(sample), kind.empty() ? "RuntimeError" : kind, message};
}

std::optional<VerifyFailure> published_failure(const Case& sample,
                                               const CaseVerification& verified) {
  if (verified.error) {
    VerifyFailure failure = raised_failure(sample, verified.error->message);
    // Outputs of another number or type than the reference's are wrong, and nothing was raised.
    if (!verified.error->message.starts_with("forward fails")) failure.error_type = kAccuracyError;
    return failure;
  }
  const CaseAccuracy accuracy = assess_base({{verified}}).front();
  if (accuracy.elementwise) return std::nullopt;
  return VerifyFailure{sample.index, describe_inputs(sample), kAccuracyError,
                       accuracy.reason.empty() ? elementwise_fault(verified) : accuracy.reason};
}

}  // namespace ksplit
