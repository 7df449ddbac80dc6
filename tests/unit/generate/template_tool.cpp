// SPDX-License-Identifier: Apache-2.0
// Lets tests/templates run what the templates emit: reads one sample a line (samples.h) from
// standard input, with "probes", further argument lists, and answers with one line each:
//
//   {"candidates": [{"id", "generator", "parameters", "definitions", "host",
//                    "preconditions": [[python, ..], ..], "envelope": [python, ..],
//                    "accepts": [bool a probe]}],
//    "refusals": [text]}
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "samples.h"

namespace {

using nlohmann::json;
using namespace ksplit;

json describe(const Candidate& candidate, const std::vector<Parameter>& parameters,
              const std::vector<Case>& probes) {
  json parameter_values = json::object();
  for (const auto& [name, value] : candidate.parameters) parameter_values[name] = to_json(value);
  json preconditions = json::array();
  for (const Guard& guard : candidate.preconditions) {
    json tests = json::array();
    for (const Test& test : guard) tests.push_back(to_python(test, parameters));
    preconditions.push_back(std::move(tests));
  }
  json envelope = json::array();
  for (const Subject& subject : candidate.envelope) {
    envelope.push_back(to_python(subject, parameters));
  }
  json accepts = json::array();
  for (const Case& probe : probes) {
    const auto& guards = candidate.preconditions;
    accepts.push_back(std::any_of(guards.begin(), guards.end(),
                                  [&](const Guard& guard) { return holds(guard, probe); }));
  }
  return {{"id", candidate.id},
          {"generator", candidate.generator},
          {"parameters", std::move(parameter_values)},
          {"definitions", candidate.definitions},
          {"host", candidate.host},
          {"preconditions", std::move(preconditions)},
          {"envelope", std::move(envelope)},
          {"accepts", std::move(accepts)}};
}

json answer(const json& request) {
  const auto sample = testing::read_sample(request);
  const std::vector<Parameter>& parameters = sample->task.parameters;
  std::vector<Case> probes;
  for (const json& arguments : request.value("probes", json::array())) {
    probes.push_back(testing::read_case(arguments, parameters, 0));
  }
  const testing::Generated generated = testing::run_generators(*sample);
  json candidates = json::array();
  for (const Candidate& candidate : generated.candidates) {
    candidates.push_back(describe(candidate, parameters, probes));
  }
  return {{"candidates", std::move(candidates)}, {"refusals", generated.refusals}};
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) std::cout << answer(json::parse(line)).dump() << "\n";
  return 0;
}
