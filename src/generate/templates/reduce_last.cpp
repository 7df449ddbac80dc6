// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "generate/templates/reduction.h"
#include "generate/templates/templates.h"

namespace ksplit::templates {
namespace {

using Axes = ReductionPlan::Axes;

constexpr const char* kTile = R"(rows = tile * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
cols = tl.arange(0, BLOCK_RED)
mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
offsets = rows[:, None] * n_cols + cols[None, :]
x = tl.load(x_ptr + offsets, mask=mask, other={identity}).to(tl.float32)
total = {folded}
{finish}tl.store(out_ptr + rows, total, mask=rows < n_rows)
)";

constexpr const char* kLoop = R"(rows = tile * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
row_mask = (rows < n_rows)[:, None]
row_ptr = x_ptr + rows[:, None] * n_cols
{start}for start in range(0, n_cols, BLOCK_RED):
    cols = start + tl.arange(0, BLOCK_RED)[None, :]
    mask = row_mask & (cols < n_cols)
    x = tl.load(row_ptr + cols, mask=mask, other={identity}).to(tl.float32)
{step}
{finish}tl.store(out_ptr + rows, total, mask=rows < n_rows)
)";

constexpr const char* kPart = R"(row = tile // PARTS
part = tile - row * PARTS
first = part * part_size
last = tl.minimum(first + part_size, n_cols)
row_ptr = x_ptr + row * n_cols
acc = tl.full((BLOCK_RED,), {identity}, tl.float32)
for start in range(first, last, BLOCK_RED):
    cols = start + tl.arange(0, BLOCK_RED)
    x = tl.load(row_ptr + cols, mask=cols < last, other={identity}).to(tl.float32)
    acc = {combined}
total = {folded}
tl.store(parts_ptr + part * n_rows + row, total)
)";

/// Everything the forms have in common: the group's numbers and the start of the host function.
struct Maker {
  const GeneratorContext& context;
  const ReductionPlan& plan;

  /// `n` (the run's length), `rows` (how many runs) and the output, in a new host function.
  struct Host {
    HostText text;
    std::string n, rows, out;
  };
  Host host() const {
    Host host{HostText(plan.names, context.task.parameters, context.profile), {}, {}, {}};
    host.n = host.text.local("n");
    host.rows = host.text.local("rows");
    host.out = host.text.local("out");
    host.text.add(fmt::format("{} = {}\n", host.n, plan.reduce_expression()));
    host.text.add(fmt::format("{} = {}.numel() // {}\n", host.rows, plan.x, host.n));
    plan.add_output(host.text, host.out);
    return host;
  }

  Work work(const ReductionFacts::Sizes& size, std::int64_t rows, std::int64_t cols,
            int warps) const {
    Work work;
    work.programs = static_cast<double>(blocks_of(size.outer, rows));
    work.elements = static_cast<double>(rows * cols);
    work.steps = static_cast<double>(blocks_of(size.reduce, cols));
    work.bytes = plan.item_bytes * static_cast<double>(size.outer * (size.reduce + 1));
    work.warps = warps;
    return work;
  }

  /// Forms differ in the run they can take; all need the reduced axis to be the last one in memory.
  /// The stride of an axis of one element means nothing, but such a run is right anyway.
  std::vector<Guard> preconditions(const Guard& bound) const {
    Guard base = plan.common;
    for (const Test& test : bound) require(base, test);
    const bool trailing = !plan.axis_argument && plan.last == -1;
    if (plan.axes == Axes::all || trailing) return {base};
    Guard longer = base;
    require(longer, between(plan.size(), 2, kMaxElements));
    longer.push_back(equals(plan.stride(), 1));
    const bool never_one = implies(bound, between(plan.size(), 2, kMaxElements));
    if (plan.axes == Axes::several || never_one) return {longer};
    require(base, equals(plan.size(), 1));
    return {longer, base};
  }

