// SPDX-License-Identifier: Apache-2.0
#include "stages/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyze/grouping.h"
#include "analyze/rules.h"

namespace ksplit {

Result<Plan> make_plan(Session& session, const PerfResult& perf, bool forced, Observer& observer) {
  KSPLIT_TRY(const RuleSet rules, load_rules(session.options.experience));
  const int total = static_cast<int>(session.task.cases.size());
  Plan plan;
  std::vector<ReferenceGraph> graphs;
  for (const Case& sample : session.task.cases) {
    observer.progress("trace", static_cast<int>(graphs.size()), total);
    auto graph = session.worker.graph(sample.index);
    if (!graph)
      return with_context(graph.error(),
                          fmt::format("tracing the reference on case {}", sample.index));
    auto trace = session.worker.trace(session.options.base, sample.index);
    if (!trace)
      return with_context(trace.error(), fmt::format("tracing the base on case {}", sample.index));
    graphs.push_back(std::move(*graph));
    plan.traces.push_back(std::move(*trace));
  }
  const auto launches_nothing = [](const LaunchTrace& trace) { return trace.launches.empty(); };
  if (std::ranges::all_of(plan.traces, launches_nothing)) {
    return fail(
        ErrorCode::input_malformed,
        fmt::format("`{}` launches no Triton kernel on any case", session.options.base.string()),
        "let ModelNew.forward launch a @triton.jit kernel");
  }
  plan.facts = operator_facts(session.task, graphs);
  KSPLIT_TRY(plan.groups, make_groups(session.task, graphs, perf, rules, forced));
  return plan;
}

}  // namespace ksplit
