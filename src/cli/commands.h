// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace ksplit::cli {

/// Exit statuses of the tool.
enum ExitStatus { kDone = 0, kAnswerIsNo = 1, kBadInput = 2, kInterrupted = 130 };

/// Of an error while `command` ran, or was read.
ExitStatus exit_status_of(ErrorCode code, Command command);

/// Runs the command and prints its result. Errors: everything the run could not do.
Result<ExitStatus> run(const Arguments& arguments);

}  // namespace ksplit::cli
