// SPDX-License-Identifier: Apache-2.0
#include "worker/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "worker/decode.h"

namespace ksplit {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

/// An idle worker needs this long to leave Python in order; one that needs longer is killed.
constexpr auto kLeavingGrace = 2s;

constexpr std::size_t kQuotedLines = 3;

std::string absolute_name(const std::filesystem::path& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

json to_json(const AccuracyRules& rules) {
  json object = json::object();
  for (const auto& [dtype, rule] : rules) {
    object[dtype] = {{"rtol", rule.rtol}, {"atol", rule.atol}, {"t", rule.t}};
  }
  return object;
}

json to_json(const std::vector<Arm>& arms) {
  json list = json::array();
  for (const Arm& arm : arms) {
    list.push_back(
        {{"name", arm.name}, {"file", arm.file ? json(absolute_name(*arm.file)) : json()}});
  }
  return list;
}

json names_of(const Schedule& schedule, const std::vector<Arm>& arms) {
  json list = json::array();
  for (const int arm : schedule) {
    const auto position = static_cast<std::size_t>(arm);
    KSPLIT_CHECK(position < arms.size(), "a schedule names an arm that does not exist");
    list.push_back(arms[position].name);
  }
  return list;
}

json to_json(const LoadRequest& request, std::chrono::milliseconds limit) {
  return {{"task", absolute_name(request.task)},
          {"base", absolute_name(request.base)},
          {"seed", request.seed},
          {"timeout", std::chrono::duration<double>(limit).count()}};
}

/// The worker package first, then what the user's PYTHONPATH has.
std::string python_path(const std::filesystem::path& package_folder) {
  const char* inherited = std::getenv("PYTHONPATH");
  std::string path = package_folder.string();
  if (inherited != nullptr && *inherited != '\0') path += fmt::format(":{}", inherited);
  return path;
}

ProcessOptions process_options(const WorkerOptions& options) {
  ProcessOptions process;
  process.command = {options.interpreter.python.string(), "-m", "ksplit.worker", "--device",
                     options.device};
  process.environment = {{"PYTHONUNBUFFERED", "1"}};
  if (options.interpreter.package_folder) {
    process.environment.emplace_back("PYTHONPATH",
                                     python_path(*options.interpreter.package_folder));
  }
  process.log = options.log;
  return process;
}

/// One action for a user whose worker cannot even start, from the last line it printed.
std::string start_hint(const Interpreter& interpreter, const std::string& last_line) {
  constexpr std::string_view kMissing = "No module named ";
  const std::size_t at = last_line.find(kMissing);
  if (at == std::string::npos) {
    return fmt::format("run `{} -m ksplit.worker --help` to see it fail",
                       interpreter.python.string());
  }
  std::string module = last_line.substr(at + kMissing.size());
  module.erase(std::remove(module.begin(), module.end(), '\''), module.end());
  if (module.rfind("ksplit", 0) == 0) {
    return "install kernel-splitter into that Python, or set KSPLIT_PYTHONPATH to the folder that "
           "holds its `ksplit` package";
  }
  return fmt::format("install {} into that Python, or name another one with `--python PATH`",
                     module);
}

}  // namespace

Worker::~Worker() {
  if (process_) process_->stop(kLeavingGrace);
}

void Worker::end() {
  if (process_) process_->end_input();
}

Result<Worker> Worker::start(WorkerOptions options) {
  Worker worker(std::move(options));
  KSPLIT_TRY_STATUS(worker.start_process());
  return worker;
}

Status Worker::start_process() {
  KSPLIT_TRY(process_, Process::spawn(process_options(options_)));
  ++starts_;
  auto hello = exchange("hello", json::object(), options_.start_limit);
  if (hello) {
    KSPLIT_TRY(info_, sound(decode_hello(*hello)));
    return {};
  }
  process_.reset();
  Error error = std::move(hello).error();
  if (error.code != ErrorCode::worker_failed) return fail(std::move(error));
  const Interpreter& interpreter = options_.interpreter;
  error.code = ErrorCode::environment;
  error.hint = start_hint(interpreter, error.causes.empty() ? "" : error.causes.back());
  return with_context(
      std::move(error),
      fmt::format("starting `{}` (from {})", interpreter.python.string(), interpreter.chosen_by));
}

Status Worker::ensure_ready() {
  if (process_) return {};
  KSPLIT_TRY_STATUS(start_process());
  if (!loaded_) return {};
  const auto limit = options_.request_limit;
  auto again = exchange("load", to_json(*loaded_, limit), limit);
  if (again) return {};
  process_.reset();
  return with_context(std::move(again).error(), "starting the worker again");
}

Result<json> Worker::ask(const char* op, json request) {
  KSPLIT_TRY_STATUS(ensure_ready());
  Result<json> result = exchange(op, request, options_.request_limit);
  if (result || !unread_) return result;
  KSPLIT_TRY_STATUS(ensure_ready());
  return exchange(op, std::move(request), options_.request_limit);
}

Result<json> Worker::exchange(const char* op, json request, std::chrono::milliseconds limit) {
  const auto deadline = Process::Clock::now() + limit;
  request["id"] = ++last_id_;
  request["op"] = op;
  // A path need not be UTF-8; the worker then reports a missing file.
  unread_ = false;
  const std::string line = request.dump(-1, ' ', false, json::error_handler_t::replace);

  Status sent = process_->write_line(line, deadline);
  Result<std::string> text = sent ? process_->read_line(deadline) : fail(std::move(sent).error());
  if (!text) {
    Error error = std::move(text).error();
    unread_ = !process_->ending().empty() && !process_->has_read_last_line();
    if (error.code == ErrorCode::worker_failed) {
      error.message = fmt::format("worker {} while it served `{}`", error.message, op);
    }
    return lose_process(std::move(error));
  }
  Result<Answer> answer = decode_answer(op, last_id_, *text);
  if (!answer) return lose_process(std::move(answer).error());
  process_->log().append(answer->traceback);
  if (std::optional<Error>& error = answer->error) {
    // The worker's word that it, or its device, is broken.
    if (error->code == ErrorCode::worker_failed) return lose_process(*error);
    return fail(*std::move(error));
  }
  return std::move(*answer->result);
}

tl::unexpected<Error> Worker::lose_process(Error error) {
  process_->stop(0ms);
  if (error.code != ErrorCode::interrupted) {
    for (const std::string& printed : process_->log().last_lines(kQuotedLines)) {
      error.causes.push_back(fmt::format("it printed: {}", printed));
    }
  }
  process_.reset();
  return fail(std::move(error));
}

template <class T>
Result<T> Worker::sound(Result<T> decoded) {
  if (!decoded) return lose_process(std::move(decoded).error());
  return decoded;
}

Result<LoadOutcome> Worker::load(const LoadRequest& request) {
  loaded_.reset();
  KSPLIT_TRY(const json result, ask("load", to_json(request, options_.request_limit)));
  KSPLIT_TRY(LoadOutcome outcome, sound(decode_load(result)));
  loaded_ = request;
  return outcome;
}

Result<PythonModule> Worker::parse(const std::filesystem::path& file) {
  KSPLIT_TRY(const json result, ask("parse", {{"path", absolute_name(file)}}));
  KSPLIT_TRY(std::string text, sound(decode_parse(result)));
  return module_from_json(file.string(), std::move(text), result["tree"]);
}

Result<ReferenceGraph> Worker::graph(int case_index) {
  KSPLIT_TRY(const json result, ask("graph", {{"case", case_index}}));
  return sound(decode_graph(result));
}

Result<LaunchTrace> Worker::trace(const std::filesystem::path& file, int case_index) {
  KSPLIT_TRY(const json result,
             ask("trace", {{"file", absolute_name(file)}, {"case", case_index}}));
  return sound(decode_trace(result, case_index));
}

Result<CompileOutcome> Worker::compile(const std::filesystem::path& file,
                                       const std::vector<int>& cases) {
  KSPLIT_TRY(const json result, ask("compile", {{"file", absolute_name(file)}, {"cases", cases}}));
  return sound(decode_compile(result));
}

Result<std::vector<KernelIr>> Worker::ttir(const std::filesystem::path& file, int case_index,
                                           const std::string& target) {
  KSPLIT_TRY(const json result, ask("ttir", {{"file", absolute_name(file)},
                                             {"case", case_index},
                                             {"target", target.empty() ? json() : json(target)}}));
  return sound(decode_ttir(result));
}

Result<VerifyOutcome> Worker::verify(const std::filesystem::path& file,
                                     const std::vector<int>& cases, const AccuracyRules& rules) {
  KSPLIT_TRY(
      const json result,
      ask("verify", {{"file", absolute_name(file)}, {"cases", cases}, {"rules", to_json(rules)}}));
  return sound(decode_verify(result));
}

Result<BenchSamples> Worker::bench(const std::vector<Arm>& arms, int case_index,
                                   const Schedule& schedule, int launches, Regime regime) {
  KSPLIT_TRY(const json result,
             ask("bench", {{"arms", to_json(arms)},
                           {"case", case_index},
                           {"schedule", names_of(schedule, arms)},
                           {"launches", launches},
                           {"regime", regime == Regime::cold ? "cold" : "warm"}}));
  return sound(decode_bench(result, schedule.size()));
}

Result<std::vector<double>> Worker::latency(const std::vector<Arm>& arms, int case_index,
                                            const Schedule& schedule, int calls) {
  KSPLIT_TRY(const json result, ask("latency", {{"arms", to_json(arms)},
                                                {"case", case_index},
                                                {"schedule", names_of(schedule, arms)},
                                                {"calls", calls}}));
  return sound(decode_latency(result, schedule.size()));
}

Result<RouteCost> Worker::route(const std::filesystem::path& file, int case_index, int calls) {
  KSPLIT_TRY(const json result,
             ask("route", {{"file", absolute_name(file)}, {"case", case_index}, {"calls", calls}}));
  return sound(decode_route(result));
}

Result<FuzzOutcome> Worker::fuzz(const std::filesystem::path& file, int count, std::uint64_t seed,
                                 const AccuracyRules& rules) {
  KSPLIT_TRY(const json result, ask("fuzz", {{"file", absolute_name(file)},
                                             {"count", count},
                                             {"seed", seed},
                                             {"rules", to_json(rules)}}));
  return sound(decode_fuzz(result));
}

}  // namespace ksplit
