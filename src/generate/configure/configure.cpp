// SPDX-License-Identifier: Apache-2.0
#include "generate/configure.h"

#include <fmt/format.h>

#include "generate/configure/copy.h"
#include "generate/configure/preconditions.h"
#include "generate/configure/variant.h"
#include "python/host_graph.h"

namespace ksplit {
namespace {

Status check_all_copyable(const PythonModule& module, const HostGraph& graph,
                          const std::set<int>& units) {
  for (const int unit : units) {
    KSPLIT_TRY_STATUS(check_copyable(module, graph, unit));
  }
  return {};
}

}  // namespace

Result<std::vector<Candidate>> configure(const GeneratorContext& context) {
  const PythonModule& module = context.base;
  KSPLIT_TRY(const HostGraph graph, host_graph(module));
  KSPLIT_TRY(std::vector<KernelUse> uses, kernel_uses(graph, context));
  KSPLIT_TRY(const CopyNames names,
             copy_names(module, graph, uses, context.task.op_name, context.group.group_id));
  const Choices choices = choices_of(module, graph, std::move(uses));

  const std::set<int> launching = copied_units(graph, choices, Variant{});
  KSPLIT_TRY_STATUS(check_all_copyable(module, graph, launching));

  std::vector<Candidate> candidates;
  for (const Variant& variant : variants_of(choices, context.profile, kMaxConfigurations)) {
    // A changed tile size can draw in further functions.
    if (!check_all_copyable(module, graph, copied_units(graph, choices, variant))) continue;
    Candidate candidate;
    candidate.id = fmt::format("{}#configure-{}", context.group.group_id, candidates.size());
    candidate.generator = "configure";
    candidate.group_id = context.group.group_id;
    candidate.parameters = chosen_parameters(variant, choices, graph);
    candidate.definitions = copy_text(module, graph, choices, variant, names);
    candidate.host = names.units.at(graph.forward);
    candidate.preconditions = type_guards(context.cases);
    candidate.envelope = size_envelope(context.cases);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace ksplit
