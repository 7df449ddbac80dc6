// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace ksplit {

/// A file of `experience/`, taken into the program when it is built.
struct EmbeddedRules {
  std::string_view file;  // "experience/reduce.toml"
  std::string_view text;
};

/// In the order in which they are tried.
std::span<const EmbeddedRules> embedded_rules();

}  // namespace ksplit
