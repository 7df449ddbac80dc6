// SPDX-License-Identifier: Apache-2.0
#include "stages/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/files.h"
#include "generate/profile.h"
#include "judge/accuracy.h"

namespace ksplit {

std::vector<int> Session::case_indices() const {
  std::vector<int> indices;
  indices.reserve(task.cases.size());
  for (const Case& sample : task.cases) indices.push_back(sample.index);
  return indices;
}

const Case& Session::case_of(int index) const {
  const auto found = std::ranges::find(task.cases, index, &Case::index);
  KSPLIT_CHECK(found != task.cases.end(), fmt::format("no case {}", index));
  return *found;
}

Result<Worker> Session::another_worker() const {
  KSPLIT_TRY(Worker another, Worker::start(worker_options));
  KSPLIT_TRY([[maybe_unused]] const LoadOutcome loaded,
             another.load({options.task, options.base, options.seed}));
  return another;
}

namespace {

/// The user's choice (a built-in name or a file), else what fits the device and its own core count.
Result<DeviceProfile> choose_profile(const std::string& choice, const WorkerInfo& device) {
  if (choice.empty()) {
    KSPLIT_TRY(DeviceProfile profile, default_profile(device.device_kind, device.device_name));
    if (device.cores > 0) profile.cores = device.cores;
    return profile;
  }
  const std::filesystem::path file = choice;
  if (!file.has_extension()) return builtin_profile(choice);
  KSPLIT_TRY(const std::string text, read_file(file));
  return load_profile(text, file.stem().string());
}

}  // namespace

Result<Session> open_session(const Options& options) {
  for (const auto& file : {options.base, options.task}) {
    if (!std::filesystem::exists(file)) {
      return fail(ErrorCode::input_missing, fmt::format("no file `{}`", file.string()),
                  "a work directory holds base_kernel.py and task_desc.py; `--base FILE` and "
                  "`--task FILE` name others");
    }
  }
  KSPLIT_TRY(Interpreter interpreter, find_interpreter(options.python));
  WorkerOptions worker_options;
  worker_options.device = options.device;
  worker_options.interpreter = std::move(interpreter);
  KSPLIT_TRY(Worker worker, Worker::start(worker_options));
  KSPLIT_TRY(LoadOutcome loaded, worker.load({options.task, options.base, options.seed}));
  if (loaded.task.cases.empty()) {
    return fail(ErrorCode::input_malformed, fmt::format("`{}` has no cases", options.task.string()),
                "let get_input_groups() return a list of argument lists, one a case");
  }
  if (!options.op_name.empty()) loaded.task.op_name = options.op_name;
  KSPLIT_TRY(PythonModule base, worker.parse(options.base));
  KSPLIT_TRY(DeviceProfile profile, choose_profile(options.profile, worker.info()));
  return Session{
      options,
      std::move(worker_options),
      std::move(worker),
      std::move(loaded.task),
      std::move(base),
      std::move(profile),
      rules_for({"float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"})};
}

}  // namespace ksplit
