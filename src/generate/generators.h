// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/result.h"
#include "generate/candidate.h"

namespace ksplit {

/// Proposes candidates for a group, most promising first. No candidates is an answer ("nothing to
/// say about this group"); an error (unsupported) says why it cannot where it should have.
using Generator = Result<std::vector<Candidate>> (*)(const GeneratorContext&);

struct NamedGenerator {
  const char* name;  // also the first part of `Candidate::generator`
  Generator generate;
};

/// All generators, in the order in which their candidates are tried.
const std::vector<NamedGenerator>& generators();

}  // namespace ksplit