  Draft draft(std::string definitions, const Guard& bound) const {
    Draft draft;
    draft.definitions = plan.op.helper() + std::move(definitions);
    draft.preconditions = preconditions(bound);
    draft.envelope = plan.envelope(false);
    return draft;
  }

  std::string summary(const std::string& how) const {
    return fmt::format("{} over contiguous runs, {}.", plan.op.title(), how);
  }

  std::string tile_body() const {
    return fmt::format(kTile, fmt::arg("identity", plan.op.identity()),
                       fmt::arg("folded", plan.op.folded("x", 1)),
                       fmt::arg("finish", plan.op.finish("total", "n_cols")));
  }

  /// A CPU keeps one number a run in registers and folds each block as it comes; elsewhere blocks
  /// are accumulated lane by lane and folded once, since folding crosses lanes.
  std::string loop_body() const {
    std::string start = "total = tl.full((BLOCK_ROWS,), {identity}, tl.float32)\n";
    std::string step = "    part = {folded_x}\n    total = {combined_total}\n";
    if (context.profile.kind != "cpu") {
      start = "acc = tl.full((BLOCK_ROWS, BLOCK_RED), {identity}, tl.float32)\n";
      step = "    acc = {combined_acc}\ntotal = {folded_acc}\n";
    }
    const auto filled = [&](const std::string& text) {
      return fmt::format(fmt::runtime(text), fmt::arg("identity", plan.op.identity()),
                         fmt::arg("folded_x", plan.op.folded("x", 1)),
                         fmt::arg("folded_acc", plan.op.folded("acc", 1)),
                         fmt::arg("combined_acc", plan.op.combined("acc", "x")),
                         fmt::arg("combined_total", plan.op.combined("total", "part")));
    };
    return fmt::format(kLoop, fmt::arg("identity", plan.op.identity()),
                       fmt::arg("start", filled(start)), fmt::arg("step", filled(step)),
                       fmt::arg("finish", plan.op.finish("total", "n_cols")));
  }

  std::string part_body() const {
    return fmt::format(kPart, fmt::arg("identity", plan.op.identity()),
                       fmt::arg("combined", plan.op.combined("acc", "x")),
                       fmt::arg("folded", plan.op.folded("acc", 0)));
  }

  std::optional<Draft> tile(std::int64_t elements, int warps) const;
  Draft loop(std::int64_t rows, std::int64_t cols, int warps, bool owed) const;
  Draft split(int parts, std::int64_t cols, int warps) const;
};

std::string definitions(const KernelText& kernel, const HostText& host, const std::string& summary,
                        const DeviceProfile& profile) {
  return definition(kernel, profile) + "\n\n" + host.definition(summary);
}

