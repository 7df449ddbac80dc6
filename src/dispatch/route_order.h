// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generate/guard.h"

// What may be asked before what. A guard is written so that each test is safe where those before it
// hold; the router may reorder tests, but not past those that make them safe.

namespace ksplit {

/// 0: safe on any argument (type). 1: safe on an argument of the right type (dtype, rank, values,
/// element count ...). 2: needs ranks and axes as well (size, stride).
int stage_of(const Test& test);

/// Whether `earlier`, which a guard states before `later`, may be what makes `later` safe: it is of
/// an earlier stage and about an argument that `later` is about.
bool protects(const Test& earlier, const Test& later);

/// Relative time of evaluating a test in Python, to prefer the cheaper of two.
int cost_of(const Test& test);

/// Whether no input can pass both (sound, not complete: compares tests on one subject).
bool excludes(const Test& a, const Test& b);
bool excludes(const Guard& a, const Guard& b);

/// The guard without tests that others on the same subject imply; still in a safe order.
Guard simplified(const Guard& guard);

}  // namespace ksplit
