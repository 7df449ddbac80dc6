// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace ksplit {

/// A file of `profiles/`, taken into the program when it is built.
struct EmbeddedProfile {
  const char* name;
  const char* text;
};

const std::vector<EmbeddedProfile>& embedded_profiles();

}  // namespace ksplit
