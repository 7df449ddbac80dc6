// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "python/module.h"

namespace ksplit::test {

/// The text as the worker's `parse` reads it (python/ksplit/sources.py, run by the Python that
/// CMake found). Text that is not Python fails the test.
PythonModule module_of(const std::string& text, const std::string& path = "base_kernel.py");

/// Empty if CPython compiles the text, else what it says.
std::string compile_error(const std::string& text);

/// The file of that name under tests/golden. With KSPLIT_UPDATE_GOLDEN=1 it is written with
/// `actual` first.
std::string golden(const std::string& name, const std::string& actual);

}  // namespace ksplit::test
