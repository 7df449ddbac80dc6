// SPDX-License-Identifier: Apache-2.0
#include "ttir/location.h"

#include <fmt/format.h>

#include <algorithm>

namespace ksplit::ttir {

struct Location::Node {
  Form form;
  int depth = 1;
  bool has_span = false;  // kept, since trees share parts and a search could be exponential
};

Location Location::file(std::string path, int line, int column) {
  return Location(std::make_shared<Node>(Node{File{std::move(path), line, column}, 1, true}));
}

Location Location::named(std::string name, Location child) {
  const int depth = child.depth() + 1;
  const bool has_span = child.has_span();
  return Location(
      std::make_shared<Node>(Node{Named{std::move(name), std::move(child)}, depth, has_span}));
}

Location Location::call_site(Location callee, Location caller) {
  const int depth = std::max(callee.depth(), caller.depth()) + 1;
  const bool has_span = callee.has_span();
  return Location(std::make_shared<Node>(
      Node{CallSite{std::move(callee), std::move(caller)}, depth, has_span}));
}

Location Location::fused(std::vector<Location> parts, std::string metadata) {
  int depth = 0;
  bool has_span = false;
  for (const Location& part : parts) {
    depth = std::max(depth, part.depth());
    has_span = has_span || part.has_span();
  }
  return Location(std::make_shared<Node>(
      Node{Fused{std::move(parts), std::move(metadata)}, depth + 1, has_span}));
}

bool Location::has_span() const {
  return node_ && node_->has_span;
}

int Location::depth() const {
  return node_ ? node_->depth : 0;
}

const Location::Form& Location::form() const {
  static const Form kUnknown;
  return node_ ? node_->form : kUnknown;
}

bool Location::operator==(const Location& other) const {
  if (node_ == other.node_) return true;
  if (!node_ || !other.node_ || node_->depth != other.node_->depth) return false;
  const Form& a = form();
  const Form& b = other.form();
  if (a.index() != b.index()) return false;
  if (const auto* file = std::get_if<File>(&a)) return *file == std::get<File>(b);
  if (const auto* named = std::get_if<Named>(&a)) {
    return named->name == std::get<Named>(b).name && named->child == std::get<Named>(b).child;
  }
  if (const auto* site = std::get_if<CallSite>(&a)) {
    const auto& site_b = std::get<CallSite>(b);
    return site->callee == site_b.callee && site->caller == site_b.caller;
  }
  const auto& fused_a = std::get<Fused>(a);
  const auto& fused_b = std::get<Fused>(b);
  return fused_a.metadata == fused_b.metadata && fused_a.parts == fused_b.parts;
}

std::optional<SourceSpan> Location::span() const {
  const Form& f = form();
  if (const auto* file = std::get_if<File>(&f)) {
    return SourceSpan{file->path, file->line, file->column + 1};
  }
  if (const auto* named = std::get_if<Named>(&f)) return named->child.span();
  if (const auto* site = std::get_if<CallSite>(&f)) return site->callee.span();
  if (const auto* fused = std::get_if<Fused>(&f)) {
    for (const Location& part : fused->parts) {
      if (part.has_span()) return part.span();
    }
  }
  return std::nullopt;
}

namespace {

// Trees may share parts, so their walk can be longer than they are large: the cap ends it.
void append_stack(const Location& location, std::vector<SourceSpan>& stack) {
  if (stack.size() >= static_cast<std::size_t>(Location::kMaxDepth)) return;
  const Location::Form& form = location.form();
  if (const auto* file = std::get_if<Location::File>(&form)) {
    stack.push_back(SourceSpan{file->path, file->line, file->column + 1});
  } else if (const auto* named = std::get_if<Location::Named>(&form)) {
    append_stack(named->child, stack);
  } else if (const auto* site = std::get_if<Location::CallSite>(&form)) {
    append_stack(site->callee, stack);
    append_stack(site->caller, stack);
  } else if (const auto* fused = std::get_if<Location::Fused>(&form)) {
    const auto known = std::find_if(fused->parts.begin(), fused->parts.end(),
                                    [](const Location& part) { return part.has_span(); });
    if (known != fused->parts.end()) append_stack(*known, stack);
  }
}

}  // namespace

std::vector<SourceSpan> Location::call_stack() const {
  std::vector<SourceSpan> stack;
  append_stack(*this, stack);
  return stack;
}

std::string Location::variable() const {
  const Form& f = form();
  if (const auto* named = std::get_if<Named>(&f)) return named->name;
  if (const auto* site = std::get_if<CallSite>(&f)) return site->callee.variable();
  if (const auto* fused = std::get_if<Fused>(&f)) {
    return fused->parts.empty() ? std::string() : fused->parts.front().variable();
  }
  return {};
}

}  // namespace ksplit::ttir
