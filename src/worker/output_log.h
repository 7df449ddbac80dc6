// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "worker/descriptor.h"

namespace ksplit {

/// What a worker prints: the first `kFileCap` bytes in a file (if one is named), the last
/// `kTailCap` bytes in memory, however much a kernel prints. A file that cannot be written is
/// silently done without: losing a log must not lose a run.
class OutputLog {
 public:
  static constexpr std::size_t kFileCap = 16 << 20;
  static constexpr std::size_t kTailCap = 64 << 10;

  OutputLog() = default;
  /// Appends to `file`; its folder must exist.
  explicit OutputLog(const std::filesystem::path& file);

  void append(std::string_view bytes);

  /// The last `count` lines that are not blank, oldest first, each cut to 400 bytes.
  std::vector<std::string> last_lines(std::size_t count) const;

 private:
  void append_to_file(std::string_view bytes);

  Descriptor file_;
  std::size_t file_bytes_ = 0;
  std::string tail_;
};

}  // namespace ksplit
