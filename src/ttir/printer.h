// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ttir/ir.h"

namespace ksplit::ttir {

struct PrintOptions {
  bool locations = true;
};

/// The module as text that Triton and parse() read back to an equal module: operations in the
/// compact form where they have one, locations as aliases at the end.
std::string print(const Module& module, PrintOptions options = {});

/// One operation on one line (regions left out), for messages.
std::string print(const Operation& operation);

}  // namespace ksplit::ttir
