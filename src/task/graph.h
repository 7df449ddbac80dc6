// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/literal.h"
#include "task/case.h"

namespace ksplit {

/// What an operation of the reference reads.
struct Operand {
  struct Input {
    int argument;  // position among forward's parameters, from 0
  };
  struct Node {
    int node;    // position in ReferenceGraph::nodes
    int output;  // which of its outputs
  };
  struct State {
    std::string name;  // a parameter or buffer of the module
  };
  std::variant<Literal, Input, Node, State, std::vector<Operand>> value;
};

/// One ATen operation that `Model.forward` ran, such as "aten.sum.dim_IntList".
struct OperationNode {
  std::string op;
  std::vector<Operand> arguments;
  std::map<std::string, Operand> keywords;
  std::vector<TensorSpec> outputs;
};

/// What the reference did on one case, in execution order. `outputs` are forward's results.
struct ReferenceGraph {
  std::vector<OperationNode> nodes;
  std::vector<Operand> outputs;
};

}  // namespace ksplit
