// SPDX-License-Identifier: Apache-2.0
#include "cpu/runtime/pool.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace ksplit::cpu {
namespace {

/// Scratch memory of one thread, kept from launch to launch.
class ThreadFrame {
 public:
  char* of_size(std::int64_t bytes) {
    if (bytes > size_) {
      std::free(memory_);
      size_ = (bytes + 4095) / 4096 * 4096;
      memory_ = static_cast<char*>(std::aligned_alloc(64, static_cast<std::size_t>(size_)));
      if (memory_ == nullptr) {
        size_ = 0;
        throw std::bad_alloc();
      }
    }
    return memory_;
  }
  ThreadFrame() = default;
  ThreadFrame(const ThreadFrame&) = delete;
  ThreadFrame& operator=(const ThreadFrame&) = delete;
  ~ThreadFrame() { std::free(memory_); }

 private:
  char* memory_ = nullptr;
  std::int64_t size_ = 0;
};

thread_local ThreadFrame thread_frame;

/// One launch: threads take pieces of `grain` programs until none are left.
struct Job {
  const Kernel& kernel;
  const Launch& launch;
  std::int64_t total;
  std::int64_t grain;
  std::atomic<std::int64_t> next{0};
  std::atomic<int> working{0};  // helpers that are not done
  std::mutex fault_mutex;
  std::exception_ptr fault;

  Job(const Kernel& kernel, const Launch& launch, std::int64_t total, std::int64_t grain)
      : kernel(kernel), launch(launch), total(total), grain(grain) {}

  void work() {
    try {
      char* frame = thread_frame.of_size(kernel.frame_bytes);
      for (;;) {
        const std::int64_t first = next.fetch_add(grain, std::memory_order_relaxed);
        if (first >= total) return;
        kernel.run(&launch, first, std::min(first + grain, total), frame);
      }
    } catch (...) {
      next.store(total, std::memory_order_relaxed);
      const std::lock_guard lock(fault_mutex);
      if (!fault) fault = std::current_exception();
    }
  }
};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// How long a thread looks for new work before it sleeps: about the time that waking it would take.
constexpr int kSpins = 2000;

class Pool {
 public:
  void run(Job& job, int helpers) {
    while (static_cast<int>(started_) < helpers) {
      const int index = static_cast<int>(started_++);
      std::thread([this, index] { serve(index); }).detach();
    }
    job.working.store(helpers, std::memory_order_relaxed);
    job_ = &job;
    // The number of helpers travels in the signal: those not wanted must not look at the job, which
    // may be gone by the time they wake.
    const std::uint64_t round = (signal_.load(std::memory_order_relaxed) >> 16) + 1;
    signal_.store(round << 16 | static_cast<std::uint64_t>(helpers), std::memory_order_release);
    signal_.notify_all();
    job.work();
    for (int spin = 0;; ++spin) {
      const int left = job.working.load(std::memory_order_acquire);
      if (left == 0) break;
      if (spin < kSpins) {
        relax();
      } else {
        std::this_thread::yield();
      }
    }
  }

 private:
  void serve(int index) {
    std::uint64_t seen = 0;
    for (;;) {
      std::uint64_t now = signal_.load(std::memory_order_acquire);
      for (int spin = 0; now == seen && spin < kSpins; ++spin) {
        relax();
        now = signal_.load(std::memory_order_acquire);
      }
      if (now == seen) {
        signal_.wait(seen, std::memory_order_acquire);
        continue;
      }
      seen = now;
      if (index < static_cast<int>(now & 0xffff)) {
        Job& job = *job_;
        job.work();
        job.working.fetch_sub(1, std::memory_order_release);
      }
    }
  }

  std::atomic<std::uint64_t> signal_{0};
  Job* job_ = nullptr;
  std::size_t started_ = 0;
};

// Never destroyed: its threads run until the process ends.
Pool* pool = nullptr;
std::mutex* pool_mutex = nullptr;

void forget_pool() {
  pool = new Pool;
  pool_mutex = new std::mutex;
}

// libgomp's entry point for a parallel region, which LLVM's OpenMP offers too.
using ParallelRegion = void (*)(void (*body)(void*), void* data, unsigned threads, unsigned flags);
ParallelRegion parallel_region = nullptr;

// An OpenMP runtime does not survive a fork either.
void start_over() {
  forget_pool();
  parallel_region = nullptr;
}

void ensure_pool() {
  static std::once_flag once;
  std::call_once(once, [] {
    forget_pool();
    parallel_region = reinterpret_cast<ParallelRegion>(dlsym(RTLD_DEFAULT, "GOMP_parallel"));
    pthread_atfork(nullptr, nullptr, start_over);
  });
}

}  // namespace

void run_launch(const Kernel& kernel, const Launch& launch, int threads) {
  const std::int64_t total = std::int64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  if (threads <= 1 || total <= 1) {
    kernel.run(&launch, 0, total, thread_frame.of_size(kernel.frame_bytes));
    return;
  }
  const auto helpers = static_cast<int>(std::min<std::int64_t>({threads - 1, total - 1, 0xffff}));
  // Pieces small enough to even out, large enough that taking one costs nothing.
  const std::int64_t even = total / ((helpers + 1) * std::int64_t{8});
  const std::int64_t enough = kParallelWork / 8 / kernel.cost;
  const std::int64_t most = (total + helpers) / (helpers + 1);
  const std::int64_t grain = std::clamp<std::int64_t>(std::max(even, enough), 1, most);
  ensure_pool();
  const std::lock_guard lock(*pool_mutex);
  Job job(kernel, launch, total, grain);
  if (parallel_region != nullptr) {
    // All threads even where there are fewer programs: the runtime ends threads that it isn't asked
    // for, and torch would have to start them again.
    parallel_region([](void* data) { static_cast<Job*>(data)->work(); }, &job,
                    static_cast<unsigned>(threads), 0);
  } else {
    pool->run(job, helpers);
  }
  if (job.fault) std::rethrow_exception(job.fault);
}

}  // namespace ksplit::cpu
