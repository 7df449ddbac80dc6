// SPDX-License-Identifier: Apache-2.0
#include "generate/configure/tiling.h"

#include <algorithm>
#include <bit>

#include "python/constants.h"
#include "python/query.h"
#include "python/scopes.h"

namespace ksplit {
namespace {

constexpr std::int64_t kSmallestTile = 16;
constexpr int kMaxCallDepth = 8;

bool is_tile_size(const Literal& value) {
  const std::int64_t* size = value.as_int();
  return size != nullptr && *size >= kSmallestTile &&
         std::has_single_bit(static_cast<std::uint64_t>(*size));
}

class Resolver {
 public:
  Resolver(const PythonModule& module, const HostGraph& graph)
      : module_(module), graph_(graph), constants_(module_constants(module)) {}

  // The source of parameter `name` of a kernel, if all launch sites agree on one.
  std::optional<TileSource> resolve(const KernelUse& use, const std::string& name,
                                    std::int64_t value) const {
    std::optional<TileSource> common;
    for (const LaunchSite& site : graph_.launches) {
      if (std::find(site.kernels.begin(), site.kernels.end(), use.kernel) == site.kernels.end()) {
        continue;
      }
      std::optional<TileSource> source = at_launch(site, use, name, value);
      if (!source) return std::nullopt;
      if (!common) {
        common = std::move(source);
        continue;
      }
      const bool agree = common->constant == source->constant &&
                         common->attribute == source->attribute && common->added == source->added;
      if (!agree) return std::nullopt;
      common->literals.merge(source->literals);
    }
    return common;
  }

 private:
  const HostUnit& unit(int index) const { return graph_.units[static_cast<std::size_t>(index)]; }

  std::optional<TileSource> at_launch(const LaunchSite& site, const KernelUse& use,
                                      const std::string& name, std::int64_t value) const {
    const PythonNode& kernel = *graph_.kernels[static_cast<std::size_t>(use.kernel)].node;
    const PythonNode* argument = argument_for(*site.call, kernel, name);
    const bool hidden =
        argument == nullptr && (spreads_keywords(*site.call) || spreads_positional(*site.call));
    if (hidden) return std::nullopt;
    // A number that stands at the launch itself may stand in the grid a second time.
    const bool direct = argument == nullptr || constant_of(argument).has_value();
    if (direct && another_equals(site, argument, value)) return std::nullopt;
    TileSource source;
    source.value = value;
    if (argument == nullptr) {
      source.added = true;
      return takes_keywords(graph_, use.kernel) ? std::optional(source) : std::nullopt;
    }
    return resolve(argument, site.from, source, 0) ? std::optional(source) : std::nullopt;
  }

  bool another_equals(const LaunchSite& site, const PythonNode* argument,
                      std::int64_t value) const {
    const auto numbers = all_of_type(*unit(site.from).node, "Constant");
    return std::any_of(numbers.begin(), numbers.end(), [&](const PythonNode* number) {
      return number != argument && constant_of(number) == Literal(value);
    });
  }

  bool resolve(const PythonNode* expression, int from, TileSource& source, int depth) const {
    if (expression == nullptr || depth > kMaxCallDepth) return false;
    if (const auto constant = constant_of(expression)) {
      source.literals.insert(expression);
      return *constant == Literal(source.value);
    }
    if (expression->type == "Attribute") return resolve_attribute(*expression, from, source);
    const std::string name = name_of(expression);
    if (name.empty()) return false;
    const PythonNode& function = *unit(from).node;
    if (!is_function(function)) return false;
    for (const PythonParameter& parameter : parameters_of(function)) {
      if (parameter.name == name) return resolve_parameter(parameter, from, source, depth);
    }
    if (bound_names(function).count(name) != 0) return resolve_local(name, function, source);
    const auto constant = constants_.find(name);
    source.constant = name;
    return constant != constants_.end() && constant->second == Literal(source.value) &&
           !read_by_kernels(name);
  }

  // A kernel that reads a module-level name itself sees the original's value.
  bool read_by_kernels(const std::string& constant) const {
    bool read = false;
    for (const KernelDefinition& kernel : graph_.kernels) {
      for_each_free_name(*kernel.node,
                         [&](const PythonNode& name) { read |= is_name(name, constant); });
    }
    return read;
  }

