// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files.h"

namespace ksplit::ttir {

struct Golden {
  std::string name;  // "3.6/softmax.opt.ttir"
  std::string text;
};

/// Triton's own text of every golden kernel.
inline const std::vector<Golden>& golden_files() {
  static const std::vector<Golden> kFiles = [] {
    namespace fs = std::filesystem;
    std::vector<Golden> files;
    for (const auto& entry : fs::recursive_directory_iterator(KSPLIT_GOLDEN_TTIR)) {
      if (entry.path().extension() != ".ttir") continue;
      files.push_back({fs::relative(entry.path(), KSPLIT_GOLDEN_TTIR).string(),
                       read_file(entry.path()).value()});
    }
    std::ranges::sort(files, {}, &Golden::name);
    return files;
  }();
  return kFiles;
}

inline const std::string& golden_text(const std::string& name) {
  return std::ranges::find(golden_files(), name, &Golden::name)->text;
}

}  // namespace ksplit::ttir
