// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/result.h"
#include "cpu/context.h"
#include "cpu/schedule.h"
#include "ttir/ir.h"

namespace ksplit::cpu {

/// A function of the kernel as C++: what it needs to be called, and what it costs.
struct FunctionText {
  std::string name;
  std::int64_t frame_bytes = 0;  // with what it calls
  std::int64_t cost = 0;
};

/// The functions written so far, so that each is written once, before its callers.
using WrittenFunctions = std::unordered_map<const ttir::Function*, FunctionText>;

/// Writes a function to `file`: one block after the other, structured control flow as C++'s own.
///
///   scf.for with iter_args   a `for` over variables; tensors alternate between two buffers, and
///                            pointers that only advance become one 64-bit offset
///   scf.if, scf.while        `if`, `for (;;)` with variables and buffers that take the results
///   several blocks           a `switch` in a loop, one case for each block
class FunctionWriter {
 public:
  FunctionWriter(ModuleContext& shared, const ttir::Function& function, Text& file,
                 WrittenFunctions& written);

  Result<FunctionText> write();

 private:
  /// What to do with the values that a block ends with.
  using Ending = std::function<Status(const ttir::Operation& terminator, Schedule& schedule)>;

  Status write_block(const ttir::Block& block, const Ending& ending);
  Status write_blocks();
  Status statement(const ttir::Operation& op, Schedule& schedule);
  Status scalar_statement(const ttir::Operation& op, Schedule& schedule);
  Result<std::string> scalar_place(const ttir::Operation& op);
  Status scalar_load(const ttir::Operation& op, Schedule& schedule);
  Status scalar_store(const ttir::Operation& op, Schedule& schedule);
  Status reduce(const ttir::Operation& op, Schedule& schedule);
  Status alone(Root::Kind kind, const ttir::Operation& op, Schedule& schedule);
  Status report(Root::Kind kind, const ttir::Operation& op, Schedule& schedule);
  Status function_call(const ttir::Operation& op, Schedule& schedule);
  bool is_across(const ttir::Value& scalar) const;
  void define(const ttir::Value& scalar, const std::string& expression);
  std::string declare(const ttir::Value& scalar);

  // collective.cpp: operations on whole tensors
  Status dot(const ttir::Operation& op, Schedule& schedule);
  Status scan(const ttir::Operation& op, Schedule& schedule);
  Status unsplat(const ttir::Operation& op, Schedule& schedule);
  std::string converted(const ttir::Value& value, const ttir::Type& element);

  // control.cpp
  struct Carried;
  Status for_loop(const ttir::Operation& op, Schedule& schedule);
  Status if_else(const ttir::Operation& op, Schedule& schedule);
  Status while_loop(const ttir::Operation& op, Schedule& schedule);
  Status branch(const ttir::Operation& op, Schedule& schedule);
  Status enter_regions(const ttir::Operation& op, Schedule& schedule);
  std::vector<bool> affine_arguments(const ttir::Operation& loop);
  Status carry(const ttir::Value& from, Carried& to, Schedule& schedule);
  void leave(const ttir::Value& result, const ttir::Value& argument, const Carried& carried);
  void advance(std::vector<Carried>& carried);
  std::vector<std::string> result_places(const ttir::Operation& op, Schedule& schedule);
  Status give(std::span<ttir::Value* const> values, const std::vector<std::string>& places,
              Schedule& schedule);

  ModuleContext& shared_;
  const ttir::Function& function_;
  Text& file_;
  WrittenFunctions& written_;
  FunctionContext context_;
  std::int64_t callee_frame_ = 0;
  std::string frame_constant_;
  std::vector<const ttir::Value*> across_;  // scalars that several blocks may use
  std::vector<std::string> result_names_;   // of the function
};

}  // namespace ksplit::cpu
