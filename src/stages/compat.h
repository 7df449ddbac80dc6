// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "core/result.h"
#include "stages/observer.h"
#include "task/perf.h"

namespace ksplit {

// What the workflow's verify.py and benchmark.py do, with their files, names and schemas (contract,
// sections 4.3, 4.4 and 7). docs/compat.md says what is decided where the contract is silent.

/// An implementation as those scripts name it, and where it runs.
struct CompatInput {
  std::filesystem::path directory = ".";
  std::string op_name;
  std::string implementation_name = "triton_ascend_impl";
  std::string device = "auto";  // or as in Options

  std::filesystem::path task() const;            // {op}_torch.py, with class Model
  std::filesystem::path implementation() const;  // {op}_{name}.py, with class ModelNew
  std::filesystem::path verify_result() const;   // where it is unless the user names another file
  std::filesystem::path perf_result() const;
};

struct CompatVerify {
  CompatInput input;
  std::chrono::milliseconds limit = std::chrono::seconds(300);  // for all that the files do
  std::optional<std::filesystem::path> output;                  // none: input.verify_result()
};

struct CompatBenchmark {
  CompatInput input;
  int warmup = 5;
  int repeats = 50;
  std::optional<std::filesystem::path> output;  // none: input.perf_result()
  bool skip_framework = false;
  std::optional<double> framework_latency_ms;  // of each case, where the framework is skipped
  bool verify_not_required = false;
};

/// The implementation against the reference on every case; writes the verify result. An
/// implementation that does not load, raises, crashes or hangs fails its cases. Errors: a file is
/// missing, or the reference cannot say what is right; nothing is written then.
Result<VerifyResult> compat_verify(const CompatVerify& options, Observer& observer);

/// Its times beside torch's on every case; writes the perf result. Errors: verification_failed
/// where no complete verify result lets it be timed; else as above.
Result<PerfResult> compat_benchmark(const CompatBenchmark& options, Observer& observer);

}  // namespace ksplit
