// SPDX-License-Identifier: Apache-2.0
#include "generate/configure/variant.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>

#include "python/kernels.h"
#include "python/query.h"

namespace ksplit {
namespace {

constexpr std::int64_t kSmallestTile = 16;
constexpr std::int64_t kLargestTile = 65536;
constexpr std::int64_t kLargestTensor = 1 << 20;  // elements; Triton's own limit
constexpr std::int64_t kAccumulatorBytes = 4;
// Half of the 255 registers that a CUDA thread can name. Beyond that a tile spills, and ptxas,
// which sees the tile unrolled, takes long: for a 4-index add 1 s at 32 elements, 3 s at 128, 17 s
// at 256.
constexpr std::int64_t kMostElementsOfThread = 128;
constexpr std::size_t kMaxRowCovers = 3;

const KernelDefinition& kernel_of(const HostGraph& graph, const KernelUse& use) {
  return graph.kernels[static_cast<std::size_t>(use.kernel)];
}

// The configuration an autotuned launch ran with: the constexprs that the host does not pass, and
// the launch's options.
KernelVariant traced_config(const Launch& launch, const HostGraph& graph, const KernelUse& use) {
  KernelVariant config;
  config.frozen = true;
  const KernelDefinition& kernel = kernel_of(graph, use);
  const std::vector<std::string> computed = heuristic_names(kernel);
  for (const LaunchArgument& argument : launch.arguments) {
    const Literal* value = std::get_if<Literal>(&argument.value);
    const bool heuristic =
        std::find(computed.begin(), computed.end(), argument.name) != computed.end();
    if (!argument.constexpr_parameter || heuristic || value == nullptr) continue;
    const bool passed =
        std::any_of(graph.launches.begin(), graph.launches.end(), [&](const LaunchSite& site) {
          return site.kernels.front() == use.kernel &&
                 argument_for(*site.call, *kernel.node, argument.name) != nullptr;
        });
    if (!passed) config.keywords[argument.name] = *value;
  }
  config.keywords["num_warps"] = launch.num_warps;
  config.keywords["num_stages"] = launch.num_stages;
  return config;
}

bool contains(const std::map<std::string, Literal>& all,
              const std::map<std::string, Literal>& some) {
  return std::all_of(some.begin(), some.end(), [&](const auto& item) {
    const auto found = all.find(item.first);
    return found != all.end() && found->second == item.second;
  });
}

// The configurations worth freezing: those the tuner chose for the group, most frequent first, then
// the others that the source lists.
std::vector<KernelVariant> configs_for(const PythonModule& module, const HostGraph& graph,
                                       const KernelUse& use) {
  std::vector<std::pair<KernelVariant, int>> traced;
  for (const Launch* launch : use.launches) {
    const KernelVariant config = traced_config(*launch, graph, use);
    const auto known = std::find_if(traced.begin(), traced.end(),
                                    [&](const auto& entry) { return entry.first == config; });
    known == traced.end() ? void(traced.emplace_back(config, 1)) : void(++known->second);
  }
  std::stable_sort(traced.begin(), traced.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<KernelVariant> configs;
  configs.reserve(traced.size());
  for (auto& [config, count] : traced) configs.push_back(std::move(config));
  const std::size_t chosen = configs.size();
  for (const TunedConfig& listed :
       configs_of(module, kernel_of(graph, use)).value_or(std::vector<TunedConfig>{})) {
    KernelVariant config{{}, true, listed.constants};
    config.keywords.insert(listed.options.begin(), listed.options.end());
    // A listed configuration that ran is there already, with the options it leaves to Triton.
    const bool ran = std::any_of(
        configs.begin(), configs.begin() + static_cast<std::ptrdiff_t>(chosen),
        [&](const KernelVariant& other) { return contains(other.keywords, config.keywords); });
    if (!ran) configs.push_back(std::move(config));
  }
  return configs;
}

std::int64_t next_power_of_two(std::int64_t size) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(size)));
}

// Other sizes for a tile: powers of two that cover a traced size in one step, and its neighbours,
// in turn.
std::vector<std::int64_t> other_sizes(const TileSource& tile, const Choices& choices) {
  std::set<std::int64_t> covers;
  for (const auto& [use, parameter] : tile.parameters) {
    std::map<std::string, std::int64_t> largest;  // by parameter, over the group's launches
    for (const Launch* launch : choices.uses[use].launches) {
      for (const LaunchArgument& argument : launch->arguments) {
        const Literal* literal = std::get_if<Literal>(&argument.value);
        const std::int64_t* size = literal == nullptr ? nullptr : literal->as_int();
        if (argument.constexpr_parameter || size == nullptr || *size > kLargestTile) continue;
        largest[argument.name] = std::max(largest[argument.name], *size);
      }
    }
    for (const auto& [name, size] : largest) {
      if (size > 1) covers.insert(std::max(kSmallestTile, next_power_of_two(size)));
    }
  }
  const std::int64_t value = tile.value;
  covers.erase(value);
  while (covers.size() > kMaxRowCovers) covers.erase(std::prev(covers.end()));
  std::vector<std::int64_t> sizes = {value * 2, value / 2, value * 4, value / 4};
  std::erase_if(sizes, [&](std::int64_t size) { return covers.count(size) != 0; });
  auto place = sizes.begin();
  for (const std::int64_t cover : covers) {
    place = sizes.insert(place, cover) + 1;
    if (place != sizes.end()) ++place;
  }
  std::erase_if(sizes,
                [&](std::int64_t size) { return size < kSmallestTile || size > kLargestTile; });
  return sizes;
}

