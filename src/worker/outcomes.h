// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/literal.h"
#include "core/result.h"
#include "task/case.h"

namespace ksplit {

// What a worker is asked and what it answers, as values (docs/protocol.md). Measured times are
// microseconds. A statistic that could not be computed is NaN, so that any `x < limit` refuses it.

/// Who answers: versions and device of one worker process.
struct WorkerInfo {
  /// What runs kernels. Times of `interpreter` are never compared with torch.
  enum class Executor { triton, native_cpu, interpreter };

  std::string python;
  std::string torch;
  std::string triton;
  std::string device_kind;  // "cpu", "gpu" or "npu"
  std::string device_name;
  int cores = 0;
  std::int64_t l2_bytes = 0;
  std::string driver;
  std::optional<std::array<int, 2>> capability;  // CUDA compute capability
  Executor executor = Executor::triton;

  bool operator==(const WorkerInfo&) const = default;
};

/// The word the protocol and the reports use: "triton", "native-cpu" or "interpreter".
const char* name_of(WorkerInfo::Executor executor);

struct LoadOutcome {
  Task task;
  bool reference_runs_in_float64 = false;
};

/// One kernel as compiled for one case. Unset where the executor has no such resource.
struct CompiledKernel {
  std::string name;
  int case_index = 0;
  std::optional<int> registers;
  std::optional<int> spills;
  std::optional<std::int64_t> shared_bytes;
};

struct CompileOutcome {
  std::vector<CompiledKernel> kernels;
};

/// Triton IR of one kernel, as its target's first stage leaves it.
struct KernelIr {
  std::string name;
  int line = 0;  // of its `def`
  std::string text;
};

/// Tolerances for one output dtype: `|actual - expected| <= atol + rtol |expected|` elementwise,
/// and `t` as the floor and limit of MERE and MARE.
struct AccuracyRule {
  double rtol = 0;
  double atol = 0;
  double t = 0;
};

/// By torch dtype name without prefix.
using AccuracyRules = std::map<std::string, AccuracyRule>;

/// One output of one case against the reference. `violations`, `worst`, `mere` and `mare` compare
/// with the reference in its own dtype; `rmse`, `max_error` and `golden_rms` with the golden.
struct OutputAccuracy {
  enum class Golden { float64, native };
  struct Worst {
    std::int64_t index = 0;  // flat, in row-major order
    Literal actual;
    Literal expected;
  };

  std::string dtype;
  std::vector<std::int64_t> shape;
  std::int64_t elements = 0;
  bool dtype_equal = false;
  bool shape_equal = false;
  bool nan_equal = false;
  bool inf_equal = false;
  bool strides_equal = false;
  std::int64_t violations = 0;
  std::optional<Worst> worst;
  double mere = 0;
  double mare = 0;
  Golden golden = Golden::native;
  double rmse = 0;
  double max_error = 0;
  double golden_rms = 0;
  bool bit_equal_native = false;
  std::vector<std::string> changed_inputs;  // parameters whose contents the call changed
  std::vector<std::string> aliased_inputs;  // parameters in whose memory the output lies
};

/// Why one case has no outputs to compare: the candidate raised, or returned the wrong structure.
struct CaseError {
  ErrorCode kind = ErrorCode::candidate_failed;
  std::string message;
};

struct CaseVerification {
  int case_index = 0;
  std::optional<CaseError> error;
  std::string fault;  // first thing wrong with its conduct (docs/protocol.md); empty: none known of
  std::vector<OutputAccuracy> outputs;
};

struct VerifyOutcome {
  std::vector<CaseVerification> cases;
};

/// One contestant of a timing: an implementation file, or torch's reference if there is none.
struct Arm {
  std::string name;
  std::optional<std::filesystem::path> file;
};

/// Positions among the `arms` of a timing request, once per sample wanted, in the order to take
/// them.
using Schedule = std::vector<int>;

enum class Regime { cold, warm };

/// Device times, one sample per schedule entry: mean of one `forward` over the launches asked for.
struct BenchSamples {
  std::vector<double> device_us;
  double overhead_us = 0;  // median empty interval, already taken off each sample
};

struct RouteCost {
  double router_us = 0;
  std::string route;  // host function the router chose, or "base"
};

struct FuzzFailure {
  std::vector<Argument> inputs;
  std::string route;
  std::string message;
};

/// Unseen inputs through a whole file. `tried` counts inputs made, `accepted` those compared.
struct FuzzOutcome {
  int tried = 0;
  int accepted = 0;
  std::map<std::string, int> routes;  // inputs by the host function that served them
  std::vector<FuzzFailure> failures;
};

}  // namespace ksplit
