// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "ttir/op_table.h"
#include "ttir/type_list.h"

namespace ksplit::ttir {
namespace {

bool in_class(const Type& type, TypeClass type_class) {
  const Type element = type.element();
  switch (type_class) {
    case TypeClass::any: return true;
    case TypeClass::integer: return element.is_integer() || element.is_index();
    case TypeClass::floating: return element.is_float();
    case TypeClass::number: return element.is_integer() || element.is_float();
    case TypeClass::boolean: return element.is_integer(1);
    case TypeClass::pointer: return element.is_pointer();
    case TypeClass::descriptor: return type.is_descriptor();
    case TypeClass::tensor: return type.is_tensor();
    case TypeClass::scalar: return !type.is_tensor();
  }
  return false;
}

std::string_view words_for(TypeClass type_class) {
  switch (type_class) {
    case TypeClass::integer: return "an integer";
    case TypeClass::floating: return "a float";
    case TypeClass::number: return "a number";
    case TypeClass::boolean: return "i1";
    case TypeClass::pointer: return "a pointer";
    case TypeClass::descriptor: return "a tensor descriptor";
    case TypeClass::tensor: return "a tensor";
    case TypeClass::scalar: return "no tensor";
    case TypeClass::any: break;
  }
  return "a type";
}

bool same_shape(const Type& a, const Type& b) {
  return a.is_tensor() == b.is_tensor() && std::ranges::equal(a.shape(), b.shape());
}

std::string words_for(const std::vector<Type>& types) {
  return types.empty() ? "nothing" : list_of(types);
}

// Plain variables take the types of their groups, or must agree with them.
std::optional<std::string> bind_variable(const TypeTerm& term, const std::vector<Type>& types,
                                         TypeBindings& bindings, const std::string& where) {
  if (const std::vector<Type>* bound = bindings.find(term.variable)) {
    if (*bound == types) return std::nullopt;
    return fmt::format("{} should have type {} but has {}", where, words_for(*bound),
                       words_for(types));
  }
  bindings.bind(term.variable, types);
  return std::nullopt;
}

// Everything that is said about a group's types beyond its variable.
std::optional<std::string> check_term(const TypeTerm& term, const std::vector<Type>& types,
                                      const TypeBindings& bindings, const std::string& where) {
  for (const Type& type : types) {
    if (!in_class(type, term.type_class)) {
      return fmt::format("{} should be {} but has type {}", where, words_for(term.type_class),
                         type.str());
    }
    if (term.shape_of != 0) {
      const std::vector<Type>* other = bindings.find(term.shape_of);
      if (other != nullptr && other->size() == 1 && !same_shape(type, other->front())) {
        return fmt::format("{} should have the shape of {} but has type {}", where,
                           other->front().str(), type.str());
      }
    }
    if (term.function == TypeFunction::variable) continue;
    const std::optional<Type> wanted = bindings.evaluate(term);
    if (!wanted || *wanted != type) {
      return fmt::format("{} should have type {} but has {}", where,
                         wanted ? wanted->str() : "of its pointer", type.str());
    }
  }
  return std::nullopt;
}

bool is_default(const Attribute& attribute, std::string_view text) {
  if (const auto* flag = attribute.as<bool>()) return (*flag ? "true" : "false") == text;
  if (const auto* word = attribute.as<Keyword>()) return word->value == text;
  if (const auto* opaque = attribute.as<OpaqueAttr>()) return opaque->text == text;
  if (const auto* number = attribute.as<IntegerAttr>()) return number->value == 0 && text == "0";
  if (const auto* array = attribute.as<DenseArray>()) return array->values.empty() && text == "[]";
  return false;
}

}  // namespace

const AttributeSpec* OpInfo::attribute(std::string_view attribute_name) const {
  for (const AttributeSpec& spec : attributes) {
    if (spec.name == attribute_name) return &spec;
  }
  return nullptr;
}

const std::vector<Type>* TypeBindings::find(char variable) const {
  const auto& slot = bound_[static_cast<std::size_t>(variable - 'A')];
  return slot ? &*slot : nullptr;
}

void TypeBindings::bind(char variable, std::vector<Type> types) {
  bound_[static_cast<std::size_t>(variable - 'A')] = std::move(types);
}

std::optional<Type> TypeBindings::evaluate(const TypeTerm& term) const {
  if (term.function == TypeFunction::fixed) return term.fixed;
  const std::vector<Type>* bound = find(term.variable);
  if (bound == nullptr || bound->size() != 1) return std::nullopt;
  const Type& type = bound->front();
  switch (term.function) {
    case TypeFunction::variable: return type;
    case TypeFunction::boolean: return type.with_element(Type::integer(1));
    case TypeFunction::element: return type.element();
    case TypeFunction::loaded:
      return type.element().is_pointer() ? std::optional(type.loaded()) : std::nullopt;
    case TypeFunction::base:
      if (!type.is_pointer() || !type.pointee().is_tensor()) return std::nullopt;
      return Type::pointer(type.pointee().element(), type.address_space());
    case TypeFunction::fixed: break;
  }
  return std::nullopt;
}

std::optional<std::string> bind_types(std::span<const TypeTerm> terms, TypeGroups groups,
                                      TypeBindings& bindings, std::string_view what) {
  KSPLIT_CHECK(terms.size() == groups.size(), "one group of types for each term");
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto& group = groups[i];
    if (!group) continue;
    const std::size_t count = group->size();
    if ((terms[i].count == Count::one && count != 1) ||
        (terms[i].count == Count::optional && count > 1)) {
      return fmt::format("{} {} should be one value but is {}", what, i, count);
    }
    if (terms[i].function != TypeFunction::variable) continue;
    const std::string where = fmt::format("{} {}", what, i);
    if (auto wrong = bind_variable(terms[i], *group, bindings, where)) return wrong;
  }
  return std::nullopt;
}

