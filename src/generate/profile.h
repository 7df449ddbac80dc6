// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"

namespace ksplit {

/// What generation must know of a device. Data: a TOML file in `profiles/` or the user's own.
struct DeviceProfile {
  std::string name;                  // "h200", "a100", "cpu", "ascend910b"
  std::string kind;                  // "gpu", "cpu", "npu"
  std::vector<std::string> devices;  // parts of device names that it is the default for
  int cores = 1;  // SMs, threads or vector cores; a device that is asked overrides it
  std::int64_t fast_memory_bytes = 0;  // registers + shared memory a program may use; UB on Ascend
  bool grid_capped = false;  // grid <= cores, each program loops over a contiguous share of tiles
  std::vector<int> warps;    // num_warps worth trying; empty where the device has none
  std::vector<int> stages;   // num_stages worth trying; empty where the device has none
  double bandwidth_bytes_per_us = 0;  // copy rate, bytes read and written, for floors
};

/// Elements that a thread holds of a tile, on a device that has warps.
inline std::int64_t per_thread(std::int64_t tile, int warps) {
  return tile / (std::int64_t{32} * warps);
}

/// Reads a profile. Every key but `devices` is required. Errors: input-malformed, with the line,
/// naming the key.
Result<DeviceProfile> load_profile(const std::string& toml_text, const std::string& name);

/// Names of the profiles that are part of the program.
std::vector<std::string> builtin_profile_names();

/// One of them. Errors: usage, listing the names there are.
Result<DeviceProfile> builtin_profile(const std::string& name);

/// The built-in profile for a device: the one that names it ("NVIDIA H200"), else the general one
/// of its kind. Errors: unsupported kind.
Result<DeviceProfile> default_profile(const std::string& kind, const std::string& device_name);

}  // namespace ksplit
