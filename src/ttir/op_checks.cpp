// SPDX-License-Identifier: Apache-2.0
#include "ttir/op_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "ttir/type_list.h"

namespace ksplit::ttir {
namespace {

using Shape = std::vector<std::int64_t>;

Shape shape_of(const Value& value) {
  return {value.type.shape().begin(), value.type.shape().end()};
}

std::string words_for(std::span<const Type> types) {
  return types.empty() ? "nothing" : list_of(types);
}

template <class Values>
std::vector<Type> elements_of(const Values& values) {
  std::vector<Type> types;
  types.reserve(values.size());
  for (const Value* value : values) types.push_back(value->type.element());
  return types;
}

// What is wrong unless the result is the operand's element in this shape.
std::string expect_result(const Operation& op, const Type& element, const Shape& shape) {
  const Type wanted = shape.empty() ? element : Type::tensor(shape, element);
  if (op.result().type == wanted) return {};
  return fmt::format("the result should have type {} but has {}", wanted.str(),
                     op.result().type.str());
}

// The axis attribute if it names one of `rank` dimensions.
std::optional<std::size_t> axis_of(const Operation& op, std::size_t rank) {
  const Attribute* attribute = op.attribute("axis");
  const auto* number = attribute != nullptr ? attribute->as<IntegerAttr>() : nullptr;
  if (number == nullptr || number->value < 0 || number->value >= static_cast<std::int64_t>(rank)) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(number->value);
}

// The region's entry takes `arguments`.
std::string check_arguments(const Operation& op, std::size_t index,
                            std::span<const Type> arguments) {
  const std::vector<Type> found = types_of(op.regions[index]->entry().arguments);
  if (std::ranges::equal(found, arguments)) return {};
  return fmt::format("region {} should take {} but takes {}", index, words_for(arguments),
                     words_for(found));
}

// What a block passes on at its end.
std::string check_passed(const Operation& last, std::span<const Type> passed) {
  std::vector<Type> given = types_of(last.operands);
  if (last.is("scf.condition") && !given.empty()) given.erase(given.begin());
  if (std::ranges::equal(given, passed)) return {};
  return fmt::format("'{}' should pass {} but passes {}", last.name, words_for(passed),
                     words_for(given));
}

// A region of one block that takes `arguments` and ends in `terminator`, passing `passed`.
std::string check_body(const Operation& op, std::size_t index, std::span<const Type> arguments,
                       std::string_view terminator, std::span<const Type> passed) {
  const Region& region = *op.regions[index];
  if (region.blocks.size() != 1) {
    return fmt::format("region {} should have one block but has {}", index, region.blocks.size());
  }
  if (std::string wrong = check_arguments(op, index, arguments); !wrong.empty()) return wrong;
  const Operation* last = region.entry().terminator();
  if (last == nullptr || !last->is(terminator)) {
    return fmt::format("region {} should end in '{}'", index, terminator);
  }
  return check_passed(*last, passed);
}

// The region of tt.reduce and tt.scan: two of each element in, one of each out.
std::string check_combine(const Operation& op, std::string_view terminator) {
  const std::vector<Type> elements = elements_of(op.operands);
  std::vector<Type> arguments = elements;
  arguments.insert(arguments.end(), elements.begin(), elements.end());
  return check_body(op, 0, arguments, terminator, elements);
}

std::string check_same_shapes(const Operation& op) {
  if (op.operands.empty()) return "there should be an operand";
  for (const Value* operand : op.operands) {
    if (!operand->type.is_tensor() || shape_of(*operand) != shape_of(op.operand(0))) {
      return "the operands should be tensors of one shape";
    }
  }
  return {};
}

}  // namespace

std::string check_constant(const Operation& op) {
  const Attribute& value = *op.attribute("value");
  Type type;
  if (value.as<bool>() != nullptr) type = Type::integer(1);
  if (const auto* integer = value.as<IntegerAttr>()) type = integer->type;
  if (const auto* number = value.as<FloatAttr>()) type = number->type;
  if (const auto* dense = value.as<DenseElements>()) type = dense->type;
  if (type == op.result().type) return {};
  return fmt::format("a value of type {} for a result of type {}", type.str(),
                     op.result().type.str());
}

std::string check_select(const Operation& op) {
  const Type& condition = op.operand(0).type;
  if (!condition.is_tensor() || shape_of(op.operand(0)) == shape_of(op.result())) return {};
  return fmt::format("the condition {} should have the result's shape", condition.str());
}

namespace {

std::string check_width(const Operation& op, bool widens) {
  const Type from = op.operand(0).type.element();
  const Type to = op.result().type.element();
  if (from.is_index() || to.is_index()) return {};
  const bool fits = widens ? from.bit_width() < to.bit_width() : from.bit_width() > to.bit_width();
  if (fits) return {};
  return fmt::format("{} to {} is not {}", from.str(), to.str(), widens ? "wider" : "narrower");
}

}  // namespace

std::string check_widens(const Operation& op) {
  return check_width(op, true);
}
std::string check_narrows(const Operation& op) {
  return check_width(op, false);
}

std::string check_same_width(const Operation& op) {
  const Type from = op.operand(0).type.element();
  const Type to = op.result().type.element();
  const bool both_pointers = from.is_pointer() && to.is_pointer();
  const bool numbers = (from.is_integer() || from.is_float()) && (to.is_integer() || to.is_float());
  if (both_pointers || (numbers && from.bit_width() == to.bit_width())) return {};
  return fmt::format("{} and {} have no bits in common", from.str(), to.str());
}

std::string check_make_range(const Operation& op) {
  const Type& type = op.result().type;
  const auto start = static_cast<std::int32_t>(op.integer("start"));
  const auto end = static_cast<std::int32_t>(op.integer("end"));
  if (type.rank() == 1 && type.element().is_integer(32) && end - type.shape()[0] == start) {
    return {};
  }
  return fmt::format("a range from {} to {} can't be {}", start, end, type.str());
}

std::string check_splat(const Operation& op) {
  return expect_result(op, op.operand(0).type, shape_of(op.result()));
}

std::string check_unsplat(const Operation& op) {
  if (op.operand(0).type.element_count() == 1) return {};
  return fmt::format("{} has more than one element", op.operand(0).type.str());
}

std::string check_broadcast(const Operation& op) {
  const Shape from = shape_of(op.operand(0));
  const Shape to = shape_of(op.result());
  bool fits =
      from.size() == to.size() && op.operand(0).type.element() == op.result().type.element();
  for (std::size_t i = 0; fits && i < from.size(); ++i) fits = from[i] == to[i] || from[i] == 1;
  if (fits) return {};
  return fmt::format("{} can't be broadcast to {}", op.operand(0).type.str(),
                     op.result().type.str());
}

std::string check_expand_dims(const Operation& op) {
  Shape shape = shape_of(op.operand(0));
  const auto axis = axis_of(op, shape.size() + 1);
  if (!axis) return "the axis is out of range";
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(*axis), 1);
  return expect_result(op, op.operand(0).type.element(), shape);
}

