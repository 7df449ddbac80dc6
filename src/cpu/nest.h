// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "cpu/context.h"
#include "ttir/ir.h"

namespace ksplit::cpu {

/// Something that a nest does for each of its lanes, and for which it is there.
struct Root {
  enum class Kind {
    store,      // tt.store
    keep,       // writes `value` to the buffer `target`
    reduce,     // tt.reduce; results go to `targets`
    atomic,     // tt.atomic_rmw, tt.atomic_cas; the old values go to `target` unless it is empty
    histogram,  // tt.histogram, counted into `target`
    print,      // tt.print
    assertion,  // tt.assert
  };
  Kind kind;
  const ttir::Operation* op = nullptr;  // null for `keep`
  const ttir::Value* value = nullptr;   // of `keep`
  std::vector<std::string> targets = {};
};

/// A loop nest over all lanes of a shape.
struct Nest {
  std::vector<std::int64_t> shape;  // without axes of length 1
  std::vector<Root> roots;
  std::vector<const ttir::Value*> homed;  // computed here first, lane by lane
  bool stores = false;                    // holds a store root; at most one
};

/// Whether the load's memory can be compared with the store's at run time, so that one loop may do
/// both (see keep_ahead in runtime/kernel_loops.h). Otherwise the load has to be finished first.
bool can_load_beside(FunctionContext& context, const ttir::Operation& load,
                     const ttir::Operation& store);

/// Writes the nest to context.out. `next` is the one that runs after it, null if there is none or
/// it is not known yet.
Status write_nest(FunctionContext& context, const Nest& nest, const Nest* next);

}  // namespace ksplit::cpu
