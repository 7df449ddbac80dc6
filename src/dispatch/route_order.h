// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "generate/guard.h"

// What may be asked before what, and what it costs. A guard is written so that each test is safe
// where those before it hold; the router may reorder tests, but not past those that make them safe.

namespace ksplit {

/// The subjects a test asks: one, or two that it compares.
std::vector<Subject> subjects_of(const Test& test);

/// Whether `earlier`, which a guard states before a question, may be what makes it safe to ask: the
/// type of an argument before anything else about it; ranks, shapes and axes before a size or a
/// stride.
bool protects(const Test& earlier, const Subject& question);
bool protects(const Test& earlier, const Test& later);

/// As a stride's dimension: all of them, the tuple.
inline constexpr std::int64_t kAllAxes = std::numeric_limits<std::int64_t>::min();

/// Where a router gets a subject's value from in Python: ranks and sizes from the shape, strides
/// from the tuple of strides, so that several cost one call. None for what is at hand anyway (an
/// argument's value or type).
std::optional<Subject> source_of(const Subject& subject);

/// Time in Python, in units of about 10 ns: of getting a source, and of a comparison once all that
/// it compares is at hand.
int cost_of_source(const Subject& source);
int cost_of_comparison(const Test& test);

/// Whether no input can pass both (sound, not complete: compares tests on one subject).
bool excludes(const Test& a, const Test& b);
bool excludes(const Guard& a, const Guard& b);

/// The guard without tests that others imply, on the same subject or on one stated to be equal;
/// still in a safe order.
Guard simplified(const Guard& guard);

}  // namespace ksplit
