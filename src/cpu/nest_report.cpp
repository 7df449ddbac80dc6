// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cpu/nest_writer.h"
#include "cpu/scalar_type.h"

namespace ksplit::cpu {

using ttir::Operation;
using ttir::Type;
using ttir::Value;

namespace {

/// A PrintItem's initialiser.
std::string print_item(const Type& type, const std::string& text, bool is_signed, bool hex) {
  const int bits = type.bit_width();
  if (type.is_float()) {
    const std::string number =
        type.bit_width() == 64 ? text : fmt::format("double({})", widen(type, text));
    return fmt::format("{{PrintKind::floating, {}, {:d}, 0, {}}}", bits, hex, number);
  }
  if (type.is_pointer()) {
    return fmt::format("{{PrintKind::pointer, 64, 1, reinterpret_cast<int64_t>({}), 0}}", text);
  }
  const bool negative = is_signed && bits > 1;
  return fmt::format("{{PrintKind::{}, {}, {:d}, int64_t({}), 0}}",
                     negative ? "signed_integer" : "unsigned_integer", bits, hex,
                     negative ? text : as_unsigned(type, text));
}

}  // namespace

Status NestWriter::print(const Root& root) {
  const Operation& op = *root.op;
  const Value& shown = *root.value;
  const Indices at = own_indices(shown.type);
  KSPLIT_TRY(const Slot slot, value(shown, at));
  std::vector<std::string> index;
  for (const Index& i : at) index.push_back(i.text);
  if (index.empty()) index.emplace_back("0");
  std::size_t position = 0;
  while (op.operands[position] != &shown) ++position;
  const auto* attribute = op.attribute("isSigned");
  const auto* flags = attribute == nullptr ? nullptr : attribute->as<ttir::DenseArray>();
  const bool is_signed =
      flags != nullptr && position < flags->values.size() && flags->values[position] != 0;
  Text& body = before_.back();
  body.open("");
  body.line(fmt::format("const int64_t index[] = {{{}}};", fmt::join(index, ", ")));
  body.line(
      fmt::format("const PrintItem item = {};",
                  print_item(shown.type.element(), slot.text, is_signed, op.integer("hex") != 0)));
  body.line(fmt::format("p.launch->services->print(p.id, &{}, index, {}, &item, 1);",
                        context_.shared.site(op, op.keyword("prefix")), at.size()));
  body.close();
  return {};
}

Status NestWriter::assertion(const Root& root) {
  const Operation& op = *root.op;
  KSPLIT_TRY(const Slot slot, value(*root.value, own_indices(root.value->type)));
  before_.back().line(
      fmt::format("if (!({})) p.launch->services->assert_fault(p.launch, p.id, &{});", slot.text,
                  context_.shared.site(op, op.keyword("message"))));
  return {};
}

}  // namespace ksplit::cpu
