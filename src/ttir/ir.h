// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ttir/attribute.h"
#include "ttir/location.h"
#include "ttir/type.h"

/// Triton IR as C++ values.
///
/// A Module owns functions; a function's body is a Region of Blocks of Operations, and operations
/// may hold regions of their own (scf.for, scf.if, tt.reduce ...). Values are defined once, by an
/// operation or as a block's argument. Operations are generic: what one means is in its name, its
/// operands in groups, its attributes and its regions; op_table.h says what is legal for each.
///
///   %23 = tt.load %21, %19 evictionPolicy = evict_first : tensor<64x!tt.ptr<f16>>
///
///   name            "tt.load"
///   operand_group   0: {%21}   1: {%19} (mask)   2: {} (other)
///   attribute       "evict" -> Keyword{"evict_first"}
///   results         {%23 : tensor<64xf16>}
///
/// The compact and the generic (`"tt.load"(...) <{...}>`) spelling of an operation give the same
/// value: enumerations become Keywords, and an attribute that has its default value is left out.
/// Attribute names are those of Triton's generic form: predicate, value, axis, cache, evict,
/// atomic_rmw_op, sem, scope, inputPrecision, rounding, order, start, end, callee, message ...
///
/// Objects have stable addresses for the life of their Module; `id`s are dense from 0 within the
/// module (values and operations each), so side tables are plain vectors. Pointers inside a const
/// Module are not to be written through: analyses and generators take `const Module&`.
namespace ksplit::ttir {

struct Block;
struct Function;
struct Operation;
struct Region;
struct OpInfo;

struct Value {
  int id = 0;
  std::string name;  // as written, without the sign; results of one operation share it
  Type type;
  Location location;
  Operation* definition = nullptr;  // null for a block argument
  Block* block = nullptr;           // the block that defines it, either way
  int index = 0;                    // among the operation's results, or the block's arguments
  std::vector<Operation*> users;    // one entry per use, as operand or successor argument

  bool is_block_argument() const { return definition == nullptr; }
};

/// A branch target with the values its block's arguments take.
struct Successor {
  Block* block = nullptr;
  std::vector<Value*> arguments;
};

struct Block {
  Region* region = nullptr;
  int index = 0;  // in its region
  std::vector<Value*> arguments;
  std::vector<std::unique_ptr<Operation>> operations;

  /// The last operation. Of a verified block: always there, and a terminator.
  const Operation* terminator() const {
    return operations.empty() ? nullptr : operations.back().get();
  }
};

struct Region {
  Operation* parent = nullptr;  // null for a function's body
  Function* function = nullptr;
  std::vector<std::unique_ptr<Block>> blocks;

  bool empty() const { return blocks.empty(); }
  Block& entry() const { return *blocks.front(); }
};

struct Operation {
  int id = 0;
  std::string name;              // "tt.load"
  const OpInfo* info = nullptr;  // its line of the op table; null for an operation not in it
  std::vector<Value*> operands;
  std::vector<int> segments;  // how many operands each operand group has, in op table order
  std::vector<Value*> results;
  Dictionary attributes;
  std::vector<std::unique_ptr<Region>> regions;
  std::vector<Successor> successors;
  Location location;
  Block* block = nullptr;

  bool is(std::string_view op_name) const { return name == op_name; }
  Value& operand(std::size_t i) const { return *operands[i]; }
  Value& result(std::size_t i = 0) const { return *results[i]; }
  /// Operands of one group, such as group 1 of tt.load, the mask; empty where it is absent.
  std::span<Value* const> operand_group(std::size_t group) const;
  /// The attribute, or null where absent or at its default.
  const Attribute* attribute(std::string_view attribute_name) const {
    return attributes.find(attribute_name);
  }
  /// The text of a Keyword or StringAttr, or `otherwise` where absent.
  std::string_view keyword(std::string_view attribute_name, std::string_view otherwise = {}) const;
  /// The value of an IntegerAttr or bool, or `otherwise` where absent.
  std::int64_t integer(std::string_view attribute_name, std::int64_t otherwise = 0) const;
};

struct Function {
  std::string name;
  std::string visibility;  // "public" (kernels), "private", or empty
  std::vector<Type> inputs;
  std::vector<Type> results;
  std::vector<Dictionary> argument_attributes;  // one for each input: tt.divisibility ...
  Dictionary attributes;                        // noinline ...
  Region body;                                  // empty for a declaration
  Location location;

  bool is_public() const { return visibility == "public"; }
};

struct Module {
  std::vector<std::unique_ptr<Function>> functions;
  Dictionary attributes;
  Location location;
  std::deque<Value> values;  // owns every value; values[i].id == i
  int operation_count = 0;

  /// The function of this name, or null.
  const Function* find(std::string_view function_name) const;
  /// The one public function: the kernel. Null when there is none or more than one.
  const Function* kernel() const;
};

/// Calls `visit(const Operation&)` for each operation of the region, outer before inner.
template <class Visit>
void walk(const Region& region, Visit&& visit) {
  for (const auto& block : region.blocks) {
    for (const auto& operation : block->operations) {
      visit(static_cast<const Operation&>(*operation));
      for (const auto& inner : operation->regions) walk(*inner, visit);
    }
  }
}

}  // namespace ksplit::ttir
