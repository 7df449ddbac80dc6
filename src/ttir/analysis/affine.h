// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ttir/analysis/polynomial.h"
#include "ttir/ir.h"

/// Which address each lane of a tensor of pointers holds, as a formula.
///
/// A value is *affine* if it is, for the lane with index (i0, i1, ...),
///
///     base + offset + stride[0]*i0 + stride[1]*i1 + ...
///
/// where base is a scalar pointer, mostly an argument (none for integers), and offset and strides
/// are polynomials in what all lanes share: program ids, arguments, loop rounds. Pointers count in
/// elements.
///
/// Example: in a matrix product's loop over k, `a_ptr += BLOCK_K * ak` from
/// `A + rows[:, None] * am + ks[None, :] * ak`, with 64 rows per program and BLOCK_K = 32, gives
///
///     A + 64*pid.x*am + 32*ak*round(k) + am*i0 + ak*i1
///
/// so that with ak = 1 a row of the tile is one contiguous run. Where a value is not affine
/// (a gather's address, a remainder of lanes) there is no form, and nothing may be concluded.
///
/// Index arithmetic is taken not to wrap around, as Triton's own compilers take it for addresses.
/// Forms of conditional code say what a value is if it is computed at all.
///
/// The rejected alternative, Triton's own lattice of contiguity, constancy and divisibility,
/// answers less (no strides, nothing about two programs or rounds) and follows from the form.
namespace ksplit::ttir {

struct AffineForm {
  const Value* base = nullptr;
  Polynomial offset;
  std::vector<Polynomial> strides;  // one per dimension; zero along a dimension of size 1

  bool operator==(const AffineForm&) const = default;
  /// The same value in all lanes.
  bool is_uniform() const;
  /// `A + 64*pid.x + i0`.
  std::string str() const;
};

/// The affine forms of one function's integer and pointer values.
///
/// Loop-carried values are solved, not guessed: the body is followed with the value as an unknown
/// added to its start, and if each round adds the same amount, that is the step.
class AffineForms {
 public:
  /// Of a verified module; the forms point into it.
  AffineForms(const Module& module, const Function& function);

  /// Null for a value that is not affine, or neither integer nor pointer.
  const AffineForm* of(const Value& value) const;

 private:
  void follow(const Region& region);
  void follow(const Operation& op);
  void follow_loop(const Operation& op);
  void follow_branches(const Operation& op);
  std::optional<Polynomial> step_of(const Operation& loop, std::size_t index) const;
  bool carry(const Value& argument, const AffineForm& start, const Polynomial& added);
  void set(const Value& value, std::optional<AffineForm> form);
  void set_opaque(const Value& value);
  std::optional<AffineForm> derive(const Operation& op) const;

  std::vector<std::optional<AffineForm>> forms_;  // by value id
  int loops_around_ = 0;
};

/// A number that divides the polynomial whatever its symbols are; arguments count with their
/// tt.divisibility attribute. 0 for the zero polynomial, which everything divides.
std::int64_t divisor_of(const Polynomial& polynomial, const Function& function);

/// What Triton calls axis information, of a tensor of pointers or integers along one dimension.
struct LaneRun {
  std::int64_t contiguity = 1;    // lanes i, i+1, ... of a run of this length rise by one
  std::int64_t constancy = 1;     // lanes of a run of this length are equal
  std::int64_t divisibility = 1;  // of the first lane: of the value, or of a pointer in bytes
};

/// For dimension `axis` of `type`, whose form this is. Runs cover the whole dimension or nothing.
LaneRun lane_run(const AffineForm& form, const Type& type, std::size_t axis,
                 const Function& function);

}  // namespace ksplit::ttir
