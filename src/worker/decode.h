// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "task/graph.h"
#include "task/launch.h"
#include "worker/outcomes.h"

namespace ksplit {

// From a worker's JSON to values, one function per operation of docs/protocol.md. Every field is
// checked; the first that is absent or of the wrong kind is a worker-failed error that names the
// operation and the field: "worker answered `verify` without `cases[0].outputs[1].mere`".

/// The version of docs/protocol.md that is spoken here.
inline constexpr int kProtocolVersion = 1;

/// Errors besides: environment, if the worker speaks another protocol version.
Result<WorkerInfo> decode_hello(const nlohmann::json& result);
Result<LoadOutcome> decode_load(const nlohmann::json& result);
Result<ReferenceGraph> decode_graph(const nlohmann::json& result);
Result<LaunchTrace> decode_trace(const nlohmann::json& result, int case_index);
Result<CompileOutcome> decode_compile(const nlohmann::json& result);
Result<std::vector<KernelIr>> decode_ttir(const nlohmann::json& result);
Result<VerifyOutcome> decode_verify(const nlohmann::json& result);
/// `samples` is how many the schedule asked for; any other number of them is an error.
Result<BenchSamples> decode_bench(const nlohmann::json& result, std::size_t samples);
Result<std::vector<double>> decode_latency(const nlohmann::json& result, std::size_t samples);
Result<RouteCost> decode_route(const nlohmann::json& result);
Result<FuzzOutcome> decode_fuzz(const nlohmann::json& result);
/// The text; the tree beside it stays JSON.
Result<std::string> decode_parse(const nlohmann::json& result);

/// One line from a worker, taken apart.
struct Answer {
  std::shared_ptr<nlohmann::json> result;  // null if the worker reports an error
  std::optional<Error> error;
  std::string traceback;  // of that error; empty without one
};

/// Errors: worker-failed, if `line` is not an answer to request `id` of operation `op`.
Result<Answer> decode_answer(std::string_view op, std::int64_t id, std::string_view line);

}  // namespace ksplit