std::string check_same_count(const Operation& op) {
  const Type& from = op.operand(0).type;
  const Type& to = op.result().type;
  if (from.element_count() == to.element_count() && from.element() == to.element()) return {};
  return fmt::format("{} and {} differ in elements", from.str(), to.str());
}

std::string check_trans(const Operation& op) {
  const Shape from = shape_of(op.operand(0));
  const auto* order = op.attribute("order")->as<DenseArray>();
  if (order == nullptr || order->values.size() != from.size()) {
    return "the order should name each dimension once";
  }
  std::vector<bool> seen(from.size());
  Shape shape;
  for (const std::int64_t at : order->values) {
    if (at < 0 || at >= static_cast<std::int64_t>(from.size()) ||
        seen[static_cast<std::size_t>(at)]) {
      return "the order should name each dimension once";
    }
    seen[static_cast<std::size_t>(at)] = true;
    shape.push_back(from[static_cast<std::size_t>(at)]);
  }
  return expect_result(op, op.operand(0).type.element(), shape);
}

std::string check_join(const Operation& op) {
  Shape shape = shape_of(op.operand(0));
  shape.push_back(2);
  return expect_result(op, op.operand(0).type.element(), shape);
}

std::string check_split(const Operation& op) {
  Shape shape = shape_of(op.operand(0));
  if (shape.size() < 2 || shape.back() != 2) return "the last dimension should have size 2";
  shape.pop_back();
  return expect_result(op, op.operand(0).type.element(), shape);
}

std::string check_cat(const Operation& op) {
  Shape shape = shape_of(op.operand(0));
  if (shape.empty()) return "the operands should be tensors";
  shape[0] *= 2;
  return expect_result(op, op.operand(0).type.element(), shape);
}

std::string check_gather(const Operation& op) {
  const Shape source = shape_of(op.operand(0));
  const Shape index = shape_of(op.operand(1));
  const auto axis = axis_of(op, source.size());
  if (!axis || index.size() != source.size()) return "the axis or the index's rank doesn't fit";
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (i != *axis && source[i] != index[i]) return "the index's shape doesn't fit";
  }
  return expect_result(op, op.operand(0).type.element(), index);
}

std::string check_dot(const Operation& op) {
  const Shape a = shape_of(op.operand(0));
  const Shape b = shape_of(op.operand(1));
  const Shape c = shape_of(op.operand(2));
  const std::size_t rank = a.size();
  if ((rank != 2 && rank != 3) || b.size() != rank || c.size() != rank) {
    return "the operands should all have rank 2 or all rank 3";
  }
  const bool batches = rank == 2 || (a[0] == b[0] && a[0] == c[0]);
  if (batches && a[rank - 1] == b[rank - 2] && a[rank - 2] == c[rank - 2] &&
      b[rank - 1] == c[rank - 1]) {
    return {};
  }
  return fmt::format("{} times {} can't be {}", op.operand(0).type.str(), op.operand(1).type.str(),
                     op.operand(2).type.str());
}

