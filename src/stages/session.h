// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "generate/profile.h"
#include "python/module.h"
#include "stages/options.h"
#include "worker/client.h"

namespace ksplit {

/// What every stage works with: the task as loaded, the base as source, the device, and the one
/// worker that may measure.
struct Session {
  Options options;
  WorkerOptions worker_options;
  Worker worker;
  Task task;
  PythonModule base;
  DeviceProfile profile;
  AccuracyRules rules;  // for every floating dtype the outputs may have

  bool interpreted() const { return worker.info().executor == WorkerInfo::Executor::interpreter; }
  bool on_gpu() const { return worker.info().device_kind == "gpu"; }
  std::vector<int> case_indices() const;
  const Case& case_of(int index) const;

  /// A further worker with the task loaded, in a process of its own.
  Result<Worker> another_worker() const;
};

/// Starts a worker, loads task and base. Errors: environment; input-missing, input-malformed,
/// reference-failed as the worker found them.
Result<Session> open_session(const Options& options);

}  // namespace ksplit
