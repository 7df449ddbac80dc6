// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/result.h"

namespace ksplit::ttir {

/// Where an operation or value comes from: an immutable tree, shared between operations.
///
///   loc("k.py":12:8)                     file
///   loc("x"(loc("k.py":12:8)))           named: the Python variable, and where
///   loc(callsite("a.py":3:4 at "k.py":12:8))   inlined: in the callee, called from
///   loc(fused["a.py":3:4, "k.py":12:8])  several at once
class Location {
 public:
  /// Lines count from 1 and columns from 0, as in the IR's text; span() gives columns from 1.
  struct File {
    std::string path;
    int line;
    int column;
    bool operator==(const File&) const = default;
  };
  struct Named;
  struct CallSite;
  struct Fused;
  using Form = std::variant<std::monostate, File, Named, CallSite, Fused>;

  /// Trees deeper than this are refused by the parser, so walking one by recursion is safe.
  static constexpr int kMaxDepth = 512;

  Location() = default;  // unknown
  static Location file(std::string path, int line, int column);
  static Location named(std::string name, Location child);
  static Location call_site(Location callee, Location caller);
  static Location fused(std::vector<Location> parts, std::string metadata = {});

  bool is_unknown() const { return node_ == nullptr; }
  int depth() const;
  bool has_span() const;
  const Form& form() const;
  bool operator==(const Location& other) const;
  /// Equal for locations that share their tree; usable as a map key.
  const void* identity() const { return node_.get(); }

  /// The line of source that was compiled: through names, into the callee of a call site, the
  /// first known part of a fused location. Empty when unknown.
  std::optional<SourceSpan> span() const;
  /// The same line, then the line of the call that it was inlined through, and so on outward.
  std::vector<SourceSpan> call_stack() const;
  /// The outermost Python variable name on the way to span(), or empty.
  std::string variable() const;

 private:
  struct Node;
  explicit Location(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

struct Location::Named {
  std::string name;
  Location child;
};
struct Location::CallSite {
  Location callee;
  Location caller;
};
struct Location::Fused {
  std::vector<Location> parts;
  std::string metadata;  // text between the angle brackets, or empty
};

}  // namespace ksplit::ttir
