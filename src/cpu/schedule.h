// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/result.h"
#include "cpu/context.h"
#include "cpu/nest.h"
#include "ttir/ir.h"

namespace ksplit::cpu {

/// Decides which operations of one block share a loop nest.
///
/// The block's operations are given in order. What must happen (stores, reductions ...) is a *root*
/// of a nest; pure tensor operations and loads are computed in the first nest that needs them,
/// their *home*, and are kept in a buffer if a later nest needs them too:
///
///   x = load                 nest 0 over [N]:  x, kept;  m = max over lanes of x
///   m = max(x)               nest 1 over [N]:  e = exp(x - m), kept;  s = sum of e
///   e = exp(x - m)           nest 2 over [N]:  store e / s
///   s = sum(e)
///   store e / s
///
/// Nests stay open, and so can take further roots, until something needs their results.
///
/// Promise: memory is accessed as if the operations ran one after the other, each for all its
/// lanes.
class Schedule {
 public:
  Schedule(FunctionContext& context, const ttir::Block& block);

  /// Whether an operation on tensors is computed lane by lane in whatever nest needs it.
  static bool is_lazy(const ttir::Operation& op);

  /// The operation about to be handled; what stands before it is done or placed.
  void arrive(const ttir::Operation& op);

  /// Notes a tensor load. It happens in the first nest that needs it, but before any later store.
  void add_load(const ttir::Operation& load);
  void add_store(const ttir::Operation& store);
  /// `targets`: for each result, the scalar variable or buffer that takes it.
  void add_reduce(const ttir::Operation& reduce, std::vector<std::string> targets);

  /// A root whose lanes must run in order, beside nothing else. Everything so far is written first.
  Status run_alone(Root root);

  /// Has the tensor's elements written to its buffer, or to `target` where one is given, by the
  /// next flush at the latest.
  void keep(const ttir::Value& value);
  void keep_in(const ttir::Value& value, const std::string& target) { place_keep(value, target); }

  /// Whether the value is being written to a buffer of its own.
  bool is_kept(const ttir::Value& value) const { return targets_.contains(&value); }

  /// Has a value computed for a loop's next iteration written to `other`, or over `argument`, to
  /// `present`, where nothing reads the argument afterwards or at another lane in the same nest.
  /// Gives the buffer chosen.
  std::string keep_next(const ttir::Value& value, const ttir::Value& argument,
                        const std::string& present, const std::string& other);

  /// Says that all that the block's last operation needs has been asked for.
  void conclude() { here_ = static_cast<int>(block_.operations.size()); }

  /// Keeps what the value's affine form is computed from, until the block ends: the form may be
  /// used where the value itself is not.
  void pin_addends(const ttir::Value& value);

  /// Makes `buffer` the value's, to be released once the value is dead.
  void own(const ttir::Value& value, const std::string& buffer) {
    own_.emplace_back(&value, buffer);
  }

  bool has_open_store() const { return last_store_ >= 0; }

  /// Writes a nest if it gives the scalar.
  Status need_scalar(const ttir::Value& scalar);

  /// Has every load that was noted and is still needed done before what follows.
  void finish_loads();

  /// Writes all open nests.
  Status flush();

  /// Returns the block's own buffers to the frame.
  void release_all();

 private:
  struct Place {
    int nest;
    bool finished_only;  // usable after that nest, not in it
  };

  struct Target {
    std::string buffer;
    int nest;  // that fills it
  };

  /// A value that an operation's lanes are computed from; `whole`: from more than the same lane.
  struct Input {
    const ttir::Value* value;
    bool whole;
  };

  std::vector<Input> inputs(const ttir::Operation& op) const;
  bool is_live(const ttir::Value& value) const;
  const Place* place_of(const ttir::Value& value) const;
  int earliest(const ttir::Value& value, const std::vector<std::int64_t>& shape, bool whole) const;
  void prepare(const ttir::Value& value, const std::vector<std::int64_t>& shape, bool whole);
  void assign(const ttir::Value& value, const std::vector<std::int64_t>& shape, int nest);
  int choose(int first, const std::vector<std::int64_t>& shape, const ttir::Operation* store);
  int add_root(Root root, const std::vector<Input>& needed, const std::vector<std::int64_t>& shape,
               int first);
  bool reads_in(int nest, const ttir::Value& value, const ttir::Value& argument) const;
  bool is_read_after(const ttir::Value& argument, int nest) const;
  int place_keep(const ttir::Value& value, const std::string& target);
  std::vector<const ttir::Operation*> loads_beside(const ttir::Operation& store) const;

  FunctionContext& context_;
  const ttir::Block& block_;
  std::unordered_map<const ttir::Operation*, int> position_;
  int here_ = 0;

  std::vector<Nest> open_;
  std::unordered_map<const ttir::Value*, Place> places_;         // of values in open nests
  std::unordered_map<const ttir::Value*, Target> targets_;       // buffers to be filled
  std::vector<const ttir::Operation*> loads_;                    // noted, without a home
  int last_store_ = -1;                                          // nest of the last store
  std::vector<std::pair<const ttir::Value*, std::string>> own_;  // buffers of this block
  std::unordered_set<const ttir::Value*> pinned_;                // stay until the block ends
};

}  // namespace ksplit::cpu
