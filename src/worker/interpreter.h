// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/result.h"

namespace ksplit {

/// The Python that has the user's torch and Triton, and where it finds our worker package.
struct Interpreter {
  std::filesystem::path python;
  std::string chosen_by;  // for messages: "--python", "VIRTUAL_ENV", "python3 on PATH" ...
  std::optional<std::filesystem::path> package_folder;  // holds ksplit/worker.py; unset: its own
};

/// Finds the interpreter, first match:
///   1. `option` (the value of --python; a bare name is looked up on PATH; empty: not given)
///   2. $KSPLIT_PYTHON, in the same way
///   3. the virtual environment that this binary is installed in
///   4. $VIRTUAL_ENV/bin/python
///   5. python3 on PATH
/// and the package: $KSPLIT_PYTHONPATH, else `python` in the folder above the binary's, or one or
/// two folders further up (a build tree), else unset: the interpreter's own site-packages.
/// Errors: environment, naming all that was tried. Something named explicitly (1, 2) that does not
/// exist is an error, not passed over.
Result<Interpreter> find_interpreter(const std::string& option);

}  // namespace ksplit