/// Where all runs round up to one power of two, the block is that; else it follows each input.
std::optional<Draft> Maker::tile(std::int64_t elements, int warps) const {
  std::optional<Guard> bound = plan.at_most(elements);
  if (!bound) return std::nullopt;
  const std::int64_t longest = round_up_to_power(plan.longest());
  const bool alike = std::all_of(plan.sizes.begin(), plan.sizes.end(), [&](const auto& size) {
    return round_up_to_power(size.reduce) == longest;
  });
  // None where [64, 16] and [16, 64] are reduced: tests of each size let [64, 64] in.
  const std::optional<Guard> narrow = alike ? plan.at_most(longest) : std::nullopt;
  const bool fixed = narrow.has_value();
  if (narrow) bound = narrow;
  Host parts = host();
  LaunchText launch;
  launch.kernel = plan.names.kernel();
  launch.arguments = {plan.x, parts.out, parts.rows, parts.n};
  launch.warps = warps;
  if (fixed) {
    const std::int64_t rows = elements / longest;
    launch.tiles =
        rows == 1 ? parts.rows : fmt::format("({} + {}) // {}", parts.rows, rows - 1, rows);
    launch.constants = {{"BLOCK_ROWS", std::to_string(rows)},
                        {"BLOCK_RED", std::to_string(longest)}};
  } else {
    const std::string cols = parts.text.local("block_red");
    const std::string rows = parts.text.local("block_rows");
    parts.text.add(fmt::format("{} = 1 << ({} - 1).bit_length()\n", cols, parts.n));
    parts.text.add(fmt::format("{} = {} // {}\n", rows, elements, cols));
    launch.tiles = fmt::format("({0} + {1} - 1) // {1}", parts.rows, rows);
    launch.constants = {{"BLOCK_ROWS", rows}, {"BLOCK_RED", cols}};
  }
  parts.text.launch(launch);
  parts.text.add(fmt::format("return {}\n", parts.out));

  const KernelText kernel{plan.names.kernel(),
                          summary("each covered by one block of BLOCK_RED"),
                          {"x_ptr", "out_ptr", "n_rows", "n_cols"},
                          {"BLOCK_ROWS", "BLOCK_RED"},
                          tile_body()};
  const std::string what =
      summary(fmt::format("at most {} elements long", fixed ? longest : elements));
  Draft made = draft(definitions(kernel, parts.text, what, context.profile), *bound);
  made.parameters = {{"form", "tile"}, {"TILE", elements}};
  if (fixed) {
    made.parameters["BLOCK_RED"] = longest;
    made.parameters["BLOCK_ROWS"] = elements / longest;
  }
  if (warps > 0) made.parameters["num_warps"] = warps;
  for (const auto& size : plan.sizes) {
    const std::int64_t cols = fixed ? longest : round_up_to_power(size.reduce);
    made.work.push_back(work(size, elements / cols, cols, warps));
  }
  return made;
}

Draft Maker::loop(std::int64_t rows, std::int64_t cols, int warps, bool owed) const {
  Host parts = host();
  LaunchText launch;
  launch.kernel = plan.names.kernel();
  launch.tiles =
      rows == 1 ? parts.rows : fmt::format("({} + {}) // {}", parts.rows, rows - 1, rows);
  launch.arguments = {plan.x, parts.out, parts.rows, parts.n};
  launch.constants = {{"BLOCK_ROWS", std::to_string(rows)}, {"BLOCK_RED", std::to_string(cols)}};
  launch.warps = warps;
  parts.text.launch(launch);
  parts.text.add(fmt::format("return {}\n", parts.out));

  const KernelText kernel{plan.names.kernel(),
                          summary("block by block"),
                          {"x_ptr", "out_ptr", "n_rows", "n_cols"},
                          {"BLOCK_ROWS", "BLOCK_RED"},
                          loop_body()};
  Draft made =
      draft(definitions(kernel, parts.text, summary("of any length"), context.profile), {});
  made.parameters = {{"form", "loop"}, {"BLOCK_ROWS", rows}, {"BLOCK_RED", cols}};
  if (warps > 0) made.parameters["num_warps"] = warps;
  for (const auto& size : plan.sizes) made.work.push_back(work(size, rows, cols, warps));
  made.owed = owed;
  return made;
}

