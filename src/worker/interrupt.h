// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace ksplit {

/// True once the user wants the run to end. The command line's SIGINT and SIGTERM handlers set it
/// (a lock-free store is all a signal handler may do); every wait for a worker then returns
/// ErrorCode::interrupted within 100 ms, and the worker waited for is killed.
inline constinit std::atomic<bool> interrupt_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace ksplit