// One step away from a variant.
struct Change {
  std::size_t use = 0;
  std::optional<std::size_t> tile;  // with `size`
  std::int64_t size = 0;
  std::string option;  // with `value`
  Literal value;
  std::optional<KernelVariant> config;
  bool floats = false;
};

Variant changed(Variant variant, const Change& change, const Choices& choices) {
  KernelVariant& kernel = variant.kernels[change.use];
  if (change.tile) variant.tiles[*change.tile] = change.size;
  if (!change.option.empty()) kernel.keywords[change.option] = change.value;
  if (change.config) {
    kernel.frozen = true;
    kernel.keywords = change.config->keywords;
  }
  if (change.floats) {
    for (const FixableParameter& parameter : choices.fixable[change.use].floats) {
      kernel.fixed.insert(parameter.name);
    }
  }
  return variant;
}

// Changes by kind, so that a bounded list holds some of each.
std::vector<std::vector<Change>> single_changes(const Choices& choices,
                                                const DeviceProfile& profile) {
  std::vector<std::vector<Change>> kinds;
  for (std::size_t tile = 0; tile < choices.tiles.size(); ++tile) {
    std::vector<Change>& kind = kinds.emplace_back();
    for (const std::int64_t size : other_sizes(choices.tiles[tile], choices)) {
      Change change;
      change.use = choices.tiles[tile].parameters.front().first;
      change.tile = tile;
      change.size = size;
      kind.push_back(change);
    }
  }
  for (std::size_t use = 0; use < choices.uses.size(); ++use) {
    std::vector<Change>& configs = kinds.emplace_back();
    for (std::size_t i = 1; i < choices.configs[use].size(); ++i) {
      Change& change = configs.emplace_back();
      change.use = use;
      change.config = choices.configs[use][i];
    }
    const Launch& launch = *choices.uses[use].launches.front();
    const auto add_option = [&](const char* option, const std::vector<int>& values, int now) {
      std::vector<Change>& kind = kinds.emplace_back();
      if (!choices.keywords[use] || !choices.configs[use].empty()) return;
      for (const int value : values) {
        if (value == now) continue;
        Change& change = kind.emplace_back();
        change.use = use;
        change.option = option;
        change.value = value;
      }
    };
    add_option("num_warps", profile.warps, launch.num_warps);
    if (choices.pipelined[use]) add_option("num_stages", profile.stages, launch.num_stages);
    if (!choices.fixable[use].floats.empty()) {
      Change& change = kinds.emplace_back().emplace_back();
      change.use = use;
      change.floats = true;
    }
  }
  return kinds;
}

// Round by round, one change of each kind.
std::vector<Change> interleaved(const std::vector<std::vector<Change>>& kinds) {
  std::vector<Change> changes;
  bool more = true;
  for (std::size_t round = 0; more; ++round) {
    more = false;
    for (const std::vector<Change>& kind : kinds) {
      if (round >= kind.size()) continue;
      changes.push_back(kind[round]);
      more = true;
    }
  }
  return changes;
}

bool combine(const Change& a, const Change& b, const Choices& choices) {
  if (a.use != b.use || a.config || b.config || a.floats || b.floats) return false;
  if (!a.option.empty() && !b.option.empty()) return false;  // tiles matter more than both options
  if (!a.tile || !b.tile) return true;
  if (*a.tile == *b.tile) return false;
  // A place in the source that two kernels' tiles share can hold one value only.
  const TileSource& first = choices.tiles[*a.tile];
  const TileSource& second = choices.tiles[*b.tile];
  return std::none_of(first.literals.begin(), first.literals.end(),
                      [&](const PythonNode* node) { return second.literals.count(node) != 0; });
}

// The elements that a program holds at once with the given tiles (by source; others are as they
// are): about the product of its two largest extents.
std::int64_t elements_held(const std::map<std::size_t, std::int64_t>& tiles, const Choices& choices,
                           std::size_t use) {
  std::map<std::string, std::int64_t> sizes;
  for (const LaunchArgument& argument : choices.uses[use].launches.front()->arguments) {
    const std::optional<Literal> value = constant_argument(choices.uses[use], argument.name);
    const std::int64_t* size = value ? value->as_int() : nullptr;
    if (argument.constexpr_parameter && size != nullptr && *size >= kSmallestTile &&
        std::has_single_bit(static_cast<std::uint64_t>(*size))) {
      sizes[argument.name] = *size;
    }
  }
  for (const auto& [tile, size] : tiles) {
    for (const auto& [user, parameter] : choices.tiles[tile].parameters) {
      if (user == use) sizes[parameter] = size;
    }
  }
  std::int64_t largest = 1;
  std::int64_t second = 1;
  for (const auto& [name, size] : sizes) {
    second = std::max(second, std::min(largest, size));
    largest = std::max(largest, size);
  }
  return largest * second;
}

