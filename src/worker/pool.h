// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/result.h"
#include "worker/client.h"

namespace ksplit {

/// Called after each request with how many of `total` are done; from any thread, one at a time.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

/// Several workers of one device that share a list of independent requests.
class WorkerPool {
 public:
  /// Starts `size` workers (at least one) side by side. `options.log` gets ".1", ".2" ... appended.
  /// Errors: those of Worker::start.
  static Result<WorkerPool> start(const WorkerOptions& options, int size);

  WorkerPool(WorkerPool&&) noexcept = default;
  WorkerPool& operator=(WorkerPool&&) noexcept = default;
  ~WorkerPool();

  /// Loads the task into every worker; the outcome is the first worker's.
  Result<LoadOutcome> load(const LoadRequest& request);

  int size() const { return static_cast<int>(workers_.size()); }

  /// For what is done one at a time.
  Worker& first() { return workers_.front(); }

  void set_request_limit(std::chrono::milliseconds limit);

  /// Restarts of all workers together.
  int restarts() const;

  /// Runs `requests` and returns their results in the same order. A request that fails costs only
  /// itself; those not begun when an interrupt comes give ErrorCode::interrupted. An exception
  /// (a bug of ours) ends the run and is thrown on here.
  template <class T>
  std::vector<Result<T>> run(const std::vector<std::function<Result<T>(Worker&)>>& requests,
                             const Progress& progress = {}) {
    std::vector<std::optional<Result<T>>> slots(requests.size());
    share(
        requests.size(),
        [&](Worker& worker, std::size_t index) { slots[index] = requests[index](worker); },
        progress);
    std::vector<Result<T>> results;
    results.reserve(slots.size());
    for (std::optional<Result<T>>& slot : slots) {
      results.push_back(slot ? *std::move(slot) : fail(ErrorCode::interrupted, "interrupted"));
    }
    return results;
  }

 private:
  explicit WorkerPool(std::vector<Worker> workers) : workers_(std::move(workers)) {}

  /// Calls `serve` once for each index below `count`, each worker from a thread of its own.
  void share(std::size_t count, const std::function<void(Worker&, std::size_t)>& serve,
             const Progress& progress);

  std::vector<Worker> workers_;
};

}  // namespace ksplit
