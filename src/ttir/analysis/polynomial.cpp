// SPDX-License-Identifier: Apache-2.0
#include "ttir/analysis/polynomial.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ksplit::ttir {

std::strong_ordering Symbol::operator<=>(const Symbol& other) const {
  if (const auto order = kind <=> other.kind; std::is_neq(order)) return order;
  if (const auto order = axis <=> other.axis; std::is_neq(order)) return order;
  const int id = value != nullptr ? value->id : -1;
  return id <=> (other.value != nullptr ? other.value->id : -1);
}

std::string Symbol::str() const {
  switch (kind) {
    case Kind::program_id: return fmt::format("pid.{}", "xyz"[axis]);
    case Kind::value: return value->name;
    case Kind::iteration: return fmt::format("round({})", value->name);
  }
  return {};
}

Polynomial::Polynomial(std::int64_t constant) {
  if (constant != 0) terms_.emplace(Product(), constant);
}

std::optional<std::int64_t> Polynomial::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return std::nullopt;
}

std::string Polynomial::str() const {
  std::string text;
  for (const auto& [symbols, factor] : terms_) {
    std::string term;
    for (const Symbol& symbol : symbols) term += (term.empty() ? "" : "*") + symbol.str();
    if (term.empty()) {
      term = fmt::format("{}", factor);
    } else if (factor != 1) {
      term = fmt::format("{}*{}", factor, term);
    }
    text += (text.empty() ? "" : " + ") + term;
  }
  return text.empty() ? "0" : text;
}

std::optional<Polynomial> sum(const Polynomial& a, const Polynomial& b) {
  Polynomial out = a;
  for (const auto& [symbols, factor] : b.terms_) {
    std::int64_t& total = out.terms_[symbols];
    if (__builtin_add_overflow(total, factor, &total)) return std::nullopt;
    if (total == 0) out.terms_.erase(symbols);
  }
  if (out.terms_.size() > Polynomial::kMaxTerms) return std::nullopt;
  return out;
}

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  Polynomial out;
  for (const auto& [a_symbols, a_factor] : a.terms_) {
    for (const auto& [b_symbols, b_factor] : b.terms_) {
      if (a_symbols.size() + b_symbols.size() > Polynomial::kMaxDegree) return std::nullopt;
      Polynomial term;
      Polynomial::Product symbols;
      std::ranges::merge(a_symbols, b_symbols, std::back_inserter(symbols));
      std::int64_t factor = 0;
      if (__builtin_mul_overflow(a_factor, b_factor, &factor)) return std::nullopt;
      term.terms_.emplace(std::move(symbols), factor);
      auto total = sum(out, term);
      if (!total) return std::nullopt;
      out = std::move(*total);
    }
  }
  return out;
}

std::optional<Polynomial> difference(const Polynomial& a, const Polynomial& b) {
  const auto negated = product(b, Polynomial(-1));
  return negated ? sum(a, *negated) : std::nullopt;
}

}  // namespace ksplit::ttir
