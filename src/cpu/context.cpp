// SPDX-License-Identifier: Apache-2.0
#include "cpu/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cpu/elementwise.h"
#include "cpu/scalar_type.h"

namespace ksplit::cpu {

using ttir::Operation;
using ttir::Type;
using ttir::Value;

namespace {

/// Words that a value can't be called: C++'s own, and those that generated code uses.
const std::unordered_set<std::string>& reserved() {
  static const std::unordered_set<std::string> kWords = {
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
      "case", "catch", "char", "class", "compl", "concept", "const", "constexpr", "continue",
      "decltype", "default", "delete", "do", "double", "else", "enum", "explicit", "export",
      "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable",
      "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
      "private", "protected", "public", "register", "requires", "return", "short", "signed",
      "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef",
      "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t",
      "while", "xor", "xor_eq", "unix", "linux",
      // of generated code and kernel.h
      "ksplit", "p", "lane", "chunk", "next_block", "f16", "bf16", "argument", "buffer", "checked",
      "bit_cast", "divide", "remainder", "divide_floor", "divide_ceil", "shift_left", "shift_right",
      "multiply_high", "count_leading_zeros", "reverse_bits", "smaller", "larger", "clamp_bound",
      "minnum", "maxnum", "minimum", "maximum", "atomic_update", "atomic_exchange_if", "in_step",
      "keep_ahead", "exchange", "index", "item", "inner", "batch", "row", "step", "at", "half",
      "part", "bin", "old", "active", "dot", "dot_block", "Program", "Launch", "Kernel", "Extent",
      "Site", "Services", "Tile", "PrintItem", "PrintKind"};
  return kWords;
}

std::string identifier(std::string_view base) {
  std::string out;
  for (const char c : base) {
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ? c : '_';
  }
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out.front())) != 0) out = "v" + out;
  return out;
}

/// Whether the name is kept for the nests' own variables: i0, i1, ...
bool is_loop_variable(const std::string& name) {
  return name.size() > 1 && name[0] == 'i' &&
         std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string unused(std::string_view base, const std::unordered_set<std::string>& taken) {
  std::string wanted = identifier(base);
  const auto is_free = [&](const std::string& name) {
    return !taken.contains(name) && !reserved().contains(name) && !is_loop_variable(name);
  };
  if (is_free(wanted)) return wanted;
  for (int n = 1;; ++n) {
    std::string name = fmt::format("{}_{}", wanted, n);
    if (is_free(name)) return name;
  }
}

/// The dearest expression that is recomputed rather than kept.
constexpr int kRecomputeLimit = 16;
constexpr int kNever = 1 << 20;

bool is_shape_operation(const Operation& op) {
  return op.is("tt.splat") || op.is("tt.expand_dims") || op.is("tt.broadcast") ||
         op.is("tt.trans") || op.is("tt.reshape") || op.is("tt.join") || op.is("tt.split") ||
         op.is("tt.cat");
}

}  // namespace

std::int64_t Frame::allocate(std::int64_t bytes) {
  const std::int64_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  std::int64_t at = 0;
  for (const auto& [offset, taken] : used_) {
    if (at + size <= offset) break;
    at = std::max(at, offset + taken);
  }
  used_[at] = size;
  size_ = std::max(size_, at + size);
  return at;
}

std::string ModuleContext::unique(std::string_view base) {
  std::string name = unused(base, names);
  names.insert(name);
  return name;
}

std::string ModuleContext::site(const Operation& op, std::string_view what) {
  const auto span = op.location.span().value_or(SourceSpan{});
  const std::string value = fmt::format("{{{}, {}, {}, {}}}", quoted(kernel_name),
                                        quoted(span.file), span.line, quoted(what));
  auto& name = sites[value];
  if (name.empty()) {
    name = unique(fmt::format("site_{}", sites.size()));
    helpers.line(fmt::format("const Site {} = {};", name, value));
  }
  return name;
}

FunctionContext::FunctionContext(ModuleContext& module_context, const ttir::Function& of)
    : shared(module_context),
      function(of),
      affine([this](const Value& value) { return scalar(value); }) {}

