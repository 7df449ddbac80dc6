// SPDX-License-Identifier: Apache-2.0
#include "generate/generators.h"

#include "generate/configure.h"
#include "generate/templates/templates.h"

namespace ksplit {

const std::vector<NamedGenerator>& generators() {
  static const std::vector<NamedGenerator> kGenerators = {
      {"template/reduce-last", templates::reduce_last},
      {"template/reduce-non-last", templates::reduce_non_last},
      {"template/flat", templates::flat},
      {"template/broadcast-2d", templates::broadcast_2d},
      {"template/broadcast-nd", templates::broadcast_nd},
      {"configure", configure},
  };
  return kGenerators;
}

}  // namespace ksplit
