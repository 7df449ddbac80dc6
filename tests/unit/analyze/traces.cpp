// SPDX-License-Identifier: Apache-2.0
#include "traces.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analyze/operands.h"
#include "core/check.h"

namespace ksplit {
namespace {

std::vector<std::int64_t> reduced_shape(const TensorSpec& x, const Literal& dim, bool keepdim) {
  const auto axes = normal_axes(axes_of(dim).value(), x.shape.size()).value();
  std::vector<std::int64_t> shape;
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) == axes.end()) {
      shape.push_back(x.shape[d]);
    } else if (keepdim) {
      shape.push_back(1);
    }
  }
  return shape;
}

std::vector<std::int64_t> broadcast_shape(const TensorSpec& a, const TensorSpec& b) {
  std::vector<std::int64_t> x = a.shape;
  std::vector<std::int64_t> y = b.shape;
  const std::size_t rank = std::max(x.size(), y.size());
  x.insert(x.begin(), rank - x.size(), 1);
  y.insert(y.begin(), rank - y.size(), 1);
  for (std::size_t d = 0; d < rank; ++d) x[d] = x[d] == 1 ? y[d] : x[d];
  return x;
}

}  // namespace

TensorSpec tensor_spec(std::string dtype, std::vector<std::int64_t> shape) {
  TensorSpec spec;
  spec.dtype = std::move(dtype);
  spec.strides.resize(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    spec.strides[d] = stride;
    stride *= std::max<std::int64_t>(shape[d], 1);
  }
  spec.shape = std::move(shape);
  return spec;
}

Task task_of(std::string op_name, std::vector<std::vector<Argument>> cases) {
  Task task;
  task.op_name = std::move(op_name);
  for (auto& inputs : cases) {
    if (task.cases.empty()) {
      for (const Argument& argument : inputs) {
        task.parameters.push_back({argument.name, Parameter::Kind::positional, ""});
      }
    }
    task.cases.push_back({static_cast<int>(task.cases.size()) + 1, std::move(inputs)});
  }
  return task;
}

Operand input(int argument) {
  return {Operand::Input{argument}};
}
Operand node(int position, int output) {
  return {Operand::Node{position, output}};
}
Operand constant(Literal value) {
  return {std::move(value)};
}

ReferenceGraph single(std::string op, std::vector<Operand> arguments, TensorSpec output,
                      std::map<std::string, Operand> keywords) {
  ReferenceGraph graph;
  graph.nodes.push_back(
      {std::move(op), std::move(arguments), std::move(keywords), {std::move(output)}});
  graph.outputs = {node(0)};
  return graph;
}

ReferenceGraph sum_trace(const Case& sample) {
  const TensorSpec& x = *sample.inputs[0].tensor();
  const Literal dim = *sample.inputs[1].literal();
  const bool keepdim = *sample.inputs[2].literal()->as_bool();
  const TensorSpec out = tensor_spec(x.dtype, reduced_shape(x, dim, keepdim));
  if (dim.is_none() && !keepdim) return single("aten.sum.default", {input(0)}, out);
  const Literal list = dim.as_int() ? Literal{Literal::List{dim}} : dim;
  return single("aten.sum.dim_IntList", {input(0), constant(list), constant(keepdim)}, out);
}

ReferenceGraph add_trace(const Case& sample) {
  const TensorSpec& x = *sample.inputs[0].tensor();
  const TensorSpec& y = *sample.inputs[1].tensor();
  const Literal alpha = *sample.inputs[2].literal();
  std::map<std::string, Operand> keywords;
  // torch leaves out keyword arguments that equal their default.
  if (alpha != Literal{1.0}) keywords["alpha"] = constant(alpha);
  return single("aten.add.Tensor", {input(0), input(1)},
                tensor_spec(x.dtype, broadcast_shape(x, y)), keywords);
}

ReferenceGraph cumsum_trace(const Case& sample) {
  return single("aten.cumsum.default", {input(0), constant(*sample.inputs[1].literal())},
                *sample.inputs[0].tensor());
}

Task read_cases(const std::string& op_name, const std::string& json_lines) {
  std::vector<std::vector<Argument>> cases;
  std::istringstream lines(json_lines);
  for (std::string line; std::getline(lines, line);) {
    std::vector<Argument>& inputs = cases.emplace_back();
    const auto json = nlohmann::json::parse(line);
    for (const auto& item : json["inputs"]) {
      if (item["type"] == "tensor") {
        inputs.push_back({item["name"], tensor_spec(item["dtype"], item["shape"])});
      } else {
        inputs.push_back({item["name"], literal_from_json(item["value"]).value()});
      }
    }
  }
  return task_of(op_name, std::move(cases));
}

}  // namespace ksplit
