// SPDX-License-Identifier: Apache-2.0
#include "analyze/facts.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

#include "analyze/operands.h"
#include "core/check.h"

namespace ksplit {
namespace {

/// One case's trace, reduced to the one operation that does the work.
struct Work {
  const Case& sample;
  const ReferenceGraph& graph;
  const OperationNode& node;
};

/// Follows operations that hand their input on as it is, back to where the tensor comes from.
Operand origin(const Operand& operand, const ReferenceGraph& graph) {
  const auto* node = std::get_if<Operand::Node>(&operand.value);
  if (!node) return operand;
  const auto position = static_cast<std::size_t>(node->node);
  if (position >= graph.nodes.size()) return operand;
  const OperationNode& producer = graph.nodes[position];
  if (!is_view(base_name(producer.op)) || producer.arguments.empty()) return operand;
  return origin(producer.arguments[0], graph);
}

/// Whether a view shows exactly the tensor it was given. A copy inside (reshape) changes the
/// strides or does not happen.
bool is_identity(const OperationNode& node, const Case& sample, const ReferenceGraph& graph) {
  if (!is_view(base_name(node.op)) || node.arguments.empty() || node.outputs.size() != 1) {
    return false;
  }
  const TensorSpec* input = tensor_of(node.arguments[0], sample, graph);
  return input && input->shape == node.outputs[0].shape &&
         input->strides == node.outputs[0].strides &&
         input->storage_offset == node.outputs[0].storage_offset;
}

/// The only operation of the trace that is no identity, if its first output is all that forward
/// returns.
const OperationNode* only_work(const Case& sample, const ReferenceGraph& graph) {
  int work = -1;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (is_identity(graph.nodes[i], sample, graph)) continue;
    if (work >= 0) return nullptr;
    work = static_cast<int>(i);
  }
  if (work < 0 || graph.outputs.size() != 1) return nullptr;
  const Operand result = origin(graph.outputs[0], graph);
  const auto* node = std::get_if<Operand::Node>(&result.value);
  if (!node || node->node != work || node->output != 0) return nullptr;
  return &graph.nodes[static_cast<std::size_t>(work)];
}

/// The forward argument that is this tensor. A tensor inside a list argument is none.
std::optional<int> input_of(const Operand& operand, const Work& work) {
  const Operand source = origin(operand, work.graph);
  const auto* input = std::get_if<Operand::Input>(&source.value);
  if (!input || !tensor_of(source, work.sample, work.graph)) return std::nullopt;
  return input->argument;
}

const Literal* literal_input(const Case& sample, int argument) {
  const auto position = static_cast<std::size_t>(argument);
  return position < sample.inputs.size() ? sample.inputs[position].literal() : nullptr;
}

/// The operand at `position`, or by keyword; None where the operation has neither.
Literal constant_argument(const OperationNode& node, std::size_t position, const char* keyword,
                          const Literal& missing) {
  if (const auto named = node.keywords.find(keyword); named != node.keywords.end()) {
    return constant_of(named->second).value_or(missing);
  }
  if (position < node.arguments.size()) {
    return constant_of(node.arguments[position]).value_or(missing);
  }
  return missing;
}

/// Equality of Python numbers: 1 == 1.0, but no bool is a number here.
bool same_number(const Literal& a, const Literal& b) {
  const auto number = [](const Literal& literal) -> std::optional<double> {
    if (const std::int64_t* integer = literal.as_int()) return static_cast<double>(*integer);
    if (const double* real = literal.as_float()) return *real;
    return std::nullopt;
  };
  const auto x = number(a), y = number(b);
  return x && y ? *x == *y : a == b;
}

// ---- Where an attribute comes from
// ----------------------------------------------------------------

/// An attribute's value on each case, and how it compares with a forward argument there.
struct Attribute {
  std::vector<std::string_view> names;  // what a forward parameter for it is called
  std::vector<Literal> values;          // one a case
  Literal default_value;                // the operation's
  std::function<bool(const Literal& argument, std::size_t position)> equals;
};

/// The argument that equals the attribute on every case. Several may: one that bears the
/// attribute's name is meant, else the first. An argument that equals it by being the same constant
/// everywhere only counts when the operation was given a value beside its default, or the name says
/// so: `forward(x, y, flag=1)` is no alpha because alpha is 1.
std::optional<int> argument_source(const Task& task, const Attribute& attribute) {
  std::optional<int> first;
  for (std::size_t p = 0; p < task.cases.front().inputs.size(); ++p) {
    const int argument = static_cast<int>(p);
    bool equal = true;
    for (std::size_t c = 0; equal && c < task.cases.size(); ++c) {
      const Literal* literal = literal_input(task.cases[c], argument);
      equal = literal && attribute.equals(*literal, c);
    }
    if (!equal) continue;
    const std::string& name = task.cases.front().inputs[p].name;
    if (std::find(attribute.names.begin(), attribute.names.end(), name) != attribute.names.end()) {
      return argument;
    }
    if (!first) first = argument;
  }
  const bool always_default = std::all_of(
      attribute.values.begin(), attribute.values.end(),
      [&](const Literal& value) { return same_number(value, attribute.default_value); });
  return always_default ? std::nullopt : first;
}

bool is_constant(const Attribute& attribute) {
  return std::all_of(attribute.values.begin(), attribute.values.end(), [&](const Literal& value) {
    return same_number(value, attribute.values.front());
  });
}

std::optional<AttributeSource> number_source(const Task& task, Attribute attribute) {
  attribute.equals = [&](const Literal& argument, std::size_t c) {
    return same_number(argument, attribute.values[c]);
  };
  if (const auto argument = argument_source(task, attribute)) {
    return AttributeSource{argument, {}};
  }
  if (!is_constant(attribute)) return std::nullopt;
  return AttributeSource{std::nullopt, attribute.values.front()};
}

/// Axes are equal when they name the same axes of that case's tensor. As a constant they may be
/// written from the front or from the back, whichever is one text on all cases.
std::optional<AttributeSource> axes_source(const Task& task, Attribute attribute,
                                           const std::vector<std::size_t>& ranks) {
  const auto normal = [&](const Literal& literal, std::size_t c) {
    const auto axes = axes_of(literal);
    return axes ? normal_axes(*axes, ranks[c]) : std::nullopt;
  };
  std::vector<std::vector<std::int64_t>> reduced;  // by case
  reduced.reserve(ranks.size());
  for (std::size_t c = 0; c < ranks.size(); ++c) {
    auto axes = normal(attribute.values[c], c);
    if (!axes) return std::nullopt;
    reduced.push_back(std::move(*axes));
  }
  attribute.equals = [&](const Literal& argument, std::size_t c) {
    return normal(argument, c) == reduced[c];
  };
  if (const auto argument = argument_source(task, attribute)) {
    return AttributeSource{argument, {}};
  }
  const auto written = [&](bool from_back) {
    std::optional<Literal> text;
    for (std::size_t c = 0; c < ranks.size(); ++c) {
      Literal::List list;
      for (const std::int64_t axis : reduced[c]) {
        list.emplace_back(from_back ? axis - static_cast<std::int64_t>(ranks[c]) : axis);
      }
      Literal here = list.size() == 1 ? list.front() : Literal{std::move(list)};
      if (text && *text != here) return std::optional<Literal>();
      text = std::move(here);
    }
    return text;
  };
  bool all_axes = true;
  for (std::size_t c = 0; c < ranks.size(); ++c) {
    all_axes &= reduced[c].size() == ranks[c];
  }
  if (is_constant(attribute)) {
    const Literal& value = attribute.values.front();
    const Literal::List* list = value.as_list();
    if (list == nullptr || list->size() > 1) return AttributeSource{std::nullopt, value};
    return AttributeSource{std::nullopt, list->empty() ? Literal{} : list->front()};
  }
  if (all_axes) return AttributeSource{std::nullopt, Literal{}};
  for (const bool from_back : {false, true}) {
    if (auto text = written(from_back)) return AttributeSource{std::nullopt, std::move(*text)};
  }
  return std::nullopt;
}

// ---- Reductions
// -----------------------------------------------------------------------------------

struct ReductionOverload {
  std::string_view op;
  std::string_view fact;
  bool has_axes;
};

constexpr ReductionOverload kReductions[] = {
    {"aten.sum.default", "sum", false},   {"aten.sum.dim_IntList", "sum", true},
    {"aten.mean.default", "mean", false}, {"aten.mean.dim", "mean", true},
    {"aten.prod.default", "prod", false}, {"aten.prod.dim_int", "prod", true},
    {"aten.amax.default", "max", true},   {"aten.amin.default", "min", true},
    {"aten.max.default", "max", false},   {"aten.max.dim", "max", true},
    {"aten.min.default", "min", false},   {"aten.min.dim", "min", true},
};

const ReductionOverload* reduction_overload(const OperationNode& node) {
  const auto found =
      std::find_if(std::begin(kReductions), std::end(kReductions),
                   [&](const ReductionOverload& overload) { return overload.op == node.op; });
  return found == std::end(kReductions) ? nullptr : &*found;
}

std::optional<ReductionFacts> reduction_facts(const Task& task, const std::vector<Work>& works) {
  ReductionFacts facts;
  Attribute dim{{"dim", "dims", "axis", "axes"}, {}, Literal{}, {}};
  Attribute keepdim{{"keepdim", "keepdims", "keep_dim", "keep_dims"}, {}, Literal{false}, {}};
  std::vector<std::size_t> ranks;
  for (const Work& work : works) {
    const ReductionOverload* overload = reduction_overload(work.node);
    if (!overload) return std::nullopt;
    const auto input = input_of(work.node.arguments[0], work);
    if (!input) return std::nullopt;
    const bool first = &work == &works.front();
    if (first) {
      facts.op = overload->fact;
      facts.input = *input;
    }
    if (facts.op != overload->fact || facts.input != *input) return std::nullopt;
    const TensorSpec& tensor = *work.sample.inputs[static_cast<std::size_t>(*input)].tensor();
    if (work.node.outputs[0].dtype != tensor.dtype) return std::nullopt;

    const auto sizes = reduction_sizes(work.node, work.sample, work.graph);
    if (!sizes) return std::nullopt;
    facts.sizes[work.sample.index] = *sizes;
    ranks.push_back(tensor.shape.size());
    const bool has_axes = overload->has_axes;
    dim.values.push_back(has_axes ? constant_argument(work.node, 1, "dim", Literal{}) : Literal{});
    keepdim.values.push_back(has_axes ? constant_argument(work.node, 2, "keepdim", Literal{false})
                                      : Literal{false});
  }
  const auto dim_source = axes_source(task, dim, ranks);
  const auto keepdim_source = number_source(task, keepdim);
  if (!dim_source || !keepdim_source) return std::nullopt;
  facts.dim = *dim_source;
  facts.keepdim = *keepdim_source;
  return facts;
}

// ---- Broadcasting elementwise operations
// ----------------------------------------------------------

struct BinaryOverload {
  std::string_view op;
  std::string_view fact;
  bool has_alpha;
  bool reversed;  // rsub(x, y) is y - alpha * x
};

constexpr BinaryOverload kBinaries[] = {
    {"aten.add.Tensor", "add", true, false},  {"aten.add.Scalar", "add", true, false},
    {"aten.sub.Tensor", "sub", true, false},  {"aten.sub.Scalar", "sub", true, false},
    {"aten.rsub.Tensor", "sub", true, true},  {"aten.rsub.Scalar", "sub", true, true},
    {"aten.mul.Tensor", "mul", false, false}, {"aten.mul.Scalar", "mul", false, false},
    {"aten.div.Tensor", "div", false, false}, {"aten.div.Scalar", "div", false, false},
};

const BinaryOverload* binary_overload(const OperationNode& node) {
  const auto found =
      std::find_if(std::begin(kBinaries), std::end(kBinaries),
                   [&](const BinaryOverload& overload) { return overload.op == node.op; });
  return found == std::end(kBinaries) ? nullptr : &*found;
}

/// The forward arguments an operand can be on this case: the tensor's own, or every number equal to
/// the constant.
std::set<int> possible_arguments(const Operand& operand, const Work& work) {
  if (const auto input = input_of(operand, work)) return {*input};
  std::set<int> arguments;
  const auto constant = constant_of(operand);
  if (!constant) return arguments;
  for (std::size_t p = 0; p < work.sample.inputs.size(); ++p) {
    const Literal* literal = work.sample.inputs[p].literal();
    if (literal && same_number(*literal, *constant)) arguments.insert(static_cast<int>(p));
  }
  return arguments;
}

void keep_common(std::set<int>& arguments, const std::set<int>& others) {
  std::erase_if(arguments, [&](int argument) { return !others.contains(argument); });
}

/// Whether every tensor operand has the dtype of the result.
bool keeps_dtype(const Work& work) {
  return std::all_of(work.node.arguments.begin(), work.node.arguments.begin() + 2,
                     [&](const Operand& operand) {
                       const TensorSpec* tensor = tensor_of(operand, work.sample, work.graph);
                       return !tensor || tensor->dtype == work.node.outputs[0].dtype;
                     });
}

std::optional<BroadcastFacts> broadcast_facts(const Task& task, const std::vector<Work>& works) {
  BroadcastFacts facts;
  Attribute alpha{{"alpha"}, {}, Literal{1}, {}};
  std::set<int> lhs, rhs;
  bool has_alpha = false;
  for (const Work& work : works) {
    const BinaryOverload* overload = binary_overload(work.node);
    if (!overload || work.node.arguments.size() < 2 || !keeps_dtype(work)) return std::nullopt;
    const std::size_t left = overload->reversed ? 1 : 0;
    const auto left_arguments = possible_arguments(work.node.arguments[left], work);
    const auto right_arguments = possible_arguments(work.node.arguments[1 - left], work);
    if (&work == &works.front()) {
      facts.op = overload->fact;
      lhs = left_arguments;
      rhs = right_arguments;
    }
    if (facts.op != overload->fact) return std::nullopt;
    keep_common(lhs, left_arguments);
    keep_common(rhs, right_arguments);
    has_alpha = overload->has_alpha;
    alpha.values.push_back(constant_argument(work.node, 2, "alpha", Literal{1}));
  }
  if (lhs.empty() || rhs.empty()) return std::nullopt;
  facts.lhs = *lhs.begin();
  facts.rhs = *rhs.begin();
  facts.alpha.constant = Literal{1};
  if (!has_alpha) return facts;
  const auto alpha_source = number_source(task, alpha);
  if (!alpha_source) return std::nullopt;
  facts.alpha = *alpha_source;
  return facts;
}

}  // namespace

OperatorFacts operator_facts(const Task& task, const std::vector<ReferenceGraph>& graphs) {
  KSPLIT_CHECK(task.cases.size() == graphs.size(), "one trace a case");
  if (task.cases.empty()) return std::monostate{};
  std::vector<Work> works;
  for (std::size_t c = 0; c < graphs.size(); ++c) {
    const OperationNode* node = only_work(task.cases[c], graphs[c]);
    if (!node || node->outputs.empty() || node->arguments.empty()) return std::monostate{};
    works.push_back({task.cases[c], graphs[c], *node});
  }
  if (auto reduction = reduction_facts(task, works)) return *reduction;
  if (auto broadcast = broadcast_facts(task, works)) return *broadcast;
  return std::monostate{};
}

}  // namespace ksplit
