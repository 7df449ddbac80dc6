// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ttir/ir.h"
#include "ttir/op_table.h"
#include "ttir/syntax.h"

namespace ksplit::ttir {

/// Reads a module: functions, regions, blocks and operations, and which value each name means.
class ModuleParser : public SyntaxReader {
 public:
  ModuleParser(std::string_view text, std::string_view name) : SyntaxReader(text, name) {}

  Result<Module> read_module();

 private:
  /// A value as it is used in the text; it may be defined further down.
  struct Use {
    std::string name;
    int index = 0;
    std::size_t offset = 0;
  };
  struct ResultName {
    std::string name;
    std::size_t offset = 0;
    std::size_t count = 1;
  };
  struct BranchUse {
    Block* block = nullptr;
    std::vector<Use> arguments;
    std::vector<Type> types;
  };
  /// Names of one region. `awaited` are uses seen before their definition, by name and index.
  struct Scope {
    struct Awaited {
      Value* value;
      std::size_t offset;
    };
    std::unordered_map<std::string, std::vector<Value*>> defined;
    std::map<std::pair<std::string, int>, Awaited> awaited;
  };
  /// Blocks of one region by label; one that is only referred to so far is kept here.
  struct Labels {
    struct Entry {
      Block* block = nullptr;
      std::unique_ptr<Block> undefined;
      std::size_t offset = 0;
    };
    std::unordered_map<std::string, Entry> blocks;
  };
  /// What the items of a compact form leave behind.
  struct Reading {
    const OpInfo* info = nullptr;
    std::vector<std::vector<Use>> groups;
    std::vector<BranchUse> branches;
    TypeBindings bindings;
    std::optional<Type> function_type;
    std::size_t begin = 0;
  };

  // Modules and functions (parser.cpp).
  Status read_module_body();
  Status read_generic_module();
  Status read_function();
  Status read_generic_function();
  Status read_arguments(Function& function, std::vector<Value*>& values);
  Status skip_aliases();

  // Regions and blocks (parser.cpp).
  Status read_region(Region& region, std::vector<Value*> entry_arguments);
  Status read_blocks(Region& region, std::vector<Value*> entry_arguments);
  Status read_block_label(Region& region);
  Status read_operations(Block& block);
  Block* block_named(const Token& label);
  Block& append_block(Region& region, std::unique_ptr<Block> block);

  // Operations (parse_operation.cpp).
  Status read_operation(Block& block);
  Status read_generic(Operation& op, const std::vector<ResultName>& results);
  Status read_compact(Operation& op, const std::vector<ResultName>& results);
  Result<std::vector<ResultName>> read_result_names();
  Status read_generic_successors(std::vector<BranchUse>& branches);
  Status split_generic_operands(Operation& op, std::vector<BranchUse>& branches,
                                std::vector<Use>& uses, std::vector<Type>& types);
  Status define_results(Operation& op, const std::vector<ResultName>& names,
                        const std::vector<Type>& types);
  tl::unexpected<Error> not_covered(std::string_view name, std::size_t offset);

  // Compact forms (parse_form.cpp).
  Status read_items(Operation& op, const std::vector<FormItem>& items, Reading& reading);
  Status read_item(Operation& op, const FormItem& item, Reading& reading);
  Status read_group(Operation& op, const FormItem& item, Reading& reading);
  Status read_word_attribute(Operation& op, const std::string& name, Reading& reading);
  Status read_flags(Operation& op, const FormItem& item);
  Status read_constant(Operation& op, Reading& reading);
  Status read_type_list_for(char variable, Reading& reading);
  Status read_select_type(Reading& reading);
  Result<BranchUse> read_branch();
  Status resolve_form(Operation& op, const std::vector<ResultName>& results, Reading& reading);
  Result<std::vector<Type>> result_types(const Operation& op, const Reading& reading);

  // Structured control flow (parse_control.cpp).
  Status read_custom(Operation& op, const std::vector<ResultName>& results);
  Status read_for(Operation& op, const std::vector<ResultName>& results);
  Status read_if(Operation& op, const std::vector<ResultName>& results);
  Status read_while(Operation& op, const std::vector<ResultName>& results);
  Status read_trailing_attributes(Operation& op);
  Status read_assignments(std::vector<Use>& arguments, std::vector<Use>& initial);
  Region& add_region(Operation& op);
  Status append_operands(Operation& op, const std::vector<Use>& uses,
                         const std::vector<Type>& types);
  Status read_region_with(Operation& op, const std::vector<Use>& names,
                          const std::vector<Type>& types);
  void add_implicit_yield(Region& region);

  // Values (parser.cpp).
  Value* new_value(std::string name, Type type);
  Result<Use> read_use();
  Result<std::vector<Use>> read_uses();
  Value* lookup(const Use& use) const;
  Result<Value*> resolve(const Use& use, const std::optional<Type>& type);
  Result<std::vector<Value*>> define(const ResultName& name, std::span<const Type> types);
  Result<Value*> define_argument(const Use& name, Type type);
  Status read_block_arguments(Block& block);
  void push_scope() { scopes_.emplace_back(); }
  void pop_scope();
  Status check_all_defined() const;

  Module module_;
  std::vector<Scope> scopes_;
  std::vector<Labels> labels_;
};

/// Connects what the parser leaves out: users of values, parents of blocks and regions, indices.
void connect(Module& module);

}  // namespace ksplit::ttir