Draft Maker::split(int parts_count, std::int64_t cols, int warps) const {
  Host parts = host();
  const std::string size = parts.text.local("part_size");
  const std::string scratch = parts.text.local("parts");
  const std::int64_t round = parts_count * cols;
  parts.text.add(fmt::format("{} = ({} + {}) // {} * {}\n", size, parts.n, round - 1, round, cols));
  parts.text.add(fmt::format("{} = {}.new_empty(({}, {}), dtype=torch.float32)\n", scratch, plan.x,
                             parts_count, parts.rows));
  LaunchText launch;
  launch.kernel = plan.names.kernel();
  launch.tiles = fmt::format("{} * {}", parts.rows, parts_count);
  launch.arguments = {plan.x, scratch, parts.rows, parts.n, size};
  launch.constants = {{"BLOCK_RED", std::to_string(cols)}, {"PARTS", std::to_string(parts_count)}};
  launch.warps = warps;
  parts.text.launch(launch);
  const PartialResults partial{parts_count, scratch, parts.out, parts.rows, parts.n};
  parts.text.launch(combining_launch(plan, partial, context.profile));
  parts.text.add(fmt::format("return {}\n", parts.out));

  const KernelText kernel{plan.names.kernel(),
                          summary("each cut into PARTS parts; partial results in fp32"),
                          {"x_ptr", "parts_ptr", "n_rows", "n_cols", "part_size"},
                          {"BLOCK_RED", "PARTS"},
                          part_body()};
  Draft made = draft(definition(kernel, context.profile) + "\n\n" +
                         definitions(combining_kernel(plan), parts.text,
                                     summary("few and long, in two stages"), context.profile),
                     plan.at_least(parts_count));
  made.parameters = {{"form", "split"}, {"PARTS", parts_count}, {"BLOCK_RED", cols}};
  if (warps > 0) made.parameters["num_warps"] = warps;
  for (const auto& sizes : plan.sizes) {
    Work first = work(sizes, 1, cols, warps);
    first.programs *= parts_count;
    first.steps = std::max(1.0, first.steps / parts_count);
    made.work.push_back(first);
    made.work.push_back(combining_work(sizes, parts_count, context.profile));
  }
  return made;
}

void add_tiles(std::vector<Draft>& drafts, const Maker& maker) {
  const std::int64_t least = round_up_to_power(maker.plan.longest());
  const std::int64_t smallest = maker.context.profile.warps.empty() ? 2048 : 256;
  for (std::int64_t tile = std::max(least, smallest); tile <= largest_tile(maker.context.profile);
       tile *= 2) {
    for (const int warps : fitting_warps(tile, maker.context.profile)) {
      if (auto draft = maker.tile(tile, warps)) drafts.push_back(std::move(*draft));
    }
  }
}

void add_loops(std::vector<Draft>& drafts, const Maker& maker) {
  const std::int64_t largest = largest_tile(maker.context.profile);
  const std::int64_t useful = std::max<std::int64_t>(1024, round_up_to_power(maker.plan.longest()));
  for (const std::int64_t cols : {256, 512, 1024, 2048, 4096, 8192}) {
    for (const std::int64_t rows : {1, 2, 4, 8, 16}) {
      const bool contract = rows == 1 && cols == 1024;
      if (!contract && (cols > useful || rows * cols > largest || rows * cols < 1024)) continue;
      for (const int warps : fitting_warps(rows * cols, maker.context.profile)) {
        const bool wide = warps == 0 || per_thread(rows * cols, warps) <= 16;
        const bool owed = contract && (warps == 0 || warps == 8);
        if (wide || owed) drafts.push_back(maker.loop(rows, cols, warps, owed));
      }
    }
  }
}

void add_splits(std::vector<Draft>& drafts, const Maker& maker) {
  std::int64_t fewest = kMaxElements;
  for (const auto& size : maker.plan.sizes) fewest = std::min(fewest, size.outer);
  for (const int parts : worthwhile_parts(fewest, maker.plan.longest(), maker.context.profile)) {
    for (const std::int64_t cols : {1024, 4096}) {
      const std::vector<int> warps = fitting_warps(cols, maker.context.profile);
      drafts.push_back(maker.split(parts, cols, warps[warps.size() / 2]));
    }
  }
}

}  // namespace

Result<std::vector<Candidate>> reduce_last(const GeneratorContext& context) {
  KSPLIT_TRY(const std::optional<ReductionPlan> plan,
             reduction_plan(context, [](const auto& size) { return size.inner == 1; }));
  if (!plan) return std::vector<Candidate>{};
  const Maker maker{context, *plan};
  std::vector<Draft> drafts;
  add_tiles(drafts, maker);
  add_loops(drafts, maker);
  add_splits(drafts, maker);
  return ranked(context, "template/reduce-last", plan->names, std::move(drafts));
}

}  // namespace ksplit::templates
