// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ksplit {

/// XXH3-128 of `bytes` as 32 hexadecimal digits. For keys and change detection, not for security.
std::string hash_hex(std::string_view bytes);

}  // namespace ksplit
