// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/result.h"
#include "cpu/combine.h"
#include "cpu/context.h"
#include "cpu/nest.h"
#include "cpu/text.h"

namespace ksplit::cpu {

/// Writes one nest. Statements are collected by depth: what depends only on the indices of the
/// first k loops goes before loop k, so it runs once for all inner lanes.
///
///   before_[0]   for (i0) { before_[1]   for (i1) { before_[2] }   after_[1] }   after_[0]
class NestWriter {
 public:
  NestWriter(FunctionContext& context, const Nest& nest, const Nest* next);

  Status write();

 private:
  /// An expression (a name or a literal) and the number of loops it lies within.
  struct Slot {
    std::string text;
    int depth = 0;
  };
  /// The index along one axis of a value. `loop` is set where it is just that loop's variable.
  struct Index {
    std::string text = "0";
    int depth = 0;
    int loop = -1;
  };
  using Indices = std::vector<Index>;

  /// A condition for a lane to touch memory: ranges of loop variables, and what else must hold.
  struct Mask {
    std::vector<std::string> upper;  // for each loop: the name of its bound, or empty
    std::vector<Slot> ranges;        // further bounds of the same loops
    std::vector<std::pair<const ttir::Value*, Indices>> others;
    int depth = 0;  // of the bounds
  };
  /// Where a load or store goes: `pointer[index]`, both valid at `depth`.
  struct Address {
    std::string pointer;
    std::string index;
    int depth = 0;
  };
  /// A load or store over a rectangle of memory, named so that the two can be compared at run time.
  struct Rectangle {
    std::string pointer;
    std::string tile;
    std::string identity;  // equal for the same places in the same order
  };

  // nest_writer.cpp: values
  Indices own_indices(const ttir::Type& type) const;
  Result<Slot> value(const ttir::Value& value, const Indices& at);
  Result<Slot> compute(const ttir::Value& value, const Indices& at);
  Result<Slot> shape_operation(const ttir::Operation& op, const ttir::Value& value,
                               const Indices& at);
  Result<Slot> concatenate(const ttir::Operation& op, const Indices& at);
  Result<Slot> reshaped(const ttir::Value& from, const ttir::Type& to, const Indices& at);
  Slot constant(const ttir::Value& value, const Indices& at);
  Result<Slot> affine_value(const ttir::Value& value, const Affine& form, const Indices& at);
  Slot element(const std::string& buffer, const ttir::Type& type, const Indices& at) const;
  Slot temporary(const ttir::Type& type, std::string_view name, const std::string& expression,
                 int depth);
  Index flat(const ttir::Type& type, const Indices& at) const;
  static int depth_of(const Indices& at);

  // nest_memory.cpp: memory
  Result<Slot> load(const ttir::Operation& op, const Indices& at);
  Status store(const Root& root);
  Status atomic(const Root& root);
  Result<Address> address(const ttir::Value& pointer, const Indices& at, std::string_view name);
  Result<Address> affine_address(const ttir::Value& pointer, const Affine& form, const Indices& at,
                                 std::string_view name);
  Result<std::string> place(const ttir::Operation& op, const ttir::Value& pointer,
                            const Address& address);
  Mask mask(std::span<ttir::Value* const> group, const Indices& at);
  void add_conditions(const ttir::Value& condition, const Indices& at, Mask& mask);
  bool add_comparison(const ttir::Operation& op, const Indices& at, Mask& mask);
  Result<Slot> condition(const Mask& mask);
  std::string bound(const Uniform& limit, int loop);
  Status declare_rectangles();
  Result<Address> rectangle_address(const Rectangle& rectangle, const ttir::Value& pointer);
  std::optional<Rectangle> rectangle(const ttir::Operation& op);
  void note_stream(const Address& address);
  void fetch_ahead();

  // nest_reduce.cpp
  Status reduce(const Root& root);
  void reduce_lanes(const ttir::Operation& op, const std::vector<std::string>& values,
                    const std::vector<std::string>& results, const Combine& combine);
  Status histogram(const Root& root);

  // nest_report.cpp: tt.print and tt.assert
  Status print(const Root& root);
  Status assertion(const Root& root);

  Status write_root(const Root& root);
  void assemble();

  FunctionContext& context_;
  const Nest& nest_;
  const Nest* next_;
  int rank_;
  std::vector<Text> before_;
  std::vector<Text> after_;
  std::vector<std::string> lower_;  // of each loop
  std::vector<std::string> upper_;
  bool in_order_ = false;             // lanes may not be reordered
  bool reads_some_ = false;           // lanes read memory under a condition
  int lanes_ = 0;                     // the innermost loop is cut into pieces of this many, or 0
  std::vector<std::string> streams_;  // pointers that the innermost loop reads neighbours behind
  std::map<std::pair<const ttir::Value*, std::string>, Slot> computed_;
  std::map<std::string, std::string> bounds_;  // limit and loop -> name
  std::unordered_map<const ttir::Operation*, Rectangle> rectangles_;
  std::vector<std::string> copies_;  // scratch that only this nest uses
};

}  // namespace ksplit::cpu
