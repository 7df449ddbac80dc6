// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "worker/outcomes.h"

// Whether an implementation computes what it should. A candidate is measured against two
// yardsticks: the reference, by the published rules, and the generic kernel, by how far either is
// from the float64 golden. Gates, in the order in which a refusal names them:
//
//   G0  structure: number of outputs, dtype, shape, stride order; inputs unchanged unless the base
//       changes the same ones
//   conduct: outputs in memory of their own unless the base's lie in the same inputs' memory; no
//       output that a later call changes, none that is remembered by its inputs' addresses, and no
//       access outside the tensors passed to a kernel, unless the base does such a thing there too
//   G1  NaN in the same places; Inf in the same places with the same sign
//   rule  |actual - expected| <= atol + rtol |expected| for every element, wherever the base holds
//       it; integers and bool equal, always
//   G3  no less accurate than the base: ratios of RMSE and of the largest error, each error floored
//       at u rms(golden) / sqrt(3), the error that rounding the output alone may make
//
// G3 compares two random quantities, and a ratio of errors over few elements says little: one
// element may be off by 20 times another's error by luck alone. A limit L on n elements is
// therefore L exp(3.09 / sqrt(n - 1)), the 99.9 % point of the ratio of two equal error classes
// (Fisher's z), with n taken as 2 for a single element. At a thousand elements that is 1.10 L.

namespace ksplit {

/// The published tolerances of an output dtype; integers and bool: all zero. A dtype the rules do
/// not name gets those of float32.
AccuracyRule rule_for(const std::string& dtype);
AccuracyRules rules_for(const std::vector<std::string>& dtypes);

/// How close to the base a candidate is, best first.
///
///   bitwise     bit-equal to the base on every case (known where both equal the reference)
///   strict      RMSE ratio <= 1.05 pooled and <= 1.25 per case, largest error ratio <= 2
///   same_class  RMSE ratio <= 2 pooled and per case, largest error ratio <= 4
enum class AccuracyClass { bitwise, strict, same_class };

/// "bitwise", "strict", "same-class".
const char* name_of(AccuracyClass reached);

struct CaseAccuracy {
  int case_index = 0;
  bool passed = false;
  std::string reason;        // the first gate that failed, with its values; empty if passed
  bool elementwise = false;  // published rule 1 holds on every output
  bool mere_mare = false;    // published rule 2 holds on every output
  double rmse_ratio = 1;     // floored candidate error over floored base error, worst output
  double max_ratio = 1;
};

struct AccuracyVerdict {
  std::vector<CaseAccuracy> cases;       // in the order of the candidate's outcome
  double pooled_rmse_ratio = 1;          // cases weigh equally, each error in units of its floor
  std::string reason;                    // why it is refused; empty if it passed
  std::optional<AccuracyClass> reached;  // none if refused

  bool passed() const { return reached.has_value(); }
};

/// Judges a candidate on the cases of its outcome, which must be among the base's. `required` is
/// the worst class that passes. A candidate without cases is refused.
AccuracyVerdict judge_accuracy(const VerifyOutcome& candidate, const VerifyOutcome& base,
                               AccuracyClass required = AccuracyClass::same_class);

/// Judges the generic kernel against the reference: G0 (strides and inputs aside: the base sets the
/// standard for those), G1, and on each output at least one of the published rules, or MERE/MARE
/// against the float64 golden relative to the output's own RMS (sums that cancel satisfy nothing
/// stricter, whoever computes them). The reason of a case says what failed.
std::vector<CaseAccuracy> assess_base(const VerifyOutcome& base);

/// The same as a gate. Errors: base_inaccurate, naming every case that fails; unsupported, if what
/// runs kernels does not cover one.
Status judge_base(const VerifyOutcome& base);

}  // namespace ksplit
