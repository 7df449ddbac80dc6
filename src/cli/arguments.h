// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "core/result.h"
#include "stages/compat.h"
#include "stages/options.h"

namespace ksplit::cli {

enum class Command { split, plan, verify, bench, compat_verify, compat_benchmark };

/// Whether a command stands in for a script of the workflow, and answers as that does.
bool is_compat(Command command);

/// The command line as values.
struct Arguments {
  Command command = Command::split;
  Options options;
  std::filesystem::path implementation;  // verify, bench
  bool json = false;
  CompatVerify compat_verify;
  CompatBenchmark compat_benchmark;
};

/// What to do after reading the command line: run, or print `text` (help, version) and end.
struct Parsed {
  Arguments arguments;
  std::string text;  // not empty: print it, exit 0
};

/// The command that the first word names; split if it names none.
Command named_command(int argc, const char* const* argv);

/// Errors: usage, in the words of the parser.
Result<Parsed> parse_arguments(int argc, const char* const* argv);

}  // namespace ksplit::cli
