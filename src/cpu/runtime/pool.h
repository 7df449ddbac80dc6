// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>

#include "cpu/runtime/abi.h"

namespace ksplit::cpu {

/// A kernel that touched memory it was not given, or failed an assertion. Ends its launch.
struct KernelFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs all programs of a launch on `threads` threads, the calling one among them, and returns when
/// all are done. The other threads are kept, and sleep between launches; after a fork() the child
/// starts with none. Launches from several threads take turns.
/// Throws the first KernelFault; programs that had not started by then do not run.
void run_launch(const Kernel& kernel, const Launch& launch, int threads);

/// Work that is worth waking another thread for, in element operations.
constexpr std::int64_t kParallelWork = 40'000;

}  // namespace ksplit::cpu
