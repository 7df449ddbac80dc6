// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "core/files.h"
#include "judge/accuracy.h"
#include "stages/compat.h"
#include "stages/compat_session.h"
#include "stages/compat_verdict.h"

namespace ksplit {

namespace {

VerifyFailure timeout_failure(const CompatVerify& options, const Case& sample, const char* state) {
  const double limit_s = std::chrono::duration<double>(options.limit).count();
  return {sample.index, describe_inputs(sample), "TimeoutError",
          fmt::format("the verification took longer than {:g} s; this case {}", limit_s, state)};
}

/// A case the worker gave no verdict on, because of the files under test. Errors: anything else.
Result<VerifyFailure> unanswered(const CompatVerify& options, const Case& sample,
                                 const CompatSession& session, const Error& error) {
  switch (error.code) {
    case ErrorCode::worker_failed:
      if (session.deadline.passed()) return timeout_failure(options, sample, "was running");
      return raised_failure(sample, error.message);
    case ErrorCode::candidate_failed:
    case ErrorCode::reference_failed: return raised_failure(sample, error.message);
    default: return fail(error);
  }
}

/// Verifies one case at a time, so that one that hangs or crashes leaves the others' verdicts.
class CaseVerifier {
 public:
  CaseVerifier(const CompatVerify& options, CompatSession& session, Observer& observer)
      : options_(options), session_(session), observer_(observer) {}

  Result<std::optional<VerifyFailure>> verify(const Case& sample) {
    if (session_.deadline.passed()) return timeout_failure(options_, sample, "was not reached");
    if (!unloadable_.empty()) return raised_failure(sample, unloadable_);
    if (lost_) KSPLIT_TRY_STATUS(reload());
    session_.worker.set_request_limit(session_.deadline.left());
    const auto outcome =
        session_.worker.verify(options_.input.implementation(), {sample.index}, rules_);
    if (!outcome) {
      lost_ = outcome.error().code == ErrorCode::worker_failed;
      if (outcome.error().code == ErrorCode::candidate_failed) {
        unloadable_ = outcome.error().message;
      }
      return unanswered(options_, sample, session_, outcome.error());
    }
    const CaseVerification& verified = outcome->cases.front();
    if (!verified.fault.empty()) {
      observer_.line(fmt::format("warning   case {}: {}", sample.index, verified.fault));
    }
    return published_failure(sample, verified);
  }

 private:
  Status reload() {
    lost_ = false;
    const Status loaded = session_.reload();
    return loaded || session_.deadline.passed() ? Status() : loaded;
  }

  const CompatVerify& options_;
  CompatSession& session_;
  Observer& observer_;
  AccuracyRules rules_ =
      rules_for({"float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"});
  std::string unloadable_;  // why the file does not load: true of every case
  bool lost_ = false;       // the process, in the last case
};

}  // namespace

Result<VerifyResult> compat_verify(const CompatVerify& options, Observer& observer) {
  KSPLIT_TRY(CompatSession session, open_compat(options.input, options.limit));
  const int total = static_cast<int>(session.task.cases.size());
  VerifyResult result{options.input.op_name, total, 0, 0, {}};
  CaseVerifier verifier(options, session, observer);
  for (const Case& sample : session.task.cases) {
    observer.progress("verify", sample.index - 1, total);
    KSPLIT_TRY(std::optional<VerifyFailure> failure, verifier.verify(sample));
    if (failure) result.failures.push_back(*std::move(failure));
  }
  result.failed_cases = static_cast<int>(result.failures.size());
  result.passed_cases = total - result.failed_cases;
  KSPLIT_TRY_STATUS(
      write_file(options.output.value_or(options.input.verify_result()), to_text(to_json(result))));
  return result;
}

}  // namespace ksplit
