// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "generate/candidate.h"
#include "generate/templates/text.h"

// What all templates share: guards they build on, how candidates are ranked, and which are kept.

namespace ksplit::templates {

/// Offsets are 32-bit: with at most this many elements, those of a last, partly masked tile and the
/// counters of loops stay in range too.
inline constexpr std::int64_t kMaxElements = 2'000'000'000;

/// A power of two that is at least `value`.
std::int64_t round_up_to_power(std::int64_t value);

/// How many blocks cover `size` elements.
std::int64_t blocks_of(std::int64_t size, std::int64_t block);

/// Largest tile, in elements, whose operands and fp32 temporaries fit in the device's fast memory.
std::int64_t largest_tile(const DeviceProfile& profile);

Subject subject_of(Subject::Kind kind, int argument, std::int64_t dimension = 0);
Test equals(Subject subject, Literal value);
Test one_of(Subject subject, const std::set<std::string>& values);  // `equals` when there is one
Test between(Subject subject, std::int64_t low, std::int64_t high);
Test equal_subjects(Subject subject, Subject other);

/// Adds a test; a range of a subject that the guard already bounds narrows that test instead.
void require(Guard& guard, Test test);

/// The tests of a plain dense tensor: its type, one of the dtypes, no gradient, contiguous if asked
/// for, and 1 to kMaxElements elements.
Guard tensor_tests(int argument, const std::set<std::string>& dtypes, bool contiguous);

/// What one launch asks of the device, for one case.
struct Work {
  double programs = 1;
  double elements = 1;  // of one program's tile
  double steps = 1;     // tiles that one program walks over
  double bytes = 0;     // read and written in all
  int warps = 0;
};

/// A rough device time: it orders the list and says where to cut it, and decides nothing else.
double estimate_us(const Work& work, const DeviceProfile& profile);

/// num_warps that give a thread between 2 and 32 elements of the tile; the nearest when none does,
/// {0} where the device has none.
std::vector<int> fitting_warps(std::int64_t tile, const DeviceProfile& profile);

/// A candidate before it has a place in the order.
struct Draft {
  std::map<std::string, Literal> parameters;
  std::string definitions;
  std::vector<Guard> preconditions;
  std::vector<Subject> envelope;
  std::vector<Work> work;  // one a case; several launches of a case follow each other
  bool owed = false;       // block sizes of the contract: kept whatever the estimate says
};

/// Names, ranks and limits the drafts of one template.
/// Only drafts that are right on every case of the group stay: at most 40, or 10 on a CPU, by
/// estimated time. Errors: unsupported, when none is right on all of them.
Result<std::vector<Candidate>> ranked(const GeneratorContext& context, const std::string& generator,
                                      const Names& names, std::vector<Draft> drafts);

/// Parameters of forward that would hide a name the host functions use. Errors: unsupported.
Status check_names(const GeneratorContext& context, const Names& names);

}  // namespace ksplit::templates
