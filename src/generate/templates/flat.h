// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generate/templates/elementwise.h"

namespace ksplit::templates {

/// 1-D blocks over the result. `expanded`: both tensors are first expanded to the result's shape
/// and copied, which is right for every pair that broadcasts, with 64-bit offsets.
std::vector<Draft> flat_drafts(const GeneratorContext& context, const ElementwisePlan& plan,
                               bool expanded);

}  // namespace ksplit::templates
