// SPDX-License-Identifier: Apache-2.0
// Lets tests/configure run what `configure` makes of real files: reads from standard input the
// worker's answers {"load", "parse", "traces": [one a case]} (docs/protocol.md) and answers, for
// one group of all cases, {"candidates": [{"id", "parameters", "file"}]} or {"error": text}.
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "dispatch/emit.h"
#include "generate/configure.h"
#include "worker/decode.h"

namespace {

using nlohmann::json;
using namespace ksplit;

DeviceProfile test_profile() {
  DeviceProfile profile;
  profile.name = "test";
  profile.kind = "gpu";
  profile.warps = {2, 8};
  profile.stages = {2};
  profile.fast_memory_bytes = 1 << 18;
  return profile;
}

Result<json> answer(const json& request) {
  KSPLIT_TRY(const LoadOutcome loaded, decode_load(request.at("load")));
  const Task& task = loaded.task;
  const json& parse = request.at("parse");
  KSPLIT_TRY(const PythonModule base,
             module_from_json("base.py", parse.at("text").get<std::string>(), parse.at("tree")));
  Group group;
  group.group_id = "grp_test";
  std::vector<LaunchTrace> traces;
  for (std::size_t i = 0; i < task.cases.size(); ++i) {
    group.case_indices.push_back(task.cases[i].index);
    KSPLIT_TRY(LaunchTrace trace, decode_trace(request.at("traces").at(i), task.cases[i].index));
    traces.push_back(std::move(trace));
  }
  const OperatorFacts facts;
  const DeviceProfile profile = test_profile();
  GeneratorContext context{task, group, {}, {}, facts, base, profile};
  for (const Case& sample : task.cases) context.cases.push_back(&sample);
  for (const LaunchTrace& trace : traces) context.traces.push_back(&trace);

  KSPLIT_TRY(const std::vector<Candidate> candidates, configure(context));
  json result = json::array();
  for (const Candidate& candidate : candidates) {
    KSPLIT_TRY(const std::string file, emit_candidate_file(base, task, candidate, {}));
    json parameters = json::object();
    for (const auto& [name, value] : candidate.parameters) parameters[name] = to_json(value);
    result.push_back({{"id", candidate.id}, {"parameters", std::move(parameters)}, {"file", file}});
  }
  return json{{"candidates", std::move(result)}};
}

}  // namespace

int main() {
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  const Result<json> result = answer(json::parse(input));
  std::cout << (result ? *result : json{{"error", result.error().message}}).dump() << "\n";
}
