// SPDX-License-Identifier: Apache-2.0
#include "samples.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "generate/generators.h"

namespace ksplit::testing {
namespace {

using nlohmann::json;

template <class T>
T unwrap(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

TensorSpec read_tensor(const json& object) {
  TensorSpec tensor;
  tensor.dtype = object.at("dtype").get<std::string>();
  tensor.shape = object.at("shape").get<std::vector<std::int64_t>>();
  tensor.strides = object.value("strides", dense_strides(tensor.shape));
  tensor.contiguous = object.value("contiguous", true);
  tensor.alignment = object.value("alignment", 16);
  return tensor;
}

AttributeSource read_source(const json& object) {
  AttributeSource source;
  if (object.contains("argument")) {
    source.argument = object.at("argument").get<int>();
  } else {
    source.constant = unwrap(literal_from_json(object.at("constant")));
  }
  return source;
}

Literal attribute(const AttributeSource& source, const Case& sample) {
  if (!source.argument) return source.constant;
  return *sample.inputs.at(static_cast<std::size_t>(*source.argument)).literal();
}

ReductionFacts::Sizes sizes_of(const TensorSpec& tensor, const Literal& dim) {
  const auto rank = static_cast<std::int64_t>(tensor.shape.size());
  std::int64_t first = 0;
  std::int64_t last = rank - 1;
  std::vector<std::int64_t> dims;
  if (dim.as_int()) dims.push_back(*dim.as_int());
  if (dim.as_list()) {
    for (const Literal& item : *dim.as_list()) dims.push_back(*item.as_int());
  }
  for (std::int64_t& d : dims) d += d < 0 ? rank : 0;
  if (!dims.empty()) {
    first = *std::min_element(dims.begin(), dims.end());
    last = *std::max_element(dims.begin(), dims.end());
  }
  ReductionFacts::Sizes sizes{1, 1, 1};
  for (std::int64_t d = 0; d < rank; ++d) {
    std::int64_t& part = d < first ? sizes.outer : d > last ? sizes.inner : sizes.reduce;
    part *= tensor.shape[static_cast<std::size_t>(d)];
  }
  return sizes;
}

ReductionFacts read_reduction(const json& object, const std::vector<Case>& cases) {
  ReductionFacts facts;
  facts.op = object.at("op").get<std::string>();
  facts.input = object.value("input", 0);
  facts.dim = read_source(object.at("dim"));
  facts.keepdim = read_source(object.at("keepdim"));
  for (const Case& sample : cases) {
    const TensorSpec* tensor = sample.inputs.at(static_cast<std::size_t>(facts.input)).tensor();
    if (tensor) facts.sizes[sample.index] = sizes_of(*tensor, attribute(facts.dim, sample));
  }
  return facts;
}

BroadcastFacts read_broadcast(const json& object) {
  BroadcastFacts facts;
  facts.op = object.at("op").get<std::string>();
  facts.lhs = object.at("lhs").get<int>();
  facts.rhs = object.at("rhs").get<int>();
  facts.alpha.constant = Literal(1);
  if (object.contains("alpha")) facts.alpha = read_source(object.at("alpha"));
  return facts;
}

}  // namespace

Case read_case(const json& arguments, const std::vector<Parameter>& parameters, int index) {
  Case sample;
  sample.index = index;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const json& value = arguments.at(i);
    Argument argument;
    argument.name = parameters[i].name;
    if (value.is_object() && value.contains("shape")) {
      argument.value = read_tensor(value);
    } else {
      argument.value = unwrap(literal_from_json(value));
    }
    sample.inputs.push_back(std::move(argument));
  }
  return sample;
}

std::unique_ptr<Sample> read_sample(const json& object) {
  auto sample = std::make_unique<Sample>();
  sample->task.op_name = object.at("op_name").get<std::string>();
  for (const json& name : object.at("parameters")) {
    sample->task.parameters.push_back(
        Parameter{name.get<std::string>(), Parameter::Kind::positional, ""});
  }
  sample->group.group_id = object.value("group_id", "grp_test");
  for (const json& arguments : object.at("cases")) {
    const int index = static_cast<int>(sample->task.cases.size()) + 1;
    sample->task.cases.push_back(read_case(arguments, sample->task.parameters, index));
    sample->group.case_indices.push_back(index);
  }
  if (object.contains("reduction")) {
    sample->facts = read_reduction(object.at("reduction"), sample->task.cases);
  } else if (object.contains("broadcast")) {
    sample->facts = read_broadcast(object.at("broadcast"));
  }
  sample->traces.resize(sample->task.cases.size());
  sample->profile = unwrap(builtin_profile(object.value("profile", "h200")));
  return sample;
}

GeneratorContext Sample::context() const {
  std::vector<const Case*> cases;
  std::vector<const LaunchTrace*> launches;
  for (const Case& one : task.cases) cases.push_back(&one);
  for (const LaunchTrace& one : traces) launches.push_back(&one);
  return GeneratorContext{task, group, cases, launches, facts, base, profile};
}

Generated run_generators(const Sample& sample) {
  Generated generated;
  for (const NamedGenerator& generator : generators()) {
    if (!std::string_view(generator.name).starts_with("template/")) continue;
    Result<std::vector<Candidate>> candidates = generator.generate(sample.context());
    if (!candidates) {
      generated.refusals.push_back(candidates.error().message);
      continue;
    }
    std::move(candidates->begin(), candidates->end(), std::back_inserter(generated.candidates));
  }
  return generated;
}

}  // namespace ksplit::testing
