// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ksplit {

/// How a run tells what it is doing. The command line prints; tests record.
class Observer {
 public:
  virtual ~Observer() = default;

  /// A stage has ended: one line of the run's story.
  virtual void line(const std::string& text) = 0;

  /// `done` of `total` steps of the stage that is running.
  virtual void progress(const std::string& stage, int done, int total) = 0;
};

}  // namespace ksplit
