// SPDX-License-Identifier: Apache-2.0
#include "ttir/op_rows.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/check.h"

namespace ksplit::ttir {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

bool is_variable(std::string_view word) {
  return word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z';
}

TypeClass class_named(std::string_view name) {
  static const std::unordered_map<std::string_view, TypeClass> kClasses = {
      {"int", TypeClass::integer},   {"float", TypeClass::floating},
      {"num", TypeClass::number},    {"bool", TypeClass::boolean},
      {"ptr", TypeClass::pointer},   {"desc", TypeClass::descriptor},
      {"tensor", TypeClass::tensor}, {"scalar", TypeClass::scalar}};
  const auto found = kClasses.find(name);
  KSPLIT_CHECK(found != kClasses.end(), "op table: class " + std::string(name));
  return found->second;
}

TypeTerm term_of(std::string_view word) {
  TypeTerm term;
  if (word.back() == '?' || word.back() == '*') {
    term.count = word.back() == '?' ? Count::optional : Count::many;
    word.remove_suffix(1);
  }
  if (const auto at = word.find('~'); at != word.npos) {
    term.shape_of = word[at + 1];
    word = word.substr(0, at);
  }
  if (const auto at = word.find(':'); at != word.npos) {
    term.type_class = class_named(word.substr(at + 1));
    word = word.substr(0, at);
  }
  if (is_variable(word)) {
    term.variable = word[0];
  } else if (const auto at = word.find('('); at != word.npos) {
    const std::string_view function = word.substr(0, at);
    term.variable = word[at + 1];
    term.function = function == "bool"     ? TypeFunction::boolean
                    : function == "loaded" ? TypeFunction::loaded
                    : function == "elem"   ? TypeFunction::element
                                           : TypeFunction::base;
  } else {
    KSPLIT_CHECK(word[0] == 'i', "op table: type " + std::string(word));
    term.function = TypeFunction::fixed;
    term.fixed = Type::integer(std::stoi(std::string(word.substr(1))));
  }
  return term;
}

Signature signature_of(std::string_view text) {
  Signature signature;
  bool results = false;
  for (const std::string& word : words_of(text)) {
    if (word == "->") {
      results = true;
    } else {
      (results ? signature.results : signature.operands).push_back(term_of(word));
    }
  }
  return signature;
}

FormItem optional_item(std::string_view word) {  // after its '?'
  FormItem item;
  if (word.front() == '$') {
    item.kind = FormItem::Kind::bare;
    item.name = word.substr(1);
    return item;
  }
  if (word.front() == ',') {
    item.comma = true;
    word.remove_prefix(1);
  }
  if (const auto at = word.find('='); at != word.npos) {
    item.kind = FormItem::Kind::keyed;
    item.text = word.substr(0, at);
    item.name = word.substr(at + 1);
  } else if (const auto open = word.find('<'); open != word.npos) {
    item.kind = FormItem::Kind::bracketed;
    item.text = word.substr(0, open);
    item.name = word.substr(open + 1, word.size() - open - 2);
  } else {
    item.kind = FormItem::Kind::unit;
    item.name = word;
  }
  return item;
}

FormItem item_of(std::string_view word) {
  using Kind = FormItem::Kind;
  FormItem item;
  item.text = word;
  if (word.size() == 2 && (word[0] == '%' || word[0] == '^')) {
    item.kind = word[0] == '%' ? Kind::operands : Kind::successor;
    item.index = static_cast<std::size_t>(word[1] - '0');
  } else if (word[0] == '$') {
    item.kind = Kind::attribute;
    item.name = word.substr(1);
  } else if (word[0] == '?') {
    item = optional_item(word.substr(1));
  } else if (word == "{}") {
    item.kind = Kind::dictionary;
  } else if (is_variable(word)) {
    item.kind = Kind::type;
    item.variable = word[0];
  } else if (word == "C?T") {
    item.kind = Kind::select_type;
  } else if (word.size() > 2 && word[0] == '<') {
    item.kind = Kind::short_type;
    item.variable = word[1];
    item.text = word.substr(3, word.size() - 4);
  } else if (word == "fn") {
    item.kind = Kind::function_type;
  } else if (word == "constant") {
    item.kind = Kind::constant;
  }
  return item;
}

std::vector<FormItem> form_of(std::string_view text) {
  std::vector<FormItem> form;
  bool inside = false;
  for (const std::string& word : words_of(text)) {
    if (word == "(?") {
      FormItem group;
      group.kind = FormItem::Kind::group;
      form.push_back(std::move(group));
      inside = true;
    } else if (inside && word == ")") {
      inside = false;
    } else {
      (inside ? form.back().items : form).push_back(item_of(word));
    }
  }
  return form;
}

std::vector<AttributeSpec> specs_of(std::string_view text, std::span<const EnumInfo> enums) {
  std::vector<AttributeSpec> specs;
  for (const std::string& word : words_of(text)) {
    AttributeSpec spec;
    std::string_view rest = word;
    if (const auto at = rest.find(':'); at != rest.npos) {
      spec.default_text = rest.substr(at + 1);
      rest = rest.substr(0, at);
    }
    if (const auto at = rest.find('='); at != rest.npos) {
      const std::string_view wanted = rest.substr(at + 1);
      const auto found = std::find_if(enums.begin(), enums.end(),
                                      [&](const EnumInfo& e) { return e.name == wanted; });
      KSPLIT_CHECK(found != enums.end(), "op table: enumeration " + std::string(wanted));
      spec.enumeration = &*found;
      rest = rest.substr(0, at);
    }
    if (rest.back() == '?') {
      spec.optional = true;
      rest.remove_suffix(1);
    }
    spec.name = rest;
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace

OpInfo read_row(const OpRow& row, std::span<const EnumInfo> enumerations) {
  OpInfo info;
  info.name = row.name;
  info.custom = row.form == "custom";
  if (!info.custom) info.form = form_of(row.form);
  info.signature = signature_of(row.signature);
  info.attributes = specs_of(row.attributes, enumerations);
  info.traits = row.traits;
  info.check = row.check;
  info.regions = row.regions;
  info.successors = row.successors;
  return info;
}

}  // namespace ksplit::ttir
