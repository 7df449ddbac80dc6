// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ttir/module_parser.h"

// The part of ModuleParser that reads what operations have in common, and the generic syntax.
namespace ksplit::ttir {

Status ModuleParser::read_operation(Block& block) {
  KSPLIT_TRY(const auto results, read_result_names());
  auto owned = std::make_unique<Operation>();
  Operation& op = *owned;
  op.id = module_.operation_count++;
  if (peek().is(Token::Kind::string)) {
    KSPLIT_TRY_STATUS(read_generic(op, results));
  } else if (peek().is(Token::Kind::word)) {
    KSPLIT_TRY_STATUS(read_compact(op, results));
  } else {
    return unexpected("an operation");
  }
  block.operations.push_back(std::move(owned));
  return {};
}

// `%a, %b:2 =`, or nothing.
Result<std::vector<ModuleParser::ResultName>> ModuleParser::read_result_names() {
  std::vector<ResultName> names;
  if (!peek().is(Token::Kind::value)) return names;
  do {
    KSPLIT_TRY(const Use use, read_use());
    ResultName name{use.name, use.offset};
    if (take_if(":")) {
      KSPLIT_TRY(const int count, read_small_number("a number of results"));
      name.count = static_cast<std::size_t>(count);
    }
    names.push_back(std::move(name));
  } while (take_if(","));
  KSPLIT_TRY_STATUS(expect("="));
  return names;
}

Status ModuleParser::define_results(Operation& op, const std::vector<ResultName>& names,
                                    const std::vector<Type>& types) {
  std::size_t named = 0;
  for (const ResultName& name : names) named += name.count;
  const std::size_t offset = names.empty() ? taken_end() : names.front().offset;
  if (named != types.size() && !names.empty()) {
    return malformed(
        fmt::format("'{}' has {} results, but {} are named", op.name, types.size(), named), offset);
  }
  if (names.empty()) {  // results that nothing uses need no name
    for (const Type& type : types) op.results.push_back(new_value({}, type));
    return {};
  }
  std::size_t first = 0;
  for (const ResultName& name : names) {
    const auto part = std::span(types).subspan(first, name.count);
    KSPLIT_TRY(const auto values, define(name, part));
    op.results.insert(op.results.end(), values.begin(), values.end());
    first += name.count;
  }
  return {};
}

// Names the line of the kernel too, when the rest of the text's line ends in its location.
tl::unexpected<Error> ModuleParser::not_covered(std::string_view name, std::size_t offset) {
  const std::string_view rest = text().substr(offset, text().find('\n', offset) - offset);
  std::string place;
  if (const auto at = rest.rfind(" loc("); at != rest.npos) {
    seek(offset + at);
    if (const auto location = read_location()) {
      if (const auto span = location->span()) {
        place = fmt::format(" ({}:{}:{})", span->file, span->line, span->column);
      }
    }
  }
  return unsupported(fmt::format("operation '{}' is not covered{}", name, place), offset);
}

namespace {

// A yield that the text leaves out is where its operation is, which is known only after it.
void place_implied_yield(Region& region, const Location& location) {
  if (region.empty() || region.blocks.back()->operations.empty()) return;
  Operation& last = *region.blocks.back()->operations.back();
  if (last.is("scf.yield") && last.operands.empty() && last.location.is_unknown()) {
    last.location = location;
  }
}

}  // namespace

Status ModuleParser::read_compact(Operation& op, const std::vector<ResultName>& results) {
  const Token name = take();
  op.name = name.text;
  op.info = find_op(op.name);
  if (op.info == nullptr) return not_covered(name.text, name.begin);
  if (op.info->custom) {
    KSPLIT_TRY_STATUS(read_custom(op, results));
  } else {
    if (op.info->form.empty()) {
      return malformed(fmt::format("'{}' needs the generic syntax", op.name), name.begin);
    }
    Reading reading;
    reading.info = op.info;
    reading.groups.resize(op.info->signature.operands.size());
    reading.branches.resize(static_cast<std::size_t>(op.info->successors));
    reading.begin = name.begin;
    KSPLIT_TRY_STATUS(read_items(op, op.info->form, reading));
    KSPLIT_TRY_STATUS(resolve_form(op, results, reading));
  }
  normalise_attributes(*op.info, op.attributes);
  KSPLIT_TRY(op.location, read_trailing_location());
  for (const auto& region : op.regions) place_implied_yield(*region, op.location);
  return {};
}

// "name"(operands)[successors] <{properties}> ({regions}) {attributes} : (types) -> types
Status ModuleParser::read_generic(Operation& op, const std::vector<ResultName>& results) {
  const Token name = take();
  op.name = unescape(name.text);
  op.info = find_op(op.name);
  KSPLIT_TRY_STATUS(expect("("));
  KSPLIT_TRY(auto uses, read_uses());
  KSPLIT_TRY_STATUS(expect(")"));
  std::vector<BranchUse> branches;
  KSPLIT_TRY_STATUS(read_generic_successors(branches));
  if (take_if("<")) {
    KSPLIT_TRY(op.attributes, read_dictionary());
    KSPLIT_TRY_STATUS(expect(">"));
  }
  if (take_if("(")) {
    do {
      KSPLIT_TRY_STATUS(read_region(add_region(op), {}));
    } while (take_if(","));
    KSPLIT_TRY_STATUS(expect(")"));
  }
  if (peek().is("{")) {
    KSPLIT_TRY(const Dictionary more, read_dictionary());
    for (const NamedAttribute& entry : more.entries) op.attributes.set(entry.name, entry.value);
  }
  KSPLIT_TRY_STATUS(expect(":"));
  KSPLIT_TRY(const Type type, read_function_type());

  std::vector<Type> types(type.inputs().begin(), type.inputs().end());
  if (types.size() != uses.size()) {
    return malformed(
        fmt::format("'{}' has {} operands but {} types", op.name, uses.size(), types.size()),
        name.begin);
  }
  KSPLIT_TRY_STATUS(split_generic_operands(op, branches, uses, types));
  for (std::size_t i = 0; i < uses.size(); ++i) {
    KSPLIT_TRY(Value * value, resolve(uses[i], types[i]));
    op.operands.push_back(value);
  }
  for (const BranchUse& branch : branches) {
    Successor successor{branch.block, {}};
    for (std::size_t i = 0; i < branch.arguments.size(); ++i) {
      KSPLIT_TRY(Value * value, resolve(branch.arguments[i], branch.types[i]));
      successor.arguments.push_back(value);
    }
    op.successors.push_back(std::move(successor));
  }
  const std::vector<Type> result_types(type.results().begin(), type.results().end());
  KSPLIT_TRY_STATUS(define_results(op, results, result_types));
  if (op.info != nullptr) normalise_attributes(*op.info, op.attributes);
  KSPLIT_TRY(op.location, read_trailing_location());
  return {};
}

Status ModuleParser::read_generic_successors(std::vector<BranchUse>& branches) {
  if (!take_if("[")) return {};
  do {
    KSPLIT_TRY(const Token label, expect(Token::Kind::block, "a block"));
    BranchUse branch;
    branch.block = block_named(label);
    branches.push_back(std::move(branch));
  } while (take_if(","));
  return expect("]");
}

// Operands stand in one list: groups one after the other, then the successors' arguments. The
// attribute operandSegmentSizes has their sizes where the count alone does not tell.
Status ModuleParser::split_generic_operands(Operation& op, std::vector<BranchUse>& branches,
                                            std::vector<Use>& uses, std::vector<Type>& types) {
  std::vector<int> sizes;
  const std::size_t groups = op.info != nullptr ? op.info->signature.operands.size() : 0;
  if (const Attribute* given = op.attribute("operandSegmentSizes")) {
    if (const auto* array = given->as<DenseArray>()) {
      for (const std::int64_t size : array->values) sizes.push_back(static_cast<int>(size));
    }
    op.attributes.erase("operandSegmentSizes");
  } else if (branches.size() == 1) {
    sizes.assign(groups, 1);
    sizes.push_back(static_cast<int>(uses.size() - std::min(uses.size(), groups)));
  } else if (op.info == nullptr) {
    return {};
  } else if (auto counted = segments_for(*op.info, uses.size())) {
    sizes = std::move(*counted);
  }
  std::size_t total = 0;
  bool negative = false;
  for (const int size : sizes) {
    negative = negative || size < 0;
    total += static_cast<std::size_t>(size);
  }
  if (negative || total != uses.size() ||
      (op.info != nullptr && sizes.size() != groups + branches.size())) {
    return malformed(fmt::format("the operands of '{}' don't fit its groups", op.name),
                     taken_end());
  }
  op.segments.assign(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(groups));
  std::size_t kept = 0;
  for (const int size : op.segments) kept += static_cast<std::size_t>(size);
  std::size_t at = kept;
  for (std::size_t b = 0; b < branches.size() && groups + b < sizes.size(); ++b) {
    for (int i = 0; i < sizes[groups + b]; ++i, ++at) {
      branches[b].arguments.push_back(std::move(uses[at]));
      branches[b].types.push_back(std::move(types[at]));
    }
  }
  uses.resize(kept);
  types.resize(kept);
  return {};
}

}  // namespace ksplit::ttir
