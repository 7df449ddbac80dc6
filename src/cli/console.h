// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "core/result.h"
#include "stages/observer.h"

namespace ksplit::cli {

/// Lines of the run's story on standard output (unless `quiet`), one line of progress on standard
/// error that overwrites itself and exists only on a terminal.
class Console : public Observer {
 public:
  explicit Console(bool quiet);
  ~Console() override;

  void line(const std::string& text) override;
  void progress(const std::string& stage, int done, int total) override;

 private:
  void clear_progress();

  bool quiet_;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point started_;
  std::mutex mutex_;
};

/// error[code]: message, the place, the context, and a hint on a line of its own.
std::string describe(const Error& error);

/// The same on one line, message and hint only, for callers that keep a line.
std::string describe_on_one_line(const Error& error);

/// The same for machines: {"error": {"code", "message", "file", "line", "column", "causes",
/// "hint"}}.
std::string describe_as_json(const Error& error);

}  // namespace ksplit::cli
