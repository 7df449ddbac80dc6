// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "generate/templates/reduction.h"

namespace ksplit::templates {
namespace {

constexpr std::int64_t kBlock = 64;             // outputs of one program of the second stage
constexpr std::int64_t kWorthSplitting = 2048;  // elements of a run that repay a second launch

constexpr const char* kCombine = R"(cols = tile * BLOCK + tl.arange(0, BLOCK)
mask = (cols < n_outputs)[None, :]
offsets = tl.arange(0, PARTS)[:, None] * n_outputs + cols[None, :]
parts = tl.load(parts_ptr + offsets, mask=mask, other={identity})
total = {folded}
{finish}tl.store(out_ptr + cols, total, mask=cols < n_outputs)
)";

}  // namespace

KernelText combining_kernel(const ReductionPlan& plan) {
  KernelText kernel;
  kernel.name = plan.names.kernel("combine");
  kernel.summary = plan.op.title() + " over the partial results [PARTS, n_outputs].";
  kernel.arguments = {"parts_ptr", "out_ptr", "n_outputs"};
  if (plan.op.averages()) kernel.arguments.emplace_back("count");
  kernel.constants = {"BLOCK", "PARTS"};
  kernel.body = fmt::format(kCombine, fmt::arg("identity", plan.op.identity()),
                            fmt::arg("folded", plan.op.folded("parts", 0)),
                            fmt::arg("finish", plan.op.finish("total", "count")));
  return kernel;
}

LaunchText combining_launch(const ReductionPlan& plan, const PartialResults& partial,
                            const DeviceProfile& profile) {
  LaunchText launch;
  launch.kernel = plan.names.kernel("combine");
  launch.tiles = fmt::format("({} + {}) // {}", partial.outputs, kBlock - 1, kBlock);
  launch.arguments = {partial.scratch, partial.out, partial.outputs};
  if (plan.op.averages()) launch.arguments.push_back(partial.count);
  launch.constants = {{"BLOCK", std::to_string(kBlock)}, {"PARTS", std::to_string(partial.parts)}};
  launch.warps = profile.warps.empty() ? 0 : 4;
  return launch;
}

Work combining_work(const ReductionFacts::Sizes& sizes, int parts, const DeviceProfile& profile) {
  const auto outputs = static_cast<double>(sizes.outer * sizes.inner);
  Work work;
  work.programs = outputs / static_cast<double>(kBlock) + 1;
  work.elements = static_cast<double>(kBlock * parts);
  work.bytes = 4 * outputs * parts;
  work.warps = profile.warps.empty() ? 0 : 4;
  return work;
}

std::vector<int> worthwhile_parts(std::int64_t tiles, std::int64_t reduce,
                                  const DeviceProfile& profile) {
  const std::int64_t enough = std::int64_t{2} * profile.cores;
  if (tiles >= enough || reduce < kWorthSplitting) return {};
  const std::int64_t wanted = round_up_to_power(enough / std::max<std::int64_t>(tiles, 1));
  const std::int64_t most = std::min<std::int64_t>(128, largest_tile(profile) / kBlock);
  const int parts = static_cast<int>(std::clamp<std::int64_t>(wanted, 2, most));
  if (parts <= 4) return {parts};
  return {parts, parts / 4};
}

}  // namespace ksplit::templates
