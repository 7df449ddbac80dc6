// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace ksplit {

/// A place in a user's file. Lines and columns count from 1; a column counts bytes.
struct SourceSpan {
  std::string file;
  int line = 0;
  int column = 0;

  bool operator==(const SourceSpan&) const = default;
};

/// What went wrong, by kind. The names are stable: scripts and `--json` consumers rely on them.
enum class ErrorCode {
  usage,                // command line: unknown word, bad value
  input_missing,        // a file or class that must exist does not
  input_malformed,      // a file that cannot be read as what it should be
  input_mismatch,       // two inputs that do not belong together
  environment,          // no Python, torch, Triton, compiler or device
  output_unwritable,    // the result cannot be written
  worker_failed,        // a worker died, hung or broke the protocol
  candidate_failed,     // code under test raised or did not compile
  reference_failed,     // the reference raised on a case
  base_inaccurate,      // the generic kernel itself fails accuracy
  unsupported,          // understood, but not covered
  verification_failed,  // the answer is no: accuracy
  integration_failed,   // the answer is no: the whole file
  interrupted,          // Ctrl-C
};

/// The stable name of a code, such as "input-missing".
const char* name_of(ErrorCode code);

/// A failure as a value. `message` is lower case, has no final period and contains the values;
/// `causes` is outer context, innermost first; `hint` is one action for the user, or empty.
struct Error {
  ErrorCode code;
  std::string message;
  std::optional<SourceSpan> at = std::nullopt;
  std::vector<std::string> causes = {};
  std::string hint = {};
};

template <class T>
using Result = tl::expected<T, Error>;

using Status = Result<void>;

/// Builds the unexpected side of a Result.
inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::nullopt, {}, std::move(hint)});
}

inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

/// Adds outer context ("case 3 of task_desc.py") and passes the failure on.
inline tl::unexpected<Error> with_context(Error error, std::string context) {
  error.causes.push_back(std::move(context));
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace ksplit

/// Evaluates `expression` (a Result); on failure returns its error from the enclosing function,
/// else binds the value to `declaration`.
#define KSPLIT_TRY(declaration, expression) KSPLIT_TRY_IMPL(declaration, expression, __COUNTER__)
#define KSPLIT_TRY_IMPL(declaration, expression, unique) \
  KSPLIT_TRY_IMPL2(declaration, expression, unique)
#define KSPLIT_TRY_IMPL2(declaration, expression, unique)                          \
  auto result_##unique = (expression);                                             \
  if (!result_##unique) return tl::unexpected(std::move(result_##unique).error()); \
  declaration = std::move(*result_##unique)

/// The same for a Status.
#define KSPLIT_TRY_STATUS(expression)                    \
  do {                                                   \
    if (auto status_ = (expression); !status_) {         \
      return tl::unexpected(std::move(status_).error()); \
    }                                                    \
  } while (false)
