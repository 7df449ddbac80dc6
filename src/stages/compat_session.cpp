// SPDX-License-Identifier: Apache-2.0
#include "stages/compat_session.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/files.h"
#include "worker/interpreter.h"

namespace ksplit {

namespace fs = std::filesystem;

namespace {

constexpr const char* kStandIn =
    "from torch import nn\n\n\n"
    "class ModelNew(nn.Module):\n"
    "    def __init__(self, *args, **kwargs):\n"
    "        super().__init__()\n\n"
    "    def forward(self, *args, **kwargs):\n"
    "        return None\n";

Status check_exists(const fs::path& file, const char* holds) {
  std::error_code unreadable;
  if (fs::exists(file, unreadable)) return {};
  return fail(ErrorCode::input_missing, fmt::format("no file `{}`", file.string()),
              fmt::format("--verify_dir names a folder with OP_torch.py and OP_NAME.py, "
                          "which hold {}",
                          holds));
}

}  // namespace

fs::path CompatInput::task() const {
  return directory / (op_name + "_torch.py");
}

fs::path CompatInput::implementation() const {
  return directory / fmt::format("{}_{}.py", op_name, implementation_name);
}

fs::path CompatInput::verify_result() const {
  return directory / verify_result_file(implementation_name);
}

fs::path CompatInput::perf_result() const {
  return directory / perf_result_file(implementation_name);
}

Result<StandInBase> StandInBase::create() {
  std::error_code none;
  const fs::path temporary = fs::temp_directory_path(none);
  std::string name = (temporary.empty() ? fs::path("/tmp") : temporary) / "ksplit-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    return fail(ErrorCode::output_unwritable,
                fmt::format("cannot make a folder `{}`: {}", name, std::strerror(errno)),
                "let TMPDIR name a folder you may write to");
  }
  StandInBase base{fs::path(name)};
  KSPLIT_TRY_STATUS(write_file(base.file(), kStandIn));
  return base;
}

StandInBase::StandInBase(StandInBase&& other) noexcept
    : folder_(std::exchange(other.folder_, {})) {}

StandInBase::~StandInBase() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Status CompatSession::reload() {
  worker.set_request_limit(deadline.left());
  const auto loaded = worker.load(request);
  return loaded ? Status() : fail(loaded.error());
}

std::string to_text(const nlohmann::ordered_json& result) {
  return result.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<CompatSession> open_compat(const CompatInput& input, std::chrono::milliseconds limit) {
  KSPLIT_TRY_STATUS(check_exists(input.task(), "class Model, get_init_inputs and the cases"));
  KSPLIT_TRY_STATUS(check_exists(input.implementation(), "class ModelNew"));
  KSPLIT_TRY(StandInBase base, StandInBase::create());
  WorkerOptions options;
  options.device = input.device;
  KSPLIT_TRY(options.interpreter, find_interpreter(""));
  KSPLIT_TRY(Worker worker, Worker::start(std::move(options)));
  const Deadline deadline(limit);
  worker.set_request_limit(deadline.left());
  const LoadRequest request{input.task(), base.file(), 0};
  auto loaded = worker.load(request);
  if (!loaded && deadline.passed()) {
    return fail(ErrorCode::reference_failed,
                fmt::format("`{}` did not load within {:g} s", input.task().string(),
                            std::chrono::duration<double>(limit).count()));
  }
  if (!loaded) return fail(std::move(loaded).error());
  if (loaded->task.cases.empty()) {
    return fail(ErrorCode::input_malformed, fmt::format("`{}` has no cases", input.task().string()),
                "let get_input_groups() return a list of argument lists, one a case");
  }
  loaded->task.op_name = input.op_name;
  return CompatSession{std::move(worker), std::move(loaded->task), std::move(base), request,
                       deadline};
}

}  // namespace ksplit
