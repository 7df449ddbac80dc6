// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generate/templates/candidates.h"

// What the two reduction templates share: the operation as Triton text, the reduced axes as host
// text, and the guards under which both are right.
//
// The input is contiguous and seen as outer x reduce x inner. Sizes come from the tensor alone:
// reduce = x.size(dim), and for an axis of two or more elements inner = x.stride(dim).

namespace ksplit::templates {

/// The operation on fp32 values: how it starts, combines two tiles and folds a tile's axis.
class ReduceOp {
 public:
  ReduceOp() = default;
  ReduceOp(std::string op, const Names& names);

  std::string identity() const;
  std::string combined(const std::string& accumulator, const std::string& value) const;
  std::string folded(const std::string& tile, int axis) const;
  /// The statement that makes the result of the folded `total` of `count` elements: a mean's
  /// division; empty for the others.
  std::string finish(const std::string& total, const std::string& count) const;
  bool averages() const { return op_ == "mean"; }
  /// The combine function, for operations that Triton has none for; empty or ends in blank lines.
  std::string helper() const;
  /// "Sum", "Mean", "Maximum" ... to begin a docstring.
  std::string title() const;

 private:
  std::string op_;
  std::string function_;
};

/// A reduction group that the templates understand.
struct ReductionPlan {
  Names names;
  ReduceOp op;
  int input = 0;
  std::string x;  // the tensor's name

  // The axes: one (`axis` is an expression), adjacent constants (first <= last, same sign), or all.
  enum class Axes { one, several, all } axes = Axes::one;
  std::string axis;
  std::optional<int> axis_argument;   // when `axis` is an argument
  std::int64_t first = 0, last = 0;   // one: equal, when constant
  std::vector<std::int64_t> largest;  // by constant axis, over the group's cases
  std::string keepdim;                // an argument's name, "True" or "False"

  std::vector<ReductionFacts::Sizes> sizes;  // by case of the group
  double item_bytes = 4;                     // mean over the cases
  Guard common;                              // types, dtype, contiguity, an axis in range

  std::int64_t longest() const;  // largest reduce size

  /// Numeric subjects of the sizes: numel, and size and stride of a single axis.
  std::vector<Subject> envelope(bool with_stride) const;
  Subject size() const;    // of the axis, or of the last of several
  Subject stride() const;  // likewise
  /// Tests that bound the reduced size to `most`; none when simple tests cannot.
  std::optional<Guard> at_most(std::int64_t most) const;
  /// Tests under which each output folds at least `parts` elements, so that `parts` partial results
  /// of each output are no more than the input has elements: their offsets stay in range.
  Guard at_least(std::int64_t parts) const;

  /// Host expressions.
  std::string reduce_expression() const;
  std::string inner_expression() const;
  /// Allocates the output as `out`.
  void add_output(HostText& host, const std::string& out) const;
};

/// The second stage of a split: folds `PARTS` partial results of each output, which the first stage
/// left in fp32 scratch of shape [PARTS, outputs].
struct PartialResults {
  int parts = 2;        // a power of two
  std::string scratch;  // host names
  std::string out, outputs, count;
};
KernelText combining_kernel(const ReductionPlan& plan);
LaunchText combining_launch(const ReductionPlan& plan, const PartialResults& partial,
                            const DeviceProfile& profile);
/// What the second stage asks of the device for one case.
Work combining_work(const ReductionFacts::Sizes& sizes, int parts, const DeviceProfile& profile);

/// How many parts are worth trying for a reduction that by itself makes `tiles` programs in the
/// case that makes fewest; empty when there are enough programs, or little to reduce.
std::vector<int> worthwhile_parts(std::int64_t tiles, std::int64_t reduce,
                                  const DeviceProfile& profile);

using WantedSizes = bool (*)(const ReductionFacts::Sizes&);

/// Reads the plan; none (a value, not an error) when the group is no reduction, or one whose sizes
/// a template does not want. Errors: unsupported, saying which case or attribute does not fit.
Result<std::optional<ReductionPlan>> reduction_plan(const GeneratorContext& context,
                                                    WantedSizes wanted);

}  // namespace ksplit::templates
