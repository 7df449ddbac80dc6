// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "task/case.h"
#include "task/graph.h"

namespace ksplit {

// Cases and traces as a worker would record them, made by hand.

/// A contiguous tensor.
TensorSpec tensor_spec(std::string dtype, std::vector<std::int64_t> shape);

/// A task with the cases' first argument names as parameters; indices from 1.
Task task_of(std::string op_name, std::vector<std::vector<Argument>> cases);

Operand input(int argument);
Operand node(int position, int output = 0);
Operand constant(Literal value);

/// A trace of one operation whose first output is returned.
ReferenceGraph single(std::string op, std::vector<Operand> arguments, TensorSpec output,
                      std::map<std::string, Operand> keywords = {});

/// torch.sum(x, dim, keepdim): the trace of the overload torch takes for this `dim`.
ReferenceGraph sum_trace(const Case& sample);
/// torch.add(x, y, alpha=alpha).
ReferenceGraph add_trace(const Case& sample);
/// torch.cumsum(x, dim).
ReferenceGraph cumsum_trace(const Case& sample);

/// A list of cases as JSON lines: {"inputs": [{"name", "type", "dtype", "shape" | "value"}]}.
Task read_cases(const std::string& op_name, const std::string& json_lines);

}  // namespace ksplit
