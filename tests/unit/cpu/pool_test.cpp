// SPDX-License-Identifier: Apache-2.0
#include "cpu/runtime/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "cpu/runtime/services.h"

namespace ksplit::cpu {
namespace {

/// A kernel that counts, in its only argument's array, how often each program runs.
void count_programs(const Launch* launch, std::int64_t first, std::int64_t last, char* frame) {
  auto* counts = reinterpret_cast<std::atomic<int>*>(launch->arguments[0]);
  for (std::int64_t i = first; i < last; ++i) {
    frame[0] = static_cast<char>(i);
    counts[i].fetch_add(1);
  }
}

void fail_at_five(const Launch* launch, std::int64_t first, std::int64_t last, char*) {
  for (std::int64_t i = first; i < last; ++i) {
    if (i == 5) {
      const std::int32_t program[3] = {5, 0, 0};
      const Site site = {"k", "k.py", 12, "x must be positive"};
      launch->services->assert_fault(launch, program, &site);
    }
  }
}

Kernel kernel_of(RunFunction run, std::int64_t cost) {
  return {kAbiVersion, 1, 0, 64, cost, run};
}

TEST(Pool, RunsEveryProgramOnce) {
  for (const std::int64_t cost : {1, 1000, 1'000'000}) {
    for (const int threads : {1, 2, 5}) {
      std::vector<std::atomic<int>> counts(6 * 7 * 5);
      const std::uint64_t slots[] = {reinterpret_cast<std::uint64_t>(counts.data())};
      const Launch launch{slots, nullptr, 1, {6, 7, 5}, &host_services()};
      for (int round = 1; round <= 20; ++round) {
        run_launch(kernel_of(count_programs, cost), launch, threads);
        for (const auto& count : counts) ASSERT_EQ(count.load(), round);
      }
    }
  }
}

TEST(Pool, FaultEndsTheLaunchAndNamesThePlace) {
  const std::uint64_t slots[] = {0};
  const Launch launch{slots, nullptr, 1, {100, 1, 1}, &host_services()};
  for (const int threads : {1, 3}) {
    try {
      run_launch(kernel_of(fail_at_five, 1000), launch, threads);
      FAIL() << "no fault";
    } catch (const KernelFault& fault) {
      EXPECT_EQ(std::string(fault.what()),
                "kernel k at k.py:12: assertion failed in program (5, 0, 0): x must be positive");
    }
  }
}

TEST(Services, AccessFaultSaysWhere) {
  const char memory[40] = {};
  const std::uint64_t slots[] = {0};
  const Extent extents[] = {{memory, memory + 40}};
  const Launch launch{slots, extents, 1, {1, 1, 1}, &host_services()};
  const std::int32_t program[3] = {1, 2, 0};
  const Site site = {"k", "k.py", 3, "store"};
  try {
    host_services().access_fault(&launch, program, &site, 0, memory + 40, 4);
    FAIL() << "no fault";
  } catch (const KernelFault& fault) {
    EXPECT_EQ(std::string(fault.what()),
              "kernel k at k.py:3: store of 4 bytes out of bounds in program (1, 2, 0): "
              "byte offset 40 of argument 0, which has 40 bytes");
  }
}

}  // namespace
}  // namespace ksplit::cpu
