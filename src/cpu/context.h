// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cpu/affine.h"
#include "cpu/generate.h"
#include "cpu/text.h"
#include "ttir/ir.h"

namespace ksplit::cpu {

/// Scratch memory of one program, laid out at compile time.
class Frame {
 public:
  static constexpr std::int64_t kAlignment = 64;

  /// The offset of `bytes` unused bytes; they stay in use until release().
  std::int64_t allocate(std::int64_t bytes);
  void release(std::int64_t offset) { used_.erase(offset); }
  /// Bytes that every allocation so far fits in.
  std::int64_t size() const { return size_; }

 private:
  std::map<std::int64_t, std::int64_t> used_;  // offset -> bytes
  std::int64_t size_ = 0;
};

/// What all functions of a kernel share while its source is written.
struct ModuleContext {
  const ttir::Module& module;
  const GenerateOptions& options;
  std::string kernel_name;
  Text helpers;                                        // combine functions, constant arrays, sites
  std::unordered_set<std::string> names;               // at file level
  std::unordered_map<std::string, std::string> sites;  // initialiser -> name

  std::string unique(std::string_view base);
  /// The name of a Site for the operation's line; `what` is its text member.
  std::string site(const ttir::Operation& op, std::string_view what);
};

/// State of one function while its source is written.
class FunctionContext {
 public:
  FunctionContext(ModuleContext& shared, const ttir::Function& function);

  ModuleContext& shared;
  const ttir::Function& function;
  AffineAnalysis affine;
  Frame frame;
  Text* out = nullptr;     // where statements go
  Text declarations;       // of scratch memory, at the function's beginning
  std::int64_t cost = 0;   // of what was written so far, in element operations
  std::int64_t times = 1;  // how often what is written now is thought to run

  /// A C++ identifier for the value: its name in the source where that is one.
  std::string name(const ttir::Value& value);
  /// Lets a value go by the name of a variable that holds it.
  void set_name(const ttir::Value& value, const std::string& name) { value_names_[&value] = name; }
  /// The name of a scalar, or the literal of a constant.
  std::string scalar(const ttir::Value& value);
  /// A new identifier in this function.
  std::string unique(std::string_view base);

  /// Scratch memory for a tensor's elements: the name of a pointer, declared in `declarations`.
  std::string allocate(const ttir::Value& value);
  std::string allocate(const ttir::Type& tensor, std::string_view name);
  void release(const std::string& buffer);

  /// Has allocate(value) give this buffer, which is not to be released.
  void prefer(const ttir::Value& value, const std::string& buffer) { preferred_[&value] = buffer; }
  bool prefers(const ttir::Value& value, const std::string& buffer) const {
    const auto found = preferred_.find(&value);
    return found != preferred_.end() && found->second == buffer;
  }

  /// Where a tensor's elements are, or null.
  const std::string* buffer(const ttir::Value& value) const;
  void set_buffer(const ttir::Value& value, std::string name) {
    buffers_[&value] = std::move(name);
  }
  void drop_buffer(const ttir::Value& value) { buffers_.erase(&value); }

  using Buffers = std::unordered_map<const ttir::Value*, std::string>;
  const Buffers& buffers() const { return buffers_; }
  /// Forgets the buffers set since `before`, save those of the block's own values: what else it
  /// computed into one is there only where the block has run, and only until it releases its own.
  void leave(const ttir::Block& block, const Buffers& before);

  /// The kernel's argument that a pointer is derived from, or -1 where that can't be told.
  int argument_behind(const ttir::Value& pointer) const;

  /// Whether a tensor is computed anew wherever it is needed: index arithmetic, masks, constants.
  /// Such tensors depend on no memory, and are small expressions.
  bool is_virtual(const ttir::Value& value);

  /// For a loop's argument or result that has an affine form and therefore no buffer.
  void set_virtual(const ttir::Value& value) { recompute_cost_[&value] = 0; }

 private:
  int recompute_cost(const ttir::Value& value);

  std::unordered_map<const ttir::Value*, std::string> value_names_;
  std::unordered_set<std::string> names_;
  Buffers buffers_;
  std::unordered_map<const ttir::Value*, std::string> preferred_;
  std::unordered_map<std::string, std::int64_t> offsets_;  // buffer name -> place in the frame
  std::unordered_map<const ttir::Value*, int> recompute_cost_;
};

/// The shape without axes of length 1: two tensors that agree in it have the same lanes.
std::vector<std::int64_t> squeezed(const ttir::Type& type);

}  // namespace ksplit::cpu
