// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/result.h"

namespace ksplit {

/// The whole file as bytes. Errors: input-missing, input-malformed (a directory, unreadable).
Result<std::string> read_file(const std::filesystem::path& path);

/// Writes to a temporary name beside `path`, then renames: readers see the old file or the new one.
/// Creates parent folders. Errors: output-unwritable.
Status write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace ksplit
