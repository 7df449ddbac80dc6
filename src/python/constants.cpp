// SPDX-License-Identifier: Apache-2.0
#include "python/constants.h"

#include "python/query.h"
#include "python/scopes.h"

namespace ksplit {
namespace {

constexpr std::int64_t kMaxValue = std::int64_t{1} << 40;  // beyond this nothing is a tile size
constexpr std::size_t kMaxRounds = 4096;

std::optional<std::int64_t> integer_operation(const std::string& op, std::int64_t a,
                                              std::int64_t b) {
  if (std::abs(a) > kMaxValue || std::abs(b) > kMaxValue) return std::nullopt;
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mult" && std::abs(a) < (1 << 20) && std::abs(b) < (1 << 20)) return a * b;
  // Python rounds towards minus infinity; for these operands that is C++'s division.
  if (op == "FloorDiv" && a >= 0 && b > 0) return a / b;
  if (op == "Mod" && a >= 0 && b > 0) return a % b;
  if (op == "LShift" && a >= 0 && b >= 0 && b < 20 && a < (1 << 20)) return a << b;
  if (op == "RShift" && a >= 0 && b >= 0 && b < 63) return a >> b;
  if (op == "Pow" && a == 2 && b >= 0 && b <= 40) return std::int64_t{1} << b;
  return std::nullopt;
}

std::optional<Literal> evaluate_operation(const PythonNode& node, const Constants& known) {
  const auto left = evaluate_constant(node.child("left"), known);
  const auto right = evaluate_constant(node.child("right"), known);
  if (!left || !right || left->as_int() == nullptr || right->as_int() == nullptr) {
    return std::nullopt;
  }
  const auto value = integer_operation(node.child("op")->type, *left->as_int(), *right->as_int());
  return value ? std::optional(Literal(*value)) : std::nullopt;
}

std::optional<Literal> evaluate_list(const PythonNode& node, const Constants& known) {
  Literal::List list;
  for (const auto& element : list_of(node, "elts")) {
    std::optional<Literal> value = evaluate_constant(element.get(), known);
    if (!value) return std::nullopt;
    list.push_back(std::move(*value));
  }
  return Literal(std::move(list));
}

std::optional<Literal> evaluate_comprehension(const PythonNode& node, const Constants& known) {
  Literal::List list;
  bool constant = true;
  const bool looped = for_each_round(node, known, [&](const Constants& round) {
    std::optional<Literal> value = evaluate_constant(node.child("elt"), round);
    constant &= value.has_value();
    if (value) list.push_back(std::move(*value));
  });
  return looped && constant ? std::optional(Literal(std::move(list))) : std::nullopt;
}

bool bind(const PythonNode& target, const Literal& value, Constants& known) {
  if (target.type == "Name") {
    known[target.identifier("id")] = value;
    return true;
  }
  const PythonNodes& names = list_of(target, "elts");
  const Literal::List* values = value.as_list();
  if (target.type != "Tuple" || values == nullptr || values->size() != names.size()) return false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!bind(*names[i], (*values)[i], known)) return false;
  }
  return true;
}

bool loop(const PythonNodes& generators, std::size_t depth, Constants known, std::size_t& rounds,
          const std::function<void(const Constants&)>& visit) {
  if (depth == generators.size()) {
    visit(known);
    return ++rounds <= kMaxRounds;
  }
  const PythonNode& generator = *generators[depth];
  if (!list_of(generator, "ifs").empty()) return false;
  const auto values = evaluate_constant(generator.child("iter"), known);
  if (!values || values->as_list() == nullptr) return false;
  for (const Literal& value : *values->as_list()) {
    if (!bind(*generator.child("target"), value, known)) return false;
    if (!loop(generators, depth + 1, known, rounds, visit)) return false;
  }
  return true;
}

}  // namespace

bool for_each_round(const PythonNode& comprehension, const Constants& known,
                    const std::function<void(const Constants&)>& visit) {
  std::size_t rounds = 0;
  return loop(list_of(comprehension, "generators"), 0, known, rounds, visit);
}

std::optional<Literal> evaluate_constant(const PythonNode* expression, const Constants& known) {
  if (expression == nullptr) return std::nullopt;
  if (std::optional<Literal> constant = constant_of(expression)) return constant;
  if (expression->type == "Name") {
    const auto found = known.find(expression->identifier("id"));
    return found == known.end() ? std::nullopt : std::optional(found->second);
  }
  if (expression->type == "List" || expression->type == "Tuple") {
    return evaluate_list(*expression, known);
  }
  if (expression->type == "BinOp") return evaluate_operation(*expression, known);
  if (expression->type == "ListComp" || expression->type == "GeneratorExp") {
    return evaluate_comprehension(*expression, known);
  }
  return std::nullopt;
}

Constants module_constants(const PythonModule& module) {
  Constants constants;
  const auto bindings = module_bindings(module);
  for (const PythonNode* statement : statements_of(*module.root)) {
    if (statement->type != "Assign" && statement->type != "AnnAssign") continue;
    const PythonNodes& targets = list_of(*statement, "targets");
    const PythonNode* target =
        targets.size() == 1 ? targets.front().get() : statement->child("target");
    const std::string name = name_of(target);
    const auto bound = bindings.find(name);
    if (bound == bindings.end() || bound->second.size() != 1) continue;
    if (auto value = evaluate_constant(statement->child("value"), constants)) {
      constants[name] = std::move(*value);
    }
  }
  return constants;
}

}  // namespace ksplit
