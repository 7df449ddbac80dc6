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
/// all are done. Launches from several threads take turns.
///
/// The other threads are those of the process's OpenMP runtime where it has one, as with torch:
/// after a parallel operation they look for more work for some 10 ms before they sleep, and threads
/// of our own would share the cores with them. Else they are our own, kept from launch to launch;
/// so are those of a child after fork(), which starts with none. Throws the first KernelFault;
/// programs that had not started by then do not run.
void run_launch(const Kernel& kernel, const Launch& launch, int threads);

/// Work that is worth waking another thread for, in element operations.
constexpr std::int64_t kParallelWork = 40'000;

}  // namespace ksplit::cpu
