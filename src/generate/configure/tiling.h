// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generate/configure/kernel_use.h"
#include "python/module.h"

namespace ksplit {

/// Where the host writes down a tile size, so that changing it there changes it everywhere: in the
/// launch and in the grid.
///
/// Exactly one of the following says where:
///   literals   numbers inside the host functions: `BLOCK = 1024` in a function, a default of a
///              parameter, or the launch's own `BLOCK=1024` if no other number could mean the same
///   constant   a module-level name assigned once: `BLOCK = 1024`
///   attribute  of the model, assigned once: `self.block = 1024`
///   added      nowhere: the kernel's own default holds, and a keyword at the launch overrides it
struct TileSource {
  std::int64_t value = 0;
  std::vector<std::pair<std::size_t, std::string>> parameters;  // use and constexpr parameter
  std::set<const PythonNode*> literals;
  std::string constant;
  std::string attribute;
  std::string owner;  // of the attribute
  bool added = false;
};

/// The tiling constexprs of the group's launches, powers of two from 16 on, whose source is clear
/// for every launch site. Computed ones (`triton.next_power_of_2(n)`) have none.
std::vector<TileSource> tile_sources(const PythonModule& module, const HostGraph& graph,
                                     const std::vector<KernelUse>& uses);

/// Whether every launch of a kernel is written as a launch of this kernel alone, without `**`, so
/// that keywords can be added there.
bool takes_keywords(const HostGraph& graph, int kernel);

}  // namespace ksplit