  bool resolve_attribute(const PythonNode& expression, int from, TileSource& source) const {
    const HostUnit& unit = this->unit(from);
    const auto parameters = parameters_of(*unit.node);
    if (unit.kind != HostUnit::Kind::method || unit.is_static || parameters.empty() ||
        !is_name(*expression.child("value"), parameters.front().name)) {
      return false;
    }
    source.attribute = expression.identifier("attr");
    source.owner = unit.owner;
    const auto value = constant_of(attribute_value(module_, unit.owner, source.attribute));
    return value && *value == Literal(source.value);
  }

  // A local name that is assigned once, a number.
  bool resolve_local(const std::string& name, const PythonNode& function,
                     TileSource& source) const {
    int stores = 0;
    for (const PythonNode* use : all_of_type(function, "Name")) {
      if (is_name(*use, name) && use->child("ctx")->type != "Load") ++stores;
    }
    if (stores != 1) return false;
    const PythonNode* value = nullptr;
    walk(function, [&](const PythonNode& node) {
      const PythonNodes& targets = list_of(node, "targets");
      const bool assign = (targets.size() == 1 && is_name(*targets.front(), name)) ||
                          (node.type == "AnnAssign" && is_name(*node.child("target"), name));
      if (assign) value = node.child("value");
      return value == nullptr;
    });
    const auto constant = constant_of(value);
    if (!constant || *constant != Literal(source.value)) return false;
    source.literals.insert(value);
    return true;
  }

  // A parameter: its default if no call gives it, else the argument of the only call.
  bool resolve_parameter(const PythonParameter& parameter, int from, TileSource& source,
                         int depth) const {
    std::vector<std::pair<const PythonNode*, int>> given;
    int calls = 0;
    for (const HostReference& reference : graph_.references) {
      if (reference.unit != from) continue;
      const PythonNode* call = reference.call;
      if (call == nullptr) call = call_of(*unit(reference.from).node, reference.node);
      if (call == nullptr || spreads_keywords(*call) || spreads_positional(*call)) return false;
      ++calls;
      const std::size_t bound = reference.receiver != nullptr ? 1 : 0;
      const PythonNode* argument = argument_for(*call, *unit(from).node, parameter.name, bound);
      if (argument != nullptr) given.emplace_back(argument, reference.from);
    }
    if (given.empty()) return resolve(parameter.default_value, from, source, depth + 1);
    if (given.size() != 1 || calls != 1) return false;
    return resolve(given.front().first, given.front().second, source, depth + 1);
  }

  static const PythonNode* call_of(const PythonNode& scope, const PythonNode* function) {
    for (const PythonNode* call : all_of_type(scope, "Call")) {
      if (call->child("func") == function) return call;
    }
    return nullptr;
  }

  const PythonModule& module_;
  const HostGraph& graph_;
  const Constants constants_;
};

bool same_place(const TileSource& a, const TileSource& b) {
  return !a.added && !b.added && a.literals == b.literals && a.constant == b.constant &&
         a.attribute == b.attribute && a.owner == b.owner;
}

}  // namespace

bool takes_keywords(const HostGraph& graph, int kernel) {
  bool launched = false;
  for (const LaunchSite& site : graph.launches) {
    if (std::find(site.kernels.begin(), site.kernels.end(), kernel) == site.kernels.end()) continue;
    if (site.kernels.size() != 1 || spreads_keywords(*site.call)) return false;
    launched = true;
  }
  return launched;
}

std::vector<TileSource> tile_sources(const PythonModule& module, const HostGraph& graph,
                                     const std::vector<KernelUse>& uses) {
  std::vector<TileSource> sources;
  const Resolver resolver(module, graph);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const KernelDefinition& kernel = graph.kernels[static_cast<std::size_t>(uses[i].kernel)];
    // The constants of an autotuned kernel come from its configurations.
    if (kernel.autotune != nullptr) continue;
    const std::vector<std::string> computed = heuristic_names(kernel);
    for (const LaunchArgument& argument : uses[i].launches.front()->arguments) {
      if (!argument.constexpr_parameter ||
          std::find(computed.begin(), computed.end(), argument.name) != computed.end()) {
        continue;
      }
      const std::optional<Literal> value = constant_argument(uses[i], argument.name);
      if (!value || !is_tile_size(*value)) continue;
      std::optional<TileSource> source = resolver.resolve(uses[i], argument.name, *value->as_int());
      if (!source) continue;
      const auto known = std::find_if(sources.begin(), sources.end(), [&](const TileSource& other) {
        return same_place(other, *source);
      });
      TileSource& target = known == sources.end() ? sources.emplace_back(*source) : *known;
      target.parameters.emplace_back(i, argument.name);
    }
  }
  return sources;
}

}  // namespace ksplit