std::string FunctionContext::unique(std::string_view base) {
  std::string name = unused(base, names_);
  names_.insert(name);
  return name;
}

std::string FunctionContext::name(const Value& value) {
  auto& name = value_names_[&value];
  if (name.empty()) {
    // Results of one operation share a name in the IR's text.
    const bool one_of_many = value.definition != nullptr && value.definition->results.size() > 1;
    name = unique(one_of_many ? fmt::format("{}_{}", value.name, value.index) : value.name);
  }
  return name;
}

std::string FunctionContext::scalar(const Value& value) {
  if (value.definition != nullptr) {
    if (value.definition->is("ub.poison")) return literal(value.type, 0);
    if (value.definition->is("arith.constant")) {
      const ttir::Attribute& constant = *value.definition->attribute("value");
      if (const auto* number = constant.as<ttir::FloatAttr>()) {
        return literal(value.type, number->bits);
      }
      return literal(value.type, static_cast<std::uint64_t>(value.definition->integer("value")));
    }
  }
  return name(value);
}

std::string FunctionContext::allocate(const Value& value) {
  if (const auto found = preferred_.find(&value); found != preferred_.end()) return found->second;
  return allocate(value.type, value.name);
}

std::string FunctionContext::allocate(const Type& tensor, std::string_view base) {
  const std::string buffer = unique(fmt::format("{}_", identifier(base)));
  const std::int64_t offset = frame.allocate(tensor.element_count() * size_of(tensor.element()));
  offsets_[buffer] = offset;
  const std::string element = c_type(tensor.element());
  declarations.line(fmt::format("{0}* const {1} = buffer<{0}>(p, {2});", element, buffer, offset));
  return buffer;
}

void FunctionContext::release(const std::string& buffer) {
  if (const auto found = offsets_.find(buffer); found != offsets_.end()) {
    frame.release(found->second);
  }
}

const std::string* FunctionContext::buffer(const Value& value) const {
  const auto found = buffers_.find(&value);
  return found == buffers_.end() ? nullptr : &found->second;
}

void FunctionContext::leave(const ttir::Block& block, const Buffers& before) {
  std::erase_if(buffers_, [&](const auto& entry) {
    return entry.first->block != &block && !before.contains(entry.first);
  });
}

int FunctionContext::argument_behind(const Value& pointer) const {
  const Value* value = &pointer;
  for (;;) {
    if (value->is_block_argument()) {
      const Operation* parent = value->block->region->parent;
      if (parent == nullptr) {
        return function.is_public() && value->block->index == 0 ? value->index : -1;
      }
      if (!parent->is("scf.for") || value->index == 0) return -1;
      value = &parent->operand(static_cast<std::size_t>(value->index) + 2);
    } else if (value->definition->is("scf.for")) {
      value = &value->definition->operand(static_cast<std::size_t>(value->index) + 3);
    } else if (value->definition->is("tt.addptr") || value->definition->is("tt.bitcast") ||
               is_shape_operation(*value->definition)) {
      value = &value->definition->operand(0);
    } else {
      return -1;
    }
  }
}

bool FunctionContext::is_virtual(const Value& value) {
  return value.type.is_tensor() && recompute_cost(value) <= kRecomputeLimit;
}

int FunctionContext::recompute_cost(const Value& value) {
  if (!value.type.is_tensor()) return 0;
  if (const auto found = recompute_cost_.find(&value); found != recompute_cost_.end()) {
    return found->second;
  }
  int cost = kNever;
  if (value.definition != nullptr) {
    const Operation& op = *value.definition;
    if (op.is("tt.make_range") || op.is("arith.constant") || op.is("ub.poison")) {
      cost = 0;
    } else if (is_shape_operation(op) || is_elementwise(op)) {
      cost = is_shape_operation(op) ? 0 : element_cost(op);
      for (const Value* operand : op.operands) cost += recompute_cost(*operand);
    }
  }
  return recompute_cost_[&value] = std::min(cost, kNever);
}

std::vector<std::int64_t> squeezed(const Type& type) {
  std::vector<std::int64_t> shape(type.shape().begin(), type.shape().end());
  std::erase(shape, 1);
  return shape;
}

}  // namespace ksplit::cpu
