// SPDX-License-Identifier: Apache-2.0
#include "ttir/type.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/check.h"
#include "ttir/type_list.h"

namespace ksplit::ttir {

struct Type::Node {
  Kind kind = Kind::none;
  int number = 0;  // integer: width; pointer: address space; floating: the format
  Sign sign = Sign::signless;
  std::vector<std::int64_t> shape;
  std::vector<Type> parts;  // element, pointee, block, or inputs then results
  std::size_t input_count = 0;

  bool operator==(const Node&) const = default;
};

Type Type::integer(int width, Sign sign) {
  return Type(std::make_shared<Node>(Node{Kind::integer, width, sign, {}, {}, 0}));
}

Type Type::floating(FloatFormat format) {
  return Type(std::make_shared<Node>(
      Node{Kind::floating, static_cast<int>(format), Sign::signless, {}, {}, 0}));
}

Type Type::index() {
  return Type(std::make_shared<Node>(Node{Kind::index, 0, Sign::signless, {}, {}, 0}));
}

Type Type::pointer(Type pointee, int address_space) {
  return Type(std::make_shared<Node>(
      Node{Kind::pointer, address_space, Sign::signless, {}, {std::move(pointee)}, 0}));
}

Type Type::tensor(std::vector<std::int64_t> shape, Type element) {
  return Type(std::make_shared<Node>(
      Node{Kind::tensor, 0, Sign::signless, std::move(shape), {std::move(element)}, 0}));
}

Type Type::descriptor(Type block) {
  return Type(
      std::make_shared<Node>(Node{Kind::descriptor, 0, Sign::signless, {}, {std::move(block)}, 0}));
}

Type Type::function(std::vector<Type> inputs, std::vector<Type> results) {
  const std::size_t count = inputs.size();
  std::move(results.begin(), results.end(), std::back_inserter(inputs));
  return Type(std::make_shared<Node>(
      Node{Kind::function, 0, Sign::signless, {}, std::move(inputs), count}));
}

Type Type::tuple(std::vector<Type> members) {
  const std::size_t count = members.size();
  return Type(
      std::make_shared<Node>(Node{Kind::tuple, 0, Sign::signless, {}, std::move(members), count}));
}

bool Type::operator==(const Type& other) const {
  if (node_ == other.node_) return true;
  return node_ && other.node_ && *node_ == *other.node_;
}

Type::Kind Type::kind() const {
  return node_ ? node_->kind : Kind::none;
}

int Type::bit_width() const {
  switch (kind()) {
    case Kind::integer: return node_->number;
    case Kind::floating: return layout_of(format()).bits;
    case Kind::index:
    case Kind::pointer: return 64;
    default: KSPLIT_CHECK(false, "no bit width: " + str());
  }
  return 0;
}

Type::Sign Type::sign() const {
  return is_integer() ? node_->sign : Sign::signless;
}

FloatFormat Type::format() const {
  KSPLIT_CHECK(is_float(), "not a float: " + str());
  return static_cast<FloatFormat>(node_->number);
}

int Type::address_space() const {
  KSPLIT_CHECK(is_pointer(), "not a pointer: " + str());
  return node_->number;
}

std::span<const std::int64_t> Type::shape() const {
  return node_ ? std::span<const std::int64_t>(node_->shape) : std::span<const std::int64_t>();
}

std::int64_t Type::element_count() const {
  const auto sizes = shape();
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

Type Type::element() const {
  return is_tensor() ? node_->parts[0] : *this;
}

Type Type::pointee() const {
  KSPLIT_CHECK(is_pointer(), "not a pointer: " + str());
  return node_->parts[0];
}

Type Type::block() const {
  KSPLIT_CHECK(is_descriptor(), "not a tensor descriptor: " + str());
  return node_->parts[0];
}

std::span<const Type> Type::inputs() const {
  if (!node_) return {};
  return std::span<const Type>(node_->parts).first(node_->input_count);
}

std::span<const Type> Type::results() const {
  if (kind() != Kind::function) return {};
  return std::span<const Type>(node_->parts).subspan(node_->input_count);
}

Type Type::with_element(Type element) const {
  if (!is_tensor()) return element;
  return tensor(node_->shape, std::move(element));
}

Type Type::loaded() const {
  return with_element(element().pointee());
}

std::string list_of(std::span<const Type> types) {
  std::string text;
  for (const Type& type : types) text += (text.empty() ? "" : ", ") + type.str();
  return text;
}

std::string Type::str() const {
  switch (kind()) {
    case Kind::none: return "none";
    case Kind::index: return "index";
    case Kind::integer: {
      constexpr std::string_view kPrefix[] = {"i", "si", "ui"};
      return fmt::format("{}{}", kPrefix[static_cast<int>(sign())], bit_width());
    }
    case Kind::floating: return std::string(layout_of(format()).name);
    case Kind::pointer:
      if (address_space() != 1)
        return fmt::format("!tt.ptr<{}, {}>", pointee().str(), address_space());
      return fmt::format("!tt.ptr<{}>", pointee().str());
    case Kind::descriptor: return fmt::format("!tt.tensordesc<{}>", block().str());
    case Kind::tensor: {
      std::string text = "tensor<";
      for (const std::int64_t size : shape()) text += fmt::format("{}x", size);
      return text + element().str() + ">";
    }
    case Kind::tuple: return fmt::format("tuple<{}>", list_of(inputs()));
    case Kind::function: {
      // A single result needs no parentheses, unless it is a function itself.
      const bool bare = results().size() == 1 && results()[0].kind() != Kind::function;
      const std::string outputs = list_of(results());
      return fmt::format("({}) -> {}", list_of(inputs()), bare ? outputs : "(" + outputs + ")");
    }
  }
  return {};
}

}  // namespace ksplit::ttir
