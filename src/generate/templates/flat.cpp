// SPDX-License-Identifier: Apache-2.0
#include "generate/templates/flat.h"

#include <fmt/format.h>

#include "generate/templates/elementwise.h"
#include "generate/templates/templates.h"

namespace ksplit::templates {
namespace {

constexpr const char* kBody = R"(offsets = {tile} * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
mask = offsets < n_elements
{loads}tl.store(out_ptr + offsets, {value}, mask=mask)
)";

/// `whole`: the operand has every element of the result; else one element, or it is a number.
std::string load(const char* name, const ElementwiseOperand& operand, bool whole) {
  if (!operand.is_tensor) return {};
  const char* place = whole ? "{0} = tl.load({0}_ptr + offsets, mask=mask).to(tl.float32)\n"
                            : "{0} = tl.load({0}_ptr).to(tl.float32)\n";
  return fmt::format(fmt::runtime(place), name);
}

KernelText kernel_of(const ElementwisePlan& plan, bool expanded) {
  const std::string& levels = plan.broadcast.levels;
  const bool by_level = plan.two_tensors() && !expanded;
  KernelText kernel;
  kernel.name = plan.names.kernel();
  kernel.summary = "One block of " + plan.title() + ", contiguous and flat.";
  kernel.arguments = plan.kernel_arguments();
  kernel.arguments.emplace_back("n_elements");
  kernel.constants = {"BLOCK_SIZE"};
  kernel.body =
      fmt::format(kBody, fmt::arg("tile", expanded ? "tl.cast(tile, tl.int64)" : "tile"),
                  fmt::arg("loads", load("x", plan.left, !by_level || levels != "Y") +
                                        load("y", plan.right, !by_level || levels != "X")),
                  fmt::arg("value", plan.value()));
  return kernel;
}

Draft flat_draft(const GeneratorContext& context, const ElementwisePlan& plan, bool expanded,
                 std::int64_t block, int warps) {
  HostText host(plan.names, context.task.parameters, context.profile);
  const std::string out = host.local("out");
  const std::string n = host.local("n");
  std::vector<std::string> passed = plan.passed(out);
  if (expanded) {
    passed[0] = host.local("left");
    passed[1] = host.local("right");
    host.add(fmt::format("{}, {} = torch.broadcast_tensors({}, {})\n", passed[0], passed[1],
                         plan.left.name, plan.right.name));
    for (const std::string& copy : {passed[0], passed[1]}) {
      host.add(fmt::format("{0} = {0}.contiguous()\n", copy));
    }
    host.add(fmt::format("{} = torch.empty_like({})\n", out, passed[0]));
  } else {
    plan.add_output(host, out);
  }
  host.add(fmt::format("{} = {}.numel()\n", n, out));
  passed.push_back(n);
  LaunchText launch;
  launch.kernel = plan.names.kernel();
  launch.tiles = fmt::format("({} + {}) // {}", n, block - 1, block);
  launch.arguments = std::move(passed);
  launch.constants = {{"BLOCK_SIZE", std::to_string(block)}};
  launch.warps = warps;
  host.launch(launch);
  host.add(fmt::format("return {}\n", out));

  Draft draft;
  draft.definitions = definition(kernel_of(plan, expanded), context.profile) + "\n\n" +
                      host.definition(plan.title() + (expanded ? ", after expanding both operands."
                                                               : ", in memory order."));
  draft.preconditions = expanded ? std::vector<Guard>{plan.common(false)} : plan.with_shapes();
  draft.envelope = plan.envelope();
  draft.parameters = {{"form", expanded ? "expanded" : "flat"}, {"BLOCK_SIZE", block}};
  if (warps > 0) draft.parameters["num_warps"] = warps;
  for (std::size_t i = 0; i < plan.elements.size(); ++i) {
    Work work;
    work.programs = plan.elements[i] / static_cast<double>(block) + 1;
    work.elements = static_cast<double>(block);
    work.bytes = plan.moved_bytes[i];
    work.warps = warps;
    draft.work.push_back(work);
  }
  draft.owed = block >= 4096 && warps == fitting_warps(block, context.profile).front();
  return draft;
}

}  // namespace

std::vector<Draft> flat_drafts(const GeneratorContext& context, const ElementwisePlan& plan,
                               bool expanded) {
  std::vector<Draft> drafts;
  const std::int64_t smallest = context.profile.warps.empty() ? 2048 : 256;
  for (std::int64_t block = smallest; block <= 16384; block *= 2) {
    for (const int warps : fitting_warps(block, context.profile)) {
      drafts.push_back(flat_draft(context, plan, expanded, block, warps));
    }
  }
  return drafts;
}

Result<std::vector<Candidate>> flat(const GeneratorContext& context) {
  KSPLIT_TRY(const std::optional<ElementwisePlan> plan, elementwise_plan(context));
  if (!plan) return std::vector<Candidate>{};
  if (plan->two_tensors() && plan->broadcast.levels.size() != 1) return std::vector<Candidate>{};
  return ranked(context, "template/flat", plan->names, flat_drafts(context, *plan, false));
}

}  // namespace ksplit::templates