std::optional<std::string> check_types(std::span<const TypeTerm> terms, TypeGroups groups,
                                       const TypeBindings& bindings, std::string_view what) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto& group = groups[i];
    if (!group) continue;
    const std::string where = fmt::format("{} {}", what, i);
    if (auto wrong = check_term(terms[i], *group, bindings, where)) return wrong;
  }
  return std::nullopt;
}

std::optional<std::vector<int>> segments_for(const OpInfo& info, std::size_t count) {
  const std::vector<TypeTerm>& terms = info.signature.operands;
  const auto single =
      static_cast<std::size_t>(std::ranges::count(terms, Count::one, &TypeTerm::count));
  const std::size_t open = terms.size() - single;
  if (count < single || (open == 0 && count != single)) return std::nullopt;
  if (open > 1 && (count - single) % open != 0) return std::nullopt;
  const std::size_t each = open == 0 ? 0 : (count - single) / open;
  std::vector<int> segments;
  for (const TypeTerm& term : terms) {
    const std::size_t size = term.count == Count::one ? 1 : each;
    if (term.count == Count::optional && size > 1) return std::nullopt;
    segments.push_back(static_cast<int>(size));
  }
  return segments;
}

void normalise_attributes(const OpInfo& info, Dictionary& attributes) {
  for (const AttributeSpec& spec : info.attributes) {
    const Attribute* found = attributes.find(spec.name);
    if (found == nullptr) continue;
    if (spec.enumeration != nullptr) {
      if (const auto* number = found->as<IntegerAttr>()) {
        const auto& cases = spec.enumeration->cases;
        const auto match = std::ranges::find(cases, number->value, &EnumCase::value);
        if (match != cases.end()) {
          attributes.set(spec.name, Attribute{Keyword{std::string(match->word)}});
        }
      }
    }
    if (is_default(*attributes.find(spec.name), spec.default_text)) attributes.erase(spec.name);
  }
}

}  // namespace ksplit::ttir
