// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/result.h"
#include "task/perf.h"
#include "worker/outcomes.h"

namespace ksplit {

/// The exception that a worker's message tells of, such as "ValueError" in "forward fails:
/// ValueError: no such axis (line 7)"; empty if it tells of none.
std::string exception_kind(const std::string& message);

/// The failure of a case that raised or crashed: `error_type` is the exception, else RuntimeError.
VerifyFailure raised_failure(const Case& sample, const std::string& message);

/// Why a case fails the published rules, none if it holds them: outputs of the reference's number,
/// dtype and shape, NaN and Inf in its places, then every element within atol + rtol |expected|.
std::optional<VerifyFailure> published_failure(const Case& sample,
                                               const CaseVerification& verified);

}  // namespace ksplit
