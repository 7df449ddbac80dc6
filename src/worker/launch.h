// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/result.h"

namespace ksplit {

/// What a child starts with. The descriptors are ours and stay open here.
struct LaunchPlan {
  std::vector<std::string> command;      // [0] is the path of the program
  std::vector<std::string> environment;  // the whole of it, "NAME=value"
  int requests = -1;                     // becomes descriptor 3
  int answers = -1;                      // becomes descriptor 4
  int output = -1;                       // becomes stdout and stderr
};

/// Starts a child in a process group of its own that is killed when this process dies, and that
/// the kernel prefers to kill when memory runs out. Its stdin is empty, its signals are at their
/// defaults, and it holds no other descriptor of ours. Errors: environment.
Result<pid_t> launch_child(const LaunchPlan& plan);

}  // namespace ksplit
