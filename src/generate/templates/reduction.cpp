// SPDX-License-Identifier: Apache-2.0
#include "generate/templates/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ksplit::templates {

ReduceOp::ReduceOp(std::string op, const Names& names)
    : op_(std::move(op)), function_(names.helper("combine")) {}

std::string ReduceOp::identity() const {
  if (op_ == "max") return "float(\"-inf\")";
  if (op_ == "min") return "float(\"inf\")";
  return op_ == "prod" ? "1.0" : "0.0";
}

std::string ReduceOp::combined(const std::string& accumulator, const std::string& value) const {
  if (helper().empty()) return fmt::format("{} + {}", accumulator, value);
  return fmt::format("{}({}, {})", function_, accumulator, value);
}

std::string ReduceOp::folded(const std::string& tile, int axis) const {
  if (helper().empty()) return fmt::format("tl.sum({}, axis={})", tile, axis);
  return fmt::format("tl.reduce({}, {}, {})", tile, axis, function_);
}

std::string ReduceOp::finish(const std::string& total, const std::string& count) const {
  if (!averages()) return {};
  return fmt::format("{0} = tl.div_rn({0}, tl.cast({1}, tl.float32))\n", total, count);
}

std::string ReduceOp::helper() const {
  if (op_ == "sum" || op_ == "mean") return {};
  const std::string head = fmt::format("@triton.jit\ndef {}(a, b):\n", function_);
  if (op_ == "prod") return head + "    return a * b\n\n\n";
  return head + fmt::format(R"(    """The {} one; NaN where there is one, as in torch."""
    return tl.{}imum(a, b, propagate_nan=tl.PropagateNan.ALL)


)",
                            op_ == "max" ? "larger" : "smaller", op_);
}

std::string ReduceOp::title() const {
  if (op_ == "max") return "Maximum";
  if (op_ == "min") return "Minimum";
  if (op_ == "prod") return "Product";
  return op_ == "mean" ? "Mean" : "Sum";
}

std::int64_t ReductionPlan::longest() const {
  std::int64_t longest = 1;
  for (const auto& size : sizes) longest = std::max(longest, size.reduce);
  return longest;
}

Subject ReductionPlan::size() const {
  return Subject{Subject::Kind::size, input, last, axis_argument};
}

Subject ReductionPlan::stride() const {
  return Subject{Subject::Kind::stride, input, last, axis_argument};
}

std::vector<Subject> ReductionPlan::envelope(bool with_stride) const {
  std::vector<Subject> subjects = {subject_of(Subject::Kind::numel, input)};
  if (axes == Axes::all) return subjects;
  for (std::int64_t d = first; d < last; ++d) {
    subjects.push_back(subject_of(Subject::Kind::size, input, d));
  }
  subjects.push_back(size());
  if (with_stride) subjects.push_back(stride());
  return subjects;
}

std::optional<Guard> ReductionPlan::at_most(std::int64_t most) const {
  if (axes == Axes::all) return Guard{between(subject_of(Subject::Kind::numel, input), 1, most)};
  if (axes == Axes::one) return Guard{between(size(), 1, most)};
  Guard guard;
  std::int64_t product = 1;
  for (std::size_t i = 0; i < largest.size(); ++i) {
    product *= largest[i];
    const auto dimension = first + static_cast<std::int64_t>(i);
    guard.push_back(between(subject_of(Subject::Kind::size, input, dimension), 1, largest[i]));
  }
  if (product > most) return std::nullopt;
  return guard;
}

Guard ReductionPlan::at_least(std::int64_t parts) const {
  if (axes == Axes::all) return {};
  return {between(size(), parts, kMaxElements)};
}

std::string ReductionPlan::reduce_expression() const {
  if (axes == Axes::all) return x + ".numel()";
  if (axes == Axes::one) return fmt::format("{}.size({})", x, axis);
  std::string product;
  for (std::int64_t d = first; d <= last; ++d) {
    product += fmt::format("{}{}.size({})", d == first ? "" : " * ", x, d);
  }
  return product;
}

std::string ReductionPlan::inner_expression() const {
  return axes == Axes::one ? fmt::format("{}.stride({})", x, axis)
                           : fmt::format("{}.stride({})", x, last);
}

namespace {

/// Statements that turn the list `shape` into the output's, for a kept or a dropped axis.
std::pair<std::string, std::string> shape_edits(const ReductionPlan& plan,
                                                const std::string& shape) {
  if (plan.axes == ReductionPlan::Axes::one) {
    return {fmt::format("{}[{}] = 1\n", shape, plan.axis),
            fmt::format("del {}[{}]\n", shape, plan.axis)};
  }
  const std::string end = plan.last == -1 ? "" : std::to_string(plan.last + 1);
  const auto count = static_cast<std::size_t>(plan.last - plan.first + 1);
  const std::vector<std::string> ones(count, "1");
  return {fmt::format("{}[{}:{}] = [{}]\n", shape, plan.first, end, fmt::join(ones, ", ")),
          fmt::format("del {}[{}:{}]\n", shape, plan.first, end)};
}

}  // namespace

void ReductionPlan::add_output(HostText& host, const std::string& out) const {
  const bool fixed = keepdim == "True" || keepdim == "False";
  if (axes == Axes::all) {
    const std::string kept = fmt::format("[1] * {}.dim()", x);
    const std::string shape = !fixed              ? fmt::format("{} if {} else ()", kept, keepdim)
                              : keepdim == "True" ? kept
                                                  : "()";
    host.add(fmt::format("{} = {}.new_empty({})\n", out, x, shape));
    return;
  }
  const std::string shape = host.local("shape");
  const auto [keep, drop] = shape_edits(*this, shape);
  host.add(fmt::format("{} = list({}.shape)\n", shape, x));
  if (fixed) {
    host.add(keepdim == "True" ? keep : drop);
  } else {
    host.add(fmt::format("if {}:\n    {}else:\n    {}", keepdim, keep, drop));
  }
  host.add(fmt::format("{} = {}.new_empty({})\n", out, x, shape));
}

namespace {

using Axes = ReductionPlan::Axes;

tl::unexpected<Error> refuse(const std::string& why) {
  return fail(ErrorCode::unsupported, "reduction templates: " + why);
}

/// The literals that an attribute takes over the group.
std::vector<Literal> values_of(const AttributeSource& source,
                               const std::vector<const Case*>& cases) {
  if (!source.argument) return {source.constant};
  std::vector<Literal> values;
  for (const Case* sample : cases) {
    const Argument& argument = sample->inputs.at(static_cast<std::size_t>(*source.argument));
    const Literal* value = argument.literal();
    if (value != nullptr && std::find(values.begin(), values.end(), *value) == values.end()) {
      values.push_back(*value);
    }
  }
  return values;
}

Status read_tensor(ReductionPlan& plan, const GeneratorContext& context,
                   const ReductionFacts& facts) {
  std::set<std::string> dtypes;
  double bytes = 0;
  for (const Case* sample : context.cases) {
    const TensorSpec* tensor = sample->inputs.at(static_cast<std::size_t>(facts.input)).tensor();
    const auto sizes = facts.sizes.find(sample->index);
    if (!tensor || sizes == facts.sizes.end()) {
      return refuse(fmt::format("case {} has no tensor to reduce", sample->index));
    }
    if (tensor->dtype != "float16" && tensor->dtype != "bfloat16" && tensor->dtype != "float32") {
      return refuse(fmt::format("case {} has dtype {}", sample->index, tensor->dtype));
    }
    dtypes.insert(tensor->dtype);
    bytes += static_cast<double>(tensor->item_bytes());
    plan.sizes.push_back(sizes->second);
  }
  plan.item_bytes = bytes / static_cast<double>(context.cases.size());
  plan.common = tensor_tests(facts.input, dtypes, true);
  return {};
}

std::set<std::int64_t> ranks_of(const GeneratorContext& context, int input) {
  std::set<std::int64_t> ranks;
  for (const Case* sample : context.cases) {
    const TensorSpec* tensor = sample->inputs.at(static_cast<std::size_t>(input)).tensor();
    ranks.insert(static_cast<std::int64_t>(tensor->shape.size()));
  }
  return ranks;
}

/// Constant axes, sorted and adjacent, counted from one end; the guard that they exist.
Status read_constant_axes(ReductionPlan& plan, std::vector<std::int64_t> dims,
                          const GeneratorContext& context) {
  std::set<std::int64_t> ranks = ranks_of(context, plan.input);
  const auto negative = std::count_if(dims.begin(), dims.end(), [](auto d) { return d < 0; });
  if (negative != 0 && negative != static_cast<std::ptrdiff_t>(dims.size())) {
    if (ranks.size() != 1) return refuse("axes counted from both ends of different ranks");
    for (std::int64_t& d : dims) d += d < 0 ? *ranks.begin() : 0;
  }
  std::sort(dims.begin(), dims.end());
  plan.first = dims.front();
  plan.last = dims.back();
  if (plan.last - plan.first + 1 != static_cast<std::int64_t>(dims.size())) {
    return refuse("the reduced axes are not adjacent");
  }
  plan.axes = dims.size() == 1 ? Axes::one : Axes::several;
  plan.axis = std::to_string(plan.first);
  const std::int64_t needed = plan.first < 0 ? -plan.first : plan.last + 1;
  std::erase_if(ranks, [&](std::int64_t rank) { return rank < needed; });
  if (ranks.empty()) return refuse("an axis is out of range");
  const Subject rank = subject_of(Subject::Kind::rank, plan.input);
  Test exists{rank, Test::Kind::one_of, Literal::List(ranks.begin(), ranks.end()), {}};
  if (ranks.size() == 1) exists.kind = Test::Kind::equals;
  plan.common.push_back(std::move(exists));

  for (std::int64_t d = plan.first; d <= plan.last; ++d) {
    const Subject size = subject_of(Subject::Kind::size, plan.input, d);
    std::int64_t most = 1;
    for (const Case* sample : context.cases) {
      const std::optional<Literal> value = evaluate(size, *sample);
      if (value) most = std::max(most, *value->as_int());
    }
    plan.largest.push_back(most);
  }
  return {};
}

Status read_list(ReductionPlan& plan, const Literal::List& list, const GeneratorContext& context) {
  std::vector<std::int64_t> dims;
  for (const Literal& item : list) {
    if (!item.as_int()) return refuse("an axis is no integer");
    dims.push_back(*item.as_int());
  }
  if (!dims.empty()) return read_constant_axes(plan, std::move(dims), context);
  plan.axes = Axes::all;
  return {};
}

Status read_axes(ReductionPlan& plan, const GeneratorContext& context,
                 const AttributeSource& source) {
  const std::vector<Literal> values = values_of(source, context.cases);
  const auto all_ints = std::all_of(values.begin(), values.end(),
                                    [](const Literal& value) { return value.as_int(); });
  if (values.empty() || (values.size() > 1 && !all_ints)) {
    return refuse("the axes are given in more than one way");
  }
  const Literal& value = values.front();
  if (source.argument) {
    const Subject type = subject_of(Subject::Kind::type, *source.argument);
    const char* name = all_ints ? "int" : value.is_none() ? "NoneType" : "list";
    plan.common.push_back(equals(type, name));
  }
  if (all_ints && source.argument) {
    plan.axis_argument = source.argument;
    plan.axis = context.task.parameters.at(static_cast<std::size_t>(*source.argument)).name;
    plan.common.push_back(Test{subject_of(Subject::Kind::value, *source.argument),
                               Test::Kind::axis_of,
                               {},
                               subject_of(Subject::Kind::rank, plan.input)});
    return {};
  }
  if (const std::int64_t* dim = value.as_int()) return read_constant_axes(plan, {*dim}, context);
  if (value.is_none()) {
    plan.axes = Axes::all;
    return {};
  }
  const Literal::List* list = value.as_list();
  if (!list) return refuse("the axes are neither integers nor None");
  if (source.argument) {
    plan.common.push_back(equals(subject_of(Subject::Kind::value, *source.argument), value));
  }
  return read_list(plan, *list, context);
}

Status read_keepdim(ReductionPlan& plan, const GeneratorContext& context,
                    const AttributeSource& source) {
  for (const Literal& value : values_of(source, context.cases)) {
    if (!value.as_bool()) return refuse("keepdim is no bool");
  }
  if (!source.argument) {
    plan.keepdim = to_python(source.constant);
    return {};
  }
  plan.keepdim = context.task.parameters.at(static_cast<std::size_t>(*source.argument)).name;
  plan.common.push_back(equals(subject_of(Subject::Kind::type, *source.argument), "bool"));
  return {};
}

}  // namespace

Result<std::optional<ReductionPlan>> reduction_plan(const GeneratorContext& context,
                                                    WantedSizes wanted) {
  const auto* facts = std::get_if<ReductionFacts>(&context.facts);
  if (!facts || context.cases.empty()) return std::nullopt;
  for (const Case* sample : context.cases) {
    const auto sizes = facts->sizes.find(sample->index);
    if (sizes != facts->sizes.end() && !wanted(sizes->second)) return std::nullopt;
  }
  const Names names{context.task.op_name, context.group.group_id};
  KSPLIT_TRY_STATUS(check_names(context, names));
  ReductionPlan plan;
  plan.names = names;
  plan.op = ReduceOp(facts->op, names);
  plan.input = facts->input;
  plan.x = context.task.parameters.at(static_cast<std::size_t>(facts->input)).name;
  KSPLIT_TRY_STATUS(read_tensor(plan, context, *facts));
  KSPLIT_TRY_STATUS(read_axes(plan, context, facts->dim));
  KSPLIT_TRY_STATUS(read_keepdim(plan, context, facts->keepdim));
  return plan;
}

}  // namespace ksplit::templates
