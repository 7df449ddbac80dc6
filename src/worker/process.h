// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "worker/descriptor.h"
#include "worker/output_log.h"

namespace ksplit {

struct ProcessOptions {
  std::vector<std::string> command;  // [0] is the path of the program: PATH is not searched
  std::vector<std::pair<std::string, std::string>> environment;  // on top of our own
  std::filesystem::path log;  // stdout and stderr; empty: only the last lines are kept
};

/// A child process that talks in lines: it reads requests from descriptor 3 and writes answers to
/// descriptor 4. What it prints is captured, never parsed.
///
/// Promises, whatever the child does:
/// - No call blocks beyond its deadline (plus 100 ms), and each ends with ErrorCode::interrupted
///   within 100 ms of `interrupt_requested`.
/// - The child leads its own process group; the whole group is killed when the child has ended, is
///   stopped, or this object goes. Only a descendant that left the group can outlive it.
/// - If we die, even by SIGKILL, the kernel kills the child.
/// - Out of memory, the kernel kills the child rather than us.
///
/// One thread at a time may use a Process. The first spawn sets SIGPIPE to be ignored.
class Process {
 public:
  using Clock = std::chrono::steady_clock;

  /// The longest line in either direction. A longer one fails the call.
  static constexpr std::size_t kLineCap = 64 << 20;

  /// Errors: environment, if the program cannot be started.
  static Result<std::unique_ptr<Process>> spawn(const ProcessOptions& options);

  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  /// Sends `line` (without newline). Errors: interrupted, and worker-failed with what the child did
  /// as a predicate: "was killed by SIGSEGV", "did not answer within its time limit". After an
  /// error the two sides may no longer agree on where a line begins: stop the child.
  Status write_line(std::string_view line, Clock::time_point deadline);

  /// Whether the child has read anything of the line written last. What it had not read when it
  /// ended, it cannot have ended over.
  bool has_read_last_line() const;

  /// The next line, without newline; one that was complete before the child ended is still given.
  /// Errors: as for write_line.
  Result<std::string> read_line(Clock::time_point deadline);

  /// Closes the child's requests, which asks it to end by itself.
  void end_input();

  /// Asks the child to end, gives it `grace` to do so, then kills the group and reaps the child.
  /// Idempotent; the destructor does the same without grace.
  void stop(std::chrono::milliseconds grace);

  pid_t pid() const { return pid_; }

  /// How the child ended: "exited with status 1", "was killed by SIGSEGV"; empty while it runs.
  const std::string& ending() const { return ending_; }

  OutputLog& log() { return log_; }

 private:
  Process(pid_t pid, Descriptor requests, Descriptor answers, Descriptor output, OutputLog log);

  /// Reads all that has arrived, then waits up to 50 ms for more (and, if `writing`, for room).
  /// Errors: interrupted, worker-failed past the deadline.
  Status wait_for_news(Clock::time_point deadline, bool writing);
  void receive();
  std::optional<std::string> take_line();
  bool has_ended() const;
  /// The error for a child that ended or closed a pipe; gives it a moment to end so that the
  /// reason can be told.
  tl::unexpected<Error> failure_of_child(const char* closed);
  void kill_and_reap();

  pid_t pid_;
  Descriptor requests_;
  Descriptor answers_;
  Descriptor output_;
  OutputLog log_;
  std::string buffer_;       // answer bytes not yet given out
  std::size_t scanned_ = 0;  // how much of buffer_ holds no newline
  std::size_t sent_ = 0;     // bytes of the last request that the pipe took
  bool reaped_ = false;
  std::string ending_;
};

}  // namespace ksplit
