// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/result.h"
#include "generate/candidate.h"

// Kernels written from what the operator computes, not from the base's source. Each template reads
// the facts, answers no candidates where it has nothing to say, and errors (unsupported) where it
// would have but cannot: a dtype, an attribute or a layout that it does not cover.
//
// Preconditions imply that a candidate is right, not that it is fast: they admit what the emitted
// code computes correctly, while `envelope` names what bounds it to the measured range.

namespace ksplit::templates {

/// Reduction with inner == 1: each output's elements are one contiguous run.
///   tile:  one block covers the run, several runs a program, no loop
///   loop:  blocks of the run in turn, a vector accumulator, folded once at the end
///   split: few long runs; each is cut into parts (fp32 scratch), which a second kernel folds
Result<std::vector<Candidate>> reduce_last(const GeneratorContext& context);

/// Reduction with inner > 1: 2-D tiles of reduce x inner; neighbouring outputs are neighbours in
/// memory.
///   tile, loop, split: as above
///   block: several outer indices in one 3-D tile, where inner is short
Result<std::vector<Candidate>> reduce_non_last(const GeneratorContext& context);

/// Elementwise on equal shapes, or with a number or a single element as one operand: 1-D blocks.
Result<std::vector<Candidate>> flat(const GeneratorContext& context);

/// Elementwise with broadcasting that collapses to two levels, such as [M, N] with [M, 1] or [N].
Result<std::vector<Candidate>> broadcast_2d(const GeneratorContext& context);

/// Any other broadcasting: collapsed to three or four levels, the last two of which form the tile;
/// where it does not collapse, the operands are expanded and copied, then combined in 1-D blocks.
Result<std::vector<Candidate>> broadcast_nd(const GeneratorContext& context);

}  // namespace ksplit::templates
