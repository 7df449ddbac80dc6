// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "python/module.h"
#include "task/graph.h"
#include "task/launch.h"
#include "worker/interpreter.h"
#include "worker/outcomes.h"
#include "worker/process.h"

namespace ksplit {

struct WorkerOptions {
  std::string device = "cpu";  // "cpu", "cuda", "cuda:N", "npu" or "auto"
  Interpreter interpreter;     // from find_interpreter
  std::filesystem::path log;   // where what kernels print goes; empty: nowhere
  std::chrono::milliseconds start_limit = std::chrono::seconds(180);    // torch from a cold disk
  std::chrono::milliseconds request_limit = std::chrono::seconds(300);  // unless set otherwise
};

struct LoadRequest {
  std::filesystem::path task;
  std::filesystem::path base;
  std::uint64_t seed = 0;
};

/// A worker process seen as typed functions, one for each operation of docs/protocol.md.
///
/// A request that fails costs itself only. When the process died, hung or broke the protocol, the
/// request returns worker-failed, which says how and quotes the last lines it printed; the next
/// request first starts a new process, which loads the same task again. Errors that the worker
/// reports itself (candidate-failed, reference-failed ...) leave the process as it is. A process
/// that ended after its last answer (a kernel had broken the device) costs no request: one that it
/// never read is asked again.
///
/// Files are sent by absolute path and read by the worker. Case indices count from 1. One thread
/// at a time may use a Worker.
class Worker {
 public:
  /// Starts the process and asks who it is. Errors: environment, if it cannot be started, ends at
  /// once (a module is missing), or says itself that something is missing; interrupted.
  static Result<Worker> start(WorkerOptions options);

  Worker(Worker&&) noexcept = default;
  Worker& operator=(Worker&&) noexcept = default;
  ~Worker();

  const WorkerInfo& info() const { return info_; }

  /// Loads a task; needed before anything but `parse`. Replaces the task loaded before.
  Result<LoadOutcome> load(const LoadRequest& request);

  Result<PythonModule> parse(const std::filesystem::path& file);
  Result<ReferenceGraph> graph(int case_index);
  Result<LaunchTrace> trace(const std::filesystem::path& file, int case_index);
  Result<CompileOutcome> compile(const std::filesystem::path& file, const std::vector<int>& cases);
  /// `target`: "cuda:90" and the like; empty: the worker's own device.
  Result<std::vector<KernelIr>> ttir(const std::filesystem::path& file, int case_index,
                                     const std::string& target);
  Result<VerifyOutcome> verify(const std::filesystem::path& file, const std::vector<int>& cases,
                               const AccuracyRules& rules);
  Result<BenchSamples> bench(const std::vector<Arm>& arms, int case_index, const Schedule& schedule,
                             int launches, Regime regime);
  Result<std::vector<double>> latency(const std::vector<Arm>& arms, int case_index,
                                      const Schedule& schedule, int calls);
  Result<RouteCost> route(const std::filesystem::path& file, int case_index, int calls);
  Result<FuzzOutcome> fuzz(const std::filesystem::path& file, int count, std::uint64_t seed,
                           const AccuracyRules& rules);

  /// The time limit of each later request.
  void set_request_limit(std::chrono::milliseconds limit) { options_.request_limit = limit; }

  /// How often a new process had to be started.
  int restarts() const { return starts_ - 1; }

  /// Asks an idle process to end and does not wait; a later request starts a new one.
  void end();

 private:
  explicit Worker(WorkerOptions options) : options_(std::move(options)) {}

  /// Makes sure that a process is there and has the task.
  Status ensure_ready();
  Status start_process();
  Result<nlohmann::json> ask(const char* op, nlohmann::json request);
  Result<nlohmann::json> exchange(const char* op, nlohmann::json request,
                                  std::chrono::milliseconds limit);

  /// Ends a process that can no longer be relied on; adds what it printed last to `error`.
  tl::unexpected<Error> lose_process(Error error);
  /// `decoded`, after ending a process whose answer it was not possible to decode.
  template <class T>
  Result<T> sound(Result<T> decoded);

  WorkerOptions options_;
  std::unique_ptr<Process> process_;  // null once it failed, until the next request
  WorkerInfo info_;
  std::optional<LoadRequest> loaded_;
  std::int64_t last_id_ = 0;
  bool unread_ = false;  // the last request failed before the process had read any of it
  int starts_ = 0;
};

}  // namespace ksplit
