// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ttir/ir.h"

namespace ksplit::ttir {

/// An integer that all lanes of a program share and that is not looked into any further.
struct Symbol {
  enum class Kind {
    program_id,  // tt.get_program_id of `axis`
    value,       // a scalar: a kernel argument, something loaded, a quotient ...
    iteration,   // how often the loop with induction variable `value` has gone round: 0, 1, 2 ...
  };
  Kind kind = Kind::value;
  int axis = 0;
  const Value* value = nullptr;

  bool operator==(const Symbol&) const = default;
  /// By kind, then axis or value id: the same order in every run.
  std::strong_ordering operator<=>(const Symbol& other) const;
  std::string str() const;
};

/// A sum of products of symbols, with 64-bit factors: 3 + 64*pid.x*stride.
///
/// Kept in one form, so that equal polynomials compare equal. Sums and products whose factors leave
/// 64 bits, that have more than kMaxTerms terms, or products of more than kMaxDegree symbols, do
/// not exist: the functions give nullopt.
class Polynomial {
 public:
  static constexpr std::size_t kMaxTerms = 64;
  static constexpr std::size_t kMaxDegree = 8;
  using Product = std::vector<Symbol>;  // sorted; empty for the constant

  Polynomial() = default;  // zero
  Polynomial(std::int64_t constant);
  Polynomial(const Symbol& symbol) : terms_{{{symbol}, 1}} {}

  bool operator==(const Polynomial&) const = default;
  bool is_zero() const { return terms_.empty(); }
  /// The value of a constant, or nullopt.
  std::optional<std::int64_t> constant() const;
  const std::map<Product, std::int64_t>& terms() const { return terms_; }

  /// `3 + 64*pid.x*stride`; `0` for zero.
  std::string str() const;

  friend std::optional<Polynomial> sum(const Polynomial& a, const Polynomial& b);
  friend std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b);

 private:
  std::map<Product, std::int64_t> terms_;  // factors, none zero
};

std::optional<Polynomial> sum(const Polynomial& a, const Polynomial& b);
std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b);
std::optional<Polynomial> difference(const Polynomial& a, const Polynomial& b);

}  // namespace ksplit::ttir