std::string check_block_pointer(const Operation& op) {
  const Type& pointer = op.result().type;
  if (!pointer.is_pointer() || !pointer.pointee().is_tensor()) {
    return "the result should point to a tensor";
  }
  const int rank = pointer.pointee().rank();
  for (std::size_t g = 1; g < op.segments.size(); ++g) {
    if (op.segments[g] != rank) {
      return fmt::format("each list should have {} values, one per dimension", rank);
    }
  }
  return {};
}

std::string check_descriptor(const Operation& op) {
  const Type block = op.result().type.block();
  if (op.segments[1] != block.rank() || op.segments[2] != block.rank()) {
    return fmt::format("each list should have {} values, one per dimension", block.rank());
  }
  return {};
}

std::string check_elementwise(const Operation& op) {
  std::optional<Shape> shape;
  for (const auto* values : {&op.results, &op.operands}) {
    for (const Value* value : *values) {
      if (!value->type.is_tensor()) continue;
      if (shape && *shape != shape_of(*value)) return "operands and results should have one shape";
      shape = shape_of(*value);
    }
  }
  return {};
}

std::string check_reduce(const Operation& op) {
  if (std::string wrong = check_same_shapes(op); !wrong.empty()) return wrong;
  Shape shape = shape_of(op.operand(0));
  const auto axis = axis_of(op, shape.size());
  if (!axis) return "the axis is out of range";
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*axis));
  std::vector<Type> wanted;
  for (const Type& element : elements_of(op.operands)) {
    wanted.push_back(shape.empty() ? element : Type::tensor(shape, element));
  }
  if (types_of(op.results) != wanted) {
    return fmt::format("the results should be {} but are {}", words_for(wanted),
                       words_for(types_of(op.results)));
  }
  return check_combine(op, "tt.reduce.return");
}

std::string check_scan(const Operation& op) {
  if (std::string wrong = check_same_shapes(op); !wrong.empty()) return wrong;
  if (!axis_of(op, shape_of(op.operand(0)).size())) return "the axis is out of range";
  if (types_of(op.results) != types_of(op.operands)) return "results should be as the operands";
  return check_combine(op, "tt.scan.return");
}

std::string check_map_elementwise(const Operation& op) {
  if (std::string wrong = check_same_shapes(op); !wrong.empty()) return wrong;
  const std::int64_t pack = op.integer("pack", 1);
  if (pack < 1 || pack > 64) return "the pack is out of range";
  std::vector<Type> arguments;
  std::vector<Type> passed;
  for (const Type& element : elements_of(op.operands)) {
    arguments.insert(arguments.end(), static_cast<std::size_t>(pack), element);
  }
  for (const Type& element : elements_of(op.results)) {
    passed.insert(passed.end(), static_cast<std::size_t>(pack), element);
  }
  // The one operation whose region may branch.
  if (op.regions[0]->empty()) return "region 0 should have a block";
  if (std::string wrong = check_arguments(op, 0, arguments); !wrong.empty()) return wrong;
  bool returns = false;
  for (const auto& block : op.regions[0]->blocks) {
    const Operation* last = block->terminator();
    if (last == nullptr || !last->is("tt.map_elementwise.return")) continue;
    returns = true;
    if (std::string wrong = check_passed(*last, passed); !wrong.empty()) return wrong;
  }
  return returns ? "" : "region 0 should end in 'tt.map_elementwise.return'";
}

std::string check_for(const Operation& op) {
  const std::vector<Type> carried = types_of(op.operand_group(3));
  if (types_of(op.results) != carried) return "results should be as the carried values";
  if (op.operand(0).type.is_tensor()) return "the bounds should be scalars";
  std::vector<Type> arguments = {op.operand(0).type};
  arguments.insert(arguments.end(), carried.begin(), carried.end());
  return check_body(op, 0, arguments, "scf.yield", carried);
}

std::string check_if(const Operation& op) {
  const std::vector<Type> results = types_of(op.results);
  if (std::string wrong = check_body(op, 0, {}, "scf.yield", results); !wrong.empty()) {
    return wrong;
  }
  if (op.regions[1]->empty()) return results.empty() ? "" : "results need an else branch";
  return check_body(op, 1, {}, "scf.yield", results);
}

std::string check_while(const Operation& op) {
  const std::vector<Type> carried = types_of(op.operands);
  const std::vector<Type> results = types_of(op.results);
  if (std::string wrong = check_body(op, 0, carried, "scf.condition", results); !wrong.empty()) {
    return wrong;
  }
  return check_body(op, 1, results, "scf.yield", carried);
}

}  // namespace ksplit::ttir
