// SPDX-License-Identifier: Apache-2.0
#include "worker/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "core/check.h"
#include "worker/interrupt.h"

namespace ksplit {

namespace {

/// Calls `work(0)` ... `work(count - 1)`, each in a thread, and waits; the first exception is
/// thrown on.
void in_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::exception_ptr thrown;
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    threads.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        try {
          work(i);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!thrown) thrown = std::current_exception();
        }
      });
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace

Result<WorkerPool> WorkerPool::start(const WorkerOptions& options, int size) {
  const auto count = static_cast<std::size_t>(std::max(size, 1));
  std::vector<std::optional<Result<Worker>>> started(count);
  in_threads(count, [&](std::size_t i) {
    WorkerOptions own = options;
    if (!own.log.empty()) own.log += fmt::format(".{}", i + 1);
    started[i] = Worker::start(std::move(own));
  });
  std::vector<Worker> workers;
  workers.reserve(count);
  for (std::optional<Result<Worker>>& slot : started) {
    KSPLIT_CHECK(slot, "every start has a result");
    KSPLIT_TRY(Worker worker, *std::move(slot));
    workers.push_back(std::move(worker));
  }
  return WorkerPool(std::move(workers));
}

WorkerPool::~WorkerPool() {
  // All leave at once, instead of each while the next one waits.
  for (Worker& worker : workers_) worker.end();
}

Result<LoadOutcome> WorkerPool::load(const LoadRequest& request) {
  std::vector<Result<LoadOutcome>> loaded(workers_.size());
  in_threads(workers_.size(), [&](std::size_t i) { loaded[i] = workers_[i].load(request); });
  for (const auto& one : loaded) {
    if (!one) return fail(one.error());
  }
  return std::move(loaded.front());
}

void WorkerPool::set_request_limit(std::chrono::milliseconds limit) {
  for (Worker& worker : workers_) worker.set_request_limit(limit);
}

int WorkerPool::restarts() const {
  int sum = 0;
  for (const Worker& worker : workers_) sum += worker.restarts();
  return sum;
}

void WorkerPool::share(std::size_t count, const std::function<void(Worker&, std::size_t)>& serve,
                       const Progress& progress) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> broken{false};
  std::mutex progress_mutex;
  std::size_t done = 0;
  in_threads(std::min(workers_.size(), count), [&](std::size_t own) {
    try {
      while (!interrupt_requested && !broken) {
        const std::size_t index = next++;
        if (index >= count) return;
        serve(workers_[own], index);
        const std::lock_guard lock(progress_mutex);
        ++done;
        if (progress) progress(done, count);
      }
    } catch (...) {
      broken = true;
      throw;
    }
  });
}

}  // namespace ksplit
