// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/result.h"

namespace ksplit {

/// Where a run writes until it is known to have succeeded: a folder beside the output folder,
/// so that publishing is a rename. Goes with the object unless published.
class Workspace {
 public:
  /// Errors: output-unwritable.
  static Result<Workspace> create(const std::filesystem::path& out);

  Workspace(Workspace&& other) noexcept;
  Workspace& operator=(Workspace&&) = delete;
  ~Workspace();

  /// A file of the result. Errors: output-unwritable.
  Status write(const std::filesystem::path& relative, std::string_view content) const;

  /// A copy of a user's file as part of the result. Errors: output-unwritable.
  Status copy(const std::filesystem::path& from, const std::filesystem::path& relative) const;

  /// A file that only the run needs; not part of the result. Returns its path.
  Result<std::filesystem::path> write_scratch(const std::string& name,
                                              std::string_view content) const;

  /// Puts the result in the place of `out`; an earlier result there is replaced as a whole, in one
  /// step. Errors: output-unwritable, with the earlier result untouched.
  Status publish();

 private:
  explicit Workspace(std::filesystem::path out);

  std::filesystem::path out_;
  std::filesystem::path root_;  // holds `result` and `scratch`; empty once moved from
  std::filesystem::path result_;
  std::filesystem::path scratch_;
};

}  // namespace ksplit
