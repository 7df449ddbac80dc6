// SPDX-License-Identifier: Apache-2.0
#include "generate/templates/elementwise.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"

namespace ksplit::templates {
namespace {

using Kind = Subject::Kind;

std::string expression(const std::string& op, const std::string& left, const std::string& right,
                       const std::string& alpha) {
  const std::string scaled = alpha.empty() ? right : right + " * " + alpha;
  if (op == "add") return left + " + " + scaled;
  if (op == "sub") return left + " - " + scaled;
  return left + (op == "mul" ? " * " : " / ") + scaled;
}

}  // namespace

std::vector<std::string> ElementwisePlan::kernel_arguments() const {
  std::vector<std::string> arguments = {left.is_tensor ? "x_ptr" : "x",
                                        right.is_tensor ? "y_ptr" : "y", "out_ptr"};
  if (!alpha_passed.empty()) arguments.emplace_back("alpha");
  return arguments;
}

std::string ElementwisePlan::value() const {
  if (op == "div") return "tl.div_rn(x, y)";
  return expression(op, "x", "y", alpha);
}

std::string ElementwisePlan::title() const {
  return expression(op, left.name, right.name, alpha_passed.empty() ? alpha : alpha_passed);
}

std::vector<std::string> ElementwisePlan::passed(const std::string& out) const {
  std::vector<std::string> values = {left.passed, right.passed, out};
  if (!alpha_passed.empty()) values.push_back(alpha_passed);
  return values;
}

bool spans_result(const ElementwisePlan& plan, bool left) {
  const char missing = left ? 'Y' : 'X';
  return std::all_of(plan.broadcast.layouts.begin(), plan.broadcast.layouts.end(),
                     [&](const BroadcastLayout& layout) {
                       const std::size_t rank = left ? layout.left_rank : layout.right_rank;
                       return rank == layout.letters.size() &&
                              layout.letters.find(missing) == std::string::npos;
                     });
}

std::string dimension_size(const ElementwisePlan& plan, std::size_t rank, std::size_t k) {
  bool in_left = true;
  bool in_right = true;
  for (const BroadcastLayout& layout : plan.broadcast.layouts) {
    if (layout.letters.size() != rank) continue;
    const char letter = layout.letters[rank - 1 - k];
    in_left = in_left && k < layout.left_rank && letter != 'Y';
    in_right = in_right && k < layout.right_rank && letter != 'X';
  }
  if (in_left) return fmt::format("{}.size(-{})", plan.left.name, k + 1);
  if (in_right) return fmt::format("{}.size(-{})", plan.right.name, k + 1);
  return {};
}

void ElementwisePlan::add_output(HostText& host, const std::string& out) const {
  const bool like_left = !right.is_tensor || (left.is_tensor && spans_result(*this, true));
  const bool like_right = !left.is_tensor || spans_result(*this, false);
  if (like_left || like_right) {
    host.add(fmt::format("{} = torch.empty_like({})\n", out, like_left ? left.name : right.name));
    return;
  }
  std::vector<std::string> sizes;
  const std::size_t rank = broadcast.layouts.front().letters.size();
  for (std::size_t k = rank; k-- > 0;) sizes.push_back(dimension_size(*this, rank, k));
  host.add(fmt::format("{} = {}.new_empty(({}))\n", out, left.name, fmt::join(sizes, ", ")));
}

Guard ElementwisePlan::common(bool contiguous) const {
  Guard guard;
  for (const ElementwiseOperand* operand : {&left, &right}) {
    if (!operand->is_tensor) continue;
    const Guard tests = tensor_tests(operand->argument, dtypes, contiguous);
    guard.insert(guard.end(), tests.begin(), tests.end());
  }
  guard.insert(guard.end(), numbers.begin(), numbers.end());
  if (two_tensors()) {
    const auto same = [&](Kind kind) {
      return equal_subjects(subject_of(kind, left.argument), subject_of(kind, right.argument));
    };
    if (dtypes.size() > 1) guard.push_back(same(Kind::dtype));
    guard.push_back(same(Kind::device));
  }
  return guard;
}

namespace {

/// The tests that two operands of these ranks have the letters.
void append_layout(Guard& guard, const ElementwisePlan& plan, const BroadcastLayout& layout) {
  const auto rank = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  guard.push_back(equals(subject_of(Kind::rank, plan.left.argument), rank(layout.left_rank)));
  guard.push_back(equals(subject_of(Kind::rank, plan.right.argument), rank(layout.right_rank)));
  for (std::size_t k = 0; k < layout.letters.size(); ++k) {
    const char letter = layout.letters[layout.letters.size() - 1 - k];
    const std::int64_t dimension = -static_cast<std::int64_t>(k) - 1;
    const Subject left = subject_of(Kind::size, plan.left.argument, dimension);
    const Subject right = subject_of(Kind::size, plan.right.argument, dimension);
    const bool in_left = k < layout.left_rank;
    const bool in_right = k < layout.right_rank;
    if (letter == 'B' && in_left && in_right) {
      guard.push_back(equal_subjects(left, right));
    } else if (in_left && letter != 'X') {
      guard.push_back(equals(left, 1));
    } else if (in_right && letter != 'Y') {
      guard.push_back(equals(right, 1));
    }
  }
}

std::int64_t most_elements(const GeneratorContext& context, int argument) {
  std::int64_t most = 1;
  for (const Case* sample : context.cases) {
    most = std::max(most, sample->inputs.at(static_cast<std::size_t>(argument)).tensor()->numel());
  }
  return most;
}

}  // namespace

std::vector<Guard> ElementwisePlan::with_shapes() const {
  Guard base = common(true);
  if (!two_tensors()) return {base};
  if (equal_shapes) {
    base.push_back(equal_subjects(subject_of(Kind::shape, left.argument),
                                  subject_of(Kind::shape, right.argument)));
    return {base};
  }
  for (const Test& test : product_bound) require(base, test);
  std::vector<Guard> alternatives;
  for (const BroadcastLayout& layout : broadcast.layouts) {
    Guard guard = base;
    append_layout(guard, *this, layout);
    alternatives.push_back(std::move(guard));
  }
  return alternatives;
}

std::vector<Subject> ElementwisePlan::envelope() const {
  std::vector<Subject> subjects;
  if (left.is_tensor) subjects.push_back(subject_of(Kind::numel, left.argument));
  if (right.is_tensor && !equal_shapes) subjects.push_back(subject_of(Kind::numel, right.argument));
  return subjects;
}

namespace {

tl::unexpected<Error> refuse(const std::string& why) {
  return fail(ErrorCode::unsupported, "elementwise templates: " + why);
}

const Argument& argument_of(const Case& sample, int position) {
  return sample.inputs.at(static_cast<std::size_t>(position));
}

/// A number that is an argument: which types occur, and how the host passes it on. Kernels take
/// fp32; an int is converted, since Triton would make an integer of it.
Result<std::string> read_number(Guard& guard, const GeneratorContext& context, int position) {
  std::set<std::string> types;
  const Subject type = subject_of(Kind::type, position);
  for (const Case* sample : context.cases) {
    const std::optional<Literal> name = evaluate(type, *sample);
    if (!name || (*name != Literal("int") && *name != Literal("float"))) {
      return refuse(fmt::format("{} is no number in case {}", argument_of(*sample, position).name,
                                sample->index));
    }
    types.insert(*name->as_string());
  }
  guard.push_back(one_of(type, types));
  const std::string& name = context.task.parameters.at(static_cast<std::size_t>(position)).name;
  return types.contains("int") ? "float(" + name + ")" : name;
}

Status read_alpha(ElementwisePlan& plan, const GeneratorContext& context,
                  const AttributeSource& source) {
  if (source.argument) {
    KSPLIT_TRY(plan.alpha_passed, read_number(plan.numbers, context, *source.argument));
    plan.alpha = "alpha";
    return {};
  }
  const std::int64_t* whole = source.constant.as_int();
  if (!whole && !source.constant.as_float()) return refuse("alpha is no number");
  const double value = whole ? static_cast<double>(*whole) : *source.constant.as_float();
  if (value != 1.0) plan.alpha = to_python(Literal(value));
  return {};
}

Result<ElementwiseOperand> read_operand(ElementwisePlan& plan, const GeneratorContext& context,
                                        int position) {
  const auto is_tensor = [&](const Case* sample) {
    return argument_of(*sample, position).tensor() != nullptr;
  };
  ElementwiseOperand operand;
  operand.argument = position;
  operand.name = context.task.parameters.at(static_cast<std::size_t>(position)).name;
  operand.passed = operand.name;
  operand.is_tensor = is_tensor(context.cases.front());
  const bool alike =
      std::all_of(context.cases.begin(), context.cases.end(),
                  [&](const Case* sample) { return is_tensor(sample) == operand.is_tensor; });
  if (!alike) return refuse(operand.name + " is a tensor in some cases only");
  if (!operand.is_tensor) {
    KSPLIT_TRY(operand.passed, read_number(plan.numbers, context, position));
  }
  return operand;
}

bool is_supported(const TensorSpec& tensor) {
  return tensor.dtype == "float16" || tensor.dtype == "bfloat16" || tensor.dtype == "float32";
}

/// Dtypes, layouts and amounts of data.
Status read_tensors(ElementwisePlan& plan, const GeneratorContext& context) {
  std::vector<std::pair<const TensorSpec*, const TensorSpec*>> pairs;
  plan.equal_shapes = plan.two_tensors();
  for (const Case* sample : context.cases) {
    const TensorSpec* x = argument_of(*sample, plan.left.argument).tensor();
    const TensorSpec* y = argument_of(*sample, plan.right.argument).tensor();
    const TensorSpec* first = x ? x : y;
    for (const TensorSpec* tensor : {x, y}) {
      if (!tensor) continue;
      if (!is_supported(*tensor) || tensor->dtype != first->dtype) {
        return refuse(fmt::format("case {} has dtype {}", sample->index, tensor->dtype));
      }
    }
    plan.dtypes.insert(first->dtype);
    double elements = static_cast<double>(first->numel());
    double moved = elements;
    if (x && y) {
      pairs.emplace_back(x, y);
      if (x->shape != y->shape) plan.equal_shapes = false;
      moved += static_cast<double>(y->numel());
      const std::optional<Broadcast> one = read_broadcast({{x, y}});
      if (!one) return refuse(fmt::format("shapes of case {} do not broadcast", sample->index));
      elements = one->result_elements.front();
    }
    plan.elements.push_back(elements);
    plan.moved_bytes.push_back(static_cast<double>(first->item_bytes()) * (moved + elements));
  }
  if (plan.two_tensors()) {
    auto broadcast = read_broadcast(pairs);
    KSPLIT_CHECK(broadcast, "what broadcasts case by case does so together");
    plan.broadcast = *std::move(broadcast);
  }
  return {};
}

/// Results whose rank or shape the host code cannot tell from one operand need one layout; and two
/// operands that both broadcast can make a result far larger than either.
void restrict_results(ElementwisePlan& plan, const GeneratorContext& context) {
  if (!plan.two_tensors() || spans_result(plan, true) || spans_result(plan, false)) return;
  Broadcast& broadcast = plan.broadcast;
  if (broadcast.layouts.empty()) return;
  const std::size_t rank = broadcast.layouts.front().letters.size();
  bool told = true;
  for (const BroadcastLayout& layout : broadcast.layouts) {
    told = told && layout.letters.size() == rank;
  }
  for (std::size_t k = 0; k < rank && told; ++k) {
    told = !dimension_size(plan, rank, k).empty();
  }
  const std::int64_t left = most_elements(context, plan.left.argument);
  const std::int64_t right = most_elements(context, plan.right.argument);
  if (!told || left > kMaxElements / right) {
    broadcast.levels.clear();
    return;
  }
  plan.product_bound = {between(subject_of(Kind::numel, plan.left.argument), 1, left),
                        between(subject_of(Kind::numel, plan.right.argument), 1, right)};
}

}  // namespace

Result<std::optional<ElementwisePlan>> elementwise_plan(const GeneratorContext& context) {
  const auto* facts = std::get_if<BroadcastFacts>(&context.facts);
  if (!facts || context.cases.empty()) return std::nullopt;
  ElementwisePlan plan;
  plan.names = Names{context.task.op_name, context.group.group_id};
  plan.op = facts->op;
  KSPLIT_TRY_STATUS(check_names(context, plan.names));
  KSPLIT_TRY(plan.left, read_operand(plan, context, facts->lhs));
  KSPLIT_TRY(plan.right, read_operand(plan, context, facts->rhs));
  if (!plan.left.is_tensor && !plan.right.is_tensor) return refuse("neither operand is a tensor");
  KSPLIT_TRY_STATUS(read_alpha(plan, context, facts->alpha));
  if (!plan.alpha.empty() && plan.op != "add" && plan.op != "sub") {
    return refuse("alpha with " + plan.op);
  }
  KSPLIT_TRY_STATUS(read_tensors(plan, context));
  restrict_results(plan, context);
  return plan;
}

}  // namespace ksplit::templates
