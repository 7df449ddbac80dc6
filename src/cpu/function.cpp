// SPDX-License-Identifier: Apache-2.0
#include "cpu/function.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/check.h"
#include "cpu/elementwise.h"
#include "cpu/scalar_type.h"

namespace ksplit::cpu {

using ttir::Operation;
using ttir::Type;
using ttir::Value;

FunctionWriter::FunctionWriter(ModuleContext& shared, const ttir::Function& function, Text& file,
                               WrittenFunctions& written)
    : shared_(shared),
      function_(function),
      file_(file),
      written_(written),
      context_(shared, function) {}

Result<FunctionText> FunctionWriter::write() {
  FunctionText made;
  made.name = shared_.unique(function_.name);
  frame_constant_ = shared_.unique("kFrame_" + made.name);
  std::vector<std::string> parameters = {"Program& p"};
  for (const Value* argument : function_.body.entry().arguments) {
    const std::string name = context_.name(*argument);
    if (argument->type.is_tensor()) {
      parameters.push_back(fmt::format("const {}* {}", c_type(argument->type.element()), name));
      context_.set_buffer(*argument, name);
    } else {
      parameters.push_back(fmt::format("{} {}", c_type(argument->type), name));
    }
  }
  const Operation* end = nullptr;
  for (const auto& block : function_.body.blocks) {
    if (block->terminator()->is("tt.return")) end = block->terminator();
  }
  if (end != nullptr) {
    for (std::size_t i = 0; i < end->operands.size(); ++i) {
      const Type type = end->operand(i).type;
      result_names_.push_back(context_.unique(fmt::format("result{}", i)));
      parameters.push_back(fmt::format("{}{} {}", c_type(type.element()),
                                       type.is_tensor() ? "*" : "&", result_names_.back()));
    }
  }

  Text body;
  context_.out = &body;
  KSPLIT_TRY_STATUS(write_blocks());

  made.frame_bytes = context_.frame.size() + callee_frame_;
  made.cost = context_.cost;
  file_.blank();
  if (callee_frame_ > 0) {
    file_.line(fmt::format("constexpr int64_t {} = {};", frame_constant_, context_.frame.size()));
  }
  file_.open(fmt::format("void {}({})", made.name, fmt::join(parameters, ", ")));
  file_.append(context_.declarations);
  file_.append(body);
  file_.close();
  return made;
}

Status FunctionWriter::write_blocks() {
  const auto finish = [&](const Operation& terminator, Schedule& schedule) -> Status {
    if (terminator.is("tt.return")) {
      KSPLIT_TRY_STATUS(give(terminator.operands, result_names_, schedule));
      if (function_.body.blocks.size() > 1) context_.out->line("return;");
      return {};
    }
    return branch(terminator, schedule);
  };
  if (function_.body.blocks.size() == 1) return write_block(function_.body.entry(), finish);

  Text& out = *context_.out;
  for (const auto& block : function_.body.blocks) {
    if (block->index > 0) {
      for (const Value* argument : block->arguments) {
        if (argument->type.is_tensor()) {
          context_.set_buffer(*argument, context_.allocate(*argument));
        } else {
          across_.push_back(argument);
        }
      }
    }
    for (const auto& op : block->operations) {
      const bool is_literal = op->is("arith.constant") || op->is("ub.poison");
      for (const Value* result : op->results) {
        if (!result->type.is_tensor() && !is_literal) across_.push_back(result);
      }
    }
  }
  for (const Value* value : across_) {
    out.line(fmt::format("{} {} = {{}};", c_type(value->type), context_.name(*value)));
  }
  out.line("int32_t next_block = 0;");
  out.open("for (;;)");
  out.open("switch (next_block)");
  for (const auto& block : function_.body.blocks) {
    out.open(fmt::format("case {}:", block->index));
    KSPLIT_TRY_STATUS(write_block(*block, finish));
    out.close();
  }
  out.close();
  out.close();
  return {};
}

Status FunctionWriter::write_block(const ttir::Block& block, const Ending& ending) {
  Schedule schedule(context_, block);
  const FunctionContext::Buffers before = context_.buffers();
  for (const auto& op : block.operations) {
    schedule.arrive(*op);
    if (op.get() == block.terminator()) {
      KSPLIT_TRY_STATUS(ending(*op, schedule));
    } else {
      KSPLIT_TRY_STATUS(statement(*op, schedule));
    }
  }
  // Other blocks of a `switch` may still read what this one left behind.
  if (block.region->blocks.size() == 1) schedule.release_all();
  context_.leave(block, before);
  return {};
}

// --- statements
// -----------------------------------------------------------------------------------

Status FunctionWriter::statement(const Operation& op, Schedule& schedule) {
  if (op.is("scf.for")) return for_loop(op, schedule);
  if (op.is("scf.if")) return if_else(op, schedule);
  if (op.is("scf.while")) return while_loop(op, schedule);
  if (op.is("tt.reduce")) return reduce(op, schedule);
  if (op.is("tt.scan")) return scan(op, schedule);
  if (op.is("tt.dot")) return dot(op, schedule);
  if (op.is("tt.unsplat")) return unsplat(op, schedule);
  if (op.is("tt.histogram")) return alone(Root::Kind::histogram, op, schedule);
  if (op.is("tt.atomic_rmw") || op.is("tt.atomic_cas")) {
    return alone(Root::Kind::atomic, op, schedule);
  }
  if (op.is("tt.print")) return report(Root::Kind::print, op, schedule);
  if (op.is("tt.assert")) return report(Root::Kind::assertion, op, schedule);
  if (op.is("tt.call")) return function_call(op, schedule);
  if (op.is("gpu.barrier") || op.is("llvm.intr.assume")) return {};
  if (op.is("tt.store")) {
    if (!op.operand(0).type.is_tensor()) return scalar_store(op, schedule);
    schedule.add_store(op);
    return {};
  }
  if (op.is("tt.load")) {
    if (!op.result().type.is_tensor()) return scalar_load(op, schedule);
    schedule.add_load(op);
    return {};
  }
  if (op.results.empty()) return unsupported(op);
  if (!op.result().type.is_tensor()) return scalar_statement(op, schedule);
  if (!Schedule::is_lazy(op)) return unsupported(op);
  if (op.is("tt.splat") && !op.operand(0).type.is_float()) {
    // It may become part of an address, which only knows the scalar's name.
    KSPLIT_TRY_STATUS(schedule.need_scalar(op.operand(0)));
  }
  for (const Value* result : op.results) {
    // In order of definition, so that neither has to recurse far.
    context_.affine.of(*result);
    context_.is_virtual(*result);
  }
  return {};
}

bool FunctionWriter::is_across(const Value& scalar) const {
  return std::find(across_.begin(), across_.end(), &scalar) != across_.end();
}

void FunctionWriter::define(const Value& scalar, const std::string& expression) {
  const std::string name = context_.name(scalar);
  if (is_across(scalar)) {
    context_.out->line(fmt::format("{} = {};", name, expression));
  } else {
    context_.out->line(fmt::format("{} const {} = {};", c_type(scalar.type), name, expression));
  }
}

/// A variable for a scalar that is assigned later.
std::string FunctionWriter::declare(const Value& scalar) {
  const std::string name = context_.name(scalar);
  if (!is_across(scalar)) {
    context_.out->line(fmt::format("{} {} = {{}};", c_type(scalar.type), name));
  }
  return name;
}

Status FunctionWriter::scalar_statement(const Operation& op, Schedule& schedule) {
  if (op.is("arith.constant") || op.is("ub.poison")) return {};
  std::vector<std::string> operands;
  for (const Value* operand : op.operands) {
    KSPLIT_TRY_STATUS(schedule.need_scalar(*operand));
    operands.push_back(context_.scalar(*operand));
  }
  if (op.is("tt.get_program_id") || op.is("tt.get_num_programs")) {
    const std::string_view axis = op.keyword("axis");
    const int index = axis == "x" ? 0 : axis == "y" ? 1 : 2;
    define(op.result(), op.is("tt.get_program_id") ? fmt::format("p.id[{}]", index)
                                                   : fmt::format("p.launch->grid[{}]", index));
    return {};
  }
  for (const Value* result : op.results) {
    KSPLIT_TRY(const std::string expression, elementwise_expression(op, result->index, operands));
    define(*result, expression);
  }
  context_.cost += context_.times;
  return {};
}

Result<std::string> FunctionWriter::scalar_place(const Operation& op) {
  const std::string pointer = context_.scalar(op.operand(0));
  if (!shared_.options.check_access) return "*" + pointer;
  return fmt::format("*checked(p, &{}, {}, {})",
                     shared_.site(op, op.is("tt.load") ? "load" : "store"),
                     context_.argument_behind(op.operand(0)), pointer);
}

Status FunctionWriter::scalar_load(const Operation& op, Schedule& schedule) {
  if (schedule.has_open_store()) KSPLIT_TRY_STATUS(schedule.flush());
  for (const Value* operand : op.operands) KSPLIT_TRY_STATUS(schedule.need_scalar(*operand));
  KSPLIT_TRY(const std::string from, scalar_place(op));
  const auto condition = op.operand_group(1);
  if (condition.empty()) {
    define(op.result(), from);
    return {};
  }
  const auto other = op.operand_group(2);
  define(op.result(),
         fmt::format("{} ? {} : {}", context_.scalar(*condition[0]), from,
                     other.empty() ? literal(op.result().type, 0) : context_.scalar(*other[0])));
  return {};
}

Status FunctionWriter::scalar_store(const Operation& op, Schedule& schedule) {
  schedule.finish_loads();
  KSPLIT_TRY_STATUS(schedule.flush());
  KSPLIT_TRY(const std::string to, scalar_place(op));
  const auto condition = op.operand_group(2);
  const std::string test =
      condition.empty() ? "" : fmt::format("if ({}) ", context_.scalar(*condition[0]));
  context_.out->line(fmt::format("{}{} = {};", test, to, context_.scalar(op.operand(1))));
  return {};
}

Status FunctionWriter::reduce(const Operation& op, Schedule& schedule) {
  std::vector<std::string> targets;
  targets.reserve(op.results.size());
  for (const Value* result : op.results) {
    targets.push_back(result->type.is_tensor() ? context_.allocate(*result) : declare(*result));
  }
  schedule.add_reduce(op, std::move(targets));
  return {};
}

Status FunctionWriter::alone(Root::Kind kind, const Operation& op, Schedule& schedule) {
  Root root{kind, &op, nullptr, {}};
  const Value& result = op.result();
  if (!result.users.empty() || kind == Root::Kind::histogram) {
    root.targets.push_back(result.type.is_tensor() ? context_.allocate(result) : declare(result));
  }
  KSPLIT_TRY_STATUS(schedule.run_alone(root));
  if (result.type.is_tensor() && !root.targets.empty()) {
    context_.set_buffer(result, root.targets[0]);
    schedule.own(result, root.targets[0]);
  }
  return {};
}

Status FunctionWriter::report(Root::Kind kind, const Operation& op, Schedule& schedule) {
  if (op.operands.empty()) {
    KSPLIT_TRY_STATUS(schedule.flush());
    context_.out->line(fmt::format("p.launch->services->print(p.id, &{}, nullptr, 0, nullptr, 0);",
                                   shared_.site(op, op.keyword("prefix"))));
    return {};
  }
  for (const Value* operand : op.operands) {
    KSPLIT_TRY_STATUS(schedule.run_alone({kind, &op, operand, {}}));
  }
  return {};
}

Status FunctionWriter::function_call(const Operation& op, Schedule& schedule) {
  const auto* callee_name = op.attribute("callee")->as<ttir::SymbolRef>();
  const ttir::Function* callee = shared_.module.find(callee_name->name);
  if (callee == nullptr || callee->body.empty()) return unsupported(op, "no body of the callee");
  auto known = written_.find(callee);
  if (known == written_.end()) {
    FunctionWriter writer(shared_, *callee, file_, written_);
    KSPLIT_TRY(FunctionText text, writer.write());
    known = written_.emplace(callee, std::move(text)).first;
  }
  schedule.finish_loads();
  for (const Value* operand : op.operands) {
    if (operand->type.is_tensor()) schedule.keep(*operand);
  }
  KSPLIT_TRY_STATUS(schedule.flush());
  std::vector<std::string> arguments = {"inner"};
  for (const Value* operand : op.operands) {
    arguments.push_back(operand->type.is_tensor() ? *context_.buffer(*operand)
                                                  : context_.scalar(*operand));
  }
  for (const std::string& place : result_places(op, schedule)) arguments.push_back(place);
  callee_frame_ = std::max(callee_frame_, known->second.frame_bytes);
  Text& out = *context_.out;
  out.open("");
  out.line("Program inner = p;");
  if (known->second.frame_bytes > 0) out.line(fmt::format("inner.frame += {};", frame_constant_));
  out.line(fmt::format("{}({});", known->second.name, fmt::join(arguments, ", ")));
  out.close();
  context_.cost += context_.times * known->second.cost;
  callee_frame_ = std::max<std::int64_t>(callee_frame_, 1);
  return {};
}

}  // namespace ksplit::cpu