int warps_of(const Variant& variant, const Choices& choices, std::size_t use) {
  const auto& keywords = variant.kernels[use].keywords;
  const auto given = keywords.find("num_warps");
  const std::int64_t* warps = given == keywords.end() ? nullptr : given->second.as_int();
  return warps != nullptr ? static_cast<int>(*warps)
                          : choices.uses[use].launches.front()->num_warps;
}

// Whether the device can hold what a program of the variant does. What the base already runs with,
// or a tuner chose, fits.
bool fits(const Variant& variant, const Choices& choices, const DeviceProfile& profile) {
  for (std::size_t use = 0; use < choices.uses.size(); ++use) {
    const std::int64_t elements = elements_held(variant.tiles, choices, use);
    const int warps = warps_of(variant, choices, use);
    const bool grown = elements > elements_held({}, choices, use);
    const bool large =
        elements > kLargestTensor ||
        (profile.fast_memory_bytes > 0 && elements * kAccumulatorBytes > profile.fast_memory_bytes);
    if (grown && large) return false;
    const bool fewer_warps =
        !variant.kernels[use].frozen && warps < choices.uses[use].launches.front()->num_warps;
    const bool unrolled =
        !profile.warps.empty() && warps > 0 && per_thread(elements, warps) > kMostElementsOfThread;
    if ((grown || fewer_warps) && unrolled) return false;
  }
  return true;
}

}  // namespace

Choices choices_of(const PythonModule& module, const HostGraph& graph,
                   std::vector<KernelUse> uses) {
  Choices choices;
  choices.tiles = tile_sources(module, graph, uses);
  for (const KernelUse& use : uses) {
    choices.fixable.push_back(fixable_parameters(graph, use));
    choices.keywords.push_back(takes_keywords(graph, use.kernel));
    choices.pipelined.push_back(multiplies_matrices(graph, use.kernel));
    const bool freezes = kernel_of(graph, use).autotune != nullptr && choices.keywords.back();
    choices.configs.push_back(freezes ? configs_for(module, graph, use)
                                      : std::vector<KernelVariant>{});
  }
  choices.uses = std::move(uses);
  return choices;
}

std::vector<Variant> variants_of(const Choices& choices, const DeviceProfile& profile,
                                 std::size_t limit) {
  Variant base;
  bool changes_anything = false;
  for (std::size_t use = 0; use < choices.uses.size(); ++use) {
    KernelVariant kernel;
    if (!choices.configs[use].empty()) kernel = choices.configs[use].front();
    for (const FixableParameter& parameter : choices.fixable[use].integers) {
      kernel.fixed.insert(parameter.name);
    }
    changes_anything |= kernel.frozen || !kernel.fixed.empty();
    base.kernels.push_back(std::move(kernel));
  }
  std::vector<Variant> variants;
  const auto add = [&](Variant variant) {
    if (variants.size() < limit && fits(variant, choices, profile) &&
        std::find(variants.begin(), variants.end(), variant) == variants.end()) {
      variants.push_back(std::move(variant));
    }
  };
  if (changes_anything) add(base);
  const std::vector<Change> changes = interleaved(single_changes(choices, profile));
  for (const Change& change : changes) add(changed(base, change, choices));
  // Warps must fit the tile, so these pairs come before others.
  for (const bool warps : {true, false}) {
    for (std::size_t j = 1; j < changes.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const bool pair_of_warps =
            changes[i].option == "num_warps" || changes[j].option == "num_warps";
        if (pair_of_warps != warps || !combine(changes[i], changes[j], choices)) continue;
        add(changed(changed(base, changes[i], choices), changes[j], choices));
      }
    }
  }
  return variants;
}

std::map<std::string, Literal> chosen_parameters(const Variant& variant, const Choices& choices,
                                                 const HostGraph& graph) {
  std::map<std::string, Literal> parameters;
  const auto name = [&](std::size_t use, const std::string& parameter) {
    return choices.uses.size() == 1 ? parameter
                                    : kernel_of(graph, choices.uses[use]).name + "." + parameter;
  };
  for (std::size_t use = 0; use < choices.uses.size(); ++use) {
    const KernelVariant& kernel = variant.kernels[use];
    for (const auto& [keyword, value] : kernel.keywords) parameters[name(use, keyword)] = value;
    if (kernel.fixed.empty()) continue;
    Literal::List fixed;
    for (const std::string& parameter : kernel.fixed) fixed.emplace_back(parameter);
    parameters[name(use, "constexpr")] = Literal(std::move(fixed));
  }
  for (const auto& [tile, size] : variant.tiles) {
    for (const auto& [use, parameter] : choices.tiles[tile].parameters) {
      parameters[name(use, parameter)] = Literal(size);
    }
  }
  return parameters;
}

}  // namespace ksplit
