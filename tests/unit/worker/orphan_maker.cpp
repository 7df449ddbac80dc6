// SPDX-License-Identifier: Apache-2.0
// Starts a child from a thread that ends at once, prints the child's id, and waits to be killed.
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "worker/process.h"

int main() {
  std::unique_ptr<ksplit::Process> child;
  std::thread([&child] {
    auto spawned = ksplit::Process::spawn({{"/bin/sleep", "60"}, {}, {}});
    if (spawned) child = *std::move(spawned);
  }).join();
  if (!child) return 1;
  std::printf("%d\n", static_cast<int>(child->pid()));
  std::fflush(stdout);
  pause();
  return 0;
}
