// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/result.h"
#include "ttir/ir.h"

/// Triton kernels as C++ for the CPU.
///
/// One program of the kernel's grid becomes one run of a C++ function. Tensors have static shapes,
/// so each elementwise chain, load, store and reduction over a shape becomes one loop nest:
///
///   x = tl.load(p + offs, mask=offs < n)          for (int32_t i0 = 0; i0 < n_bound; ++i0) {
///   tl.store(q + offs, x * 2, mask=offs < n)        const float x = p_0[i0];
///                                                   q_0[i0] = x * 2.0f;
///                                                 }
///
/// Addresses are shown to be contiguous by affine analysis, masks of the form `lane < bound` become
/// loop bounds, and what several nests need is kept in scratch memory. The loops are left to the
/// compiler to vectorise: everything they call is inline or has vector variants.
///
/// In order: affine.h (what an index tensor is), schedule.h (which operations share a nest), nest.h
/// (one nest), function.h (control flow), generate() (the file).
namespace ksplit::cpu {

struct GenerateOptions {
  /// Check each access against the tensors that were passed (slow; for finding errors).
  bool check_access = false;
};

/// The source of a library that exports the module's kernel as `ksplit_kernel` (runtime/abi.h). It
/// includes "kernel.h" and needs -fwrapv.
/// Errors: unsupported, naming the operation and its line; input-malformed without one kernel.
Result<std::string> generate(const ttir::Module& module, const GenerateOptions& options);

}  // namespace ksplit::cpu
