// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"

namespace ksplit {

/// What generation must know of a device. Data: a TOML file in `profiles/` or the user's own.
struct DeviceProfile {
  std::string name;             // "h200", "a100", "cpu", "ascend910b"
  std::string kind;             // "gpu", "cpu", "npu"
  int cores = 1;                // SMs, threads or vector cores; a device that is asked overrides it
  std::int64_t fast_memory_bytes = 0;  // registers + shared memory a program may use; UB on Ascend
  bool grid_capped = false;     // grid <= cores, each program loops over a contiguous share of tiles
  std::vector<int> warps;       // num_warps worth trying; empty where the device has none
  std::vector<int> stages;      // num_stages worth trying; empty where the device has none
  double bandwidth_bytes_per_us = 0;   // measured copy rate, for floors
};

/// Errors: input-missing, input-malformed (with line), naming the key.
Result<DeviceProfile> load_profile(const std::string& toml_text, const std::string& name);

}  // namespace ksplit
