// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace ksplit {

/// A broken promise inside ksplit, never the user's fault. Caught once, in `main`.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void throw_internal_error(const char* condition, const char* file, int line,
                                       const std::string& what);

}  // namespace ksplit

#define KSPLIT_CHECK(condition, what)                                                         \
  do {                                                                                        \
    if (!(condition)) ::ksplit::throw_internal_error(#condition, __FILE__, __LINE__, (what)); \
  } while (false)
