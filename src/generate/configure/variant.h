// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/literal.h"
#include "generate/configure/kernel_use.h"
#include "generate/configure/tiling.h"
#include "generate/profile.h"

namespace ksplit {

/// What a copy changes in one kernel.
struct KernelVariant {
  std::set<std::string> fixed;              // parameters that become tl.constexpr
  bool frozen = false;                      // autotuning replaced by `keywords`
  std::map<std::string, Literal> keywords;  // at the launch: num_warps, a configuration's constants
  bool operator==(const KernelVariant&) const = default;
};

/// What a copy changes: per kernel use, and per tile source (none: as it is).
struct Variant {
  std::vector<KernelVariant> kernels;
  std::map<std::size_t, std::int64_t> tiles;
  bool operator==(const Variant&) const = default;
};

/// What there is to choose from for a group.
struct Choices {
  std::vector<KernelUse> uses;
  std::vector<FixableParameters> fixable;           // per use
  std::vector<bool> keywords;                       // per use: whether launches take keywords
  std::vector<bool> pipelined;                      // per use: whether num_stages means anything
  std::vector<std::vector<KernelVariant>> configs;  // per use: of an autotuned kernel, best first
  std::vector<TileSource> tiles;
};

Choices choices_of(const PythonModule& module, const HostGraph& graph, std::vector<KernelUse> uses);

/// At most `limit` variants, the most promising first: integers fixed and nothing else changed; one
/// change on top of that (a tile, num_warps, num_stages, another configuration, floats fixed too);
/// two changes of one kernel. num_stages is varied only where the kernel multiplies matrices:
/// Triton pipelines no other loops. Larger tiles are left out if their product exceeds the device's
/// fast memory, larger tiles and fewer warps if a thread would hold more elements than registers.
std::vector<Variant> variants_of(const Choices& choices, const DeviceProfile& profile,
                                 std::size_t limit);

/// What was chosen, by name: {"BLOCK": 512, "num_warps": 8, "constexpr": ["n"]}. Names are preceded
/// by the kernel's where there are several kernels.
std::map<std::string, Literal> chosen_parameters(const Variant& variant, const Choices& choices,
                                                 const HostGraph& graph);

}  // namespace ksplit
