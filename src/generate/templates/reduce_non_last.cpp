// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "generate/templates/reduction.h"
#include "generate/templates/templates.h"

namespace ksplit::templates {
namespace {

using Axes = ReductionPlan::Axes;

// The columns of a tile are inner indices of one outer index; its rows walk the reduced axis.
constexpr const char* kColumns = R"(outer = tile // inner_tiles
cols = (tile - outer * inner_tiles) * BLOCK_INNER + tl.arange(0, BLOCK_INNER)
col_mask = (cols < n_inner)[None, :]
col_ptr = x_ptr + outer * n_red * n_inner + cols[None, :]
)";

constexpr const char* kTile = R"(rows = tl.arange(0, BLOCK_RED)[:, None]
mask = (rows < n_red) & col_mask
x = tl.load(col_ptr + rows * n_inner, mask=mask, other={identity}).to(tl.float32)
total = {folded}
{finish}tl.store(out_ptr + outer * n_inner + cols, total, mask=cols < n_inner)
)";

// On a GPU the tile is accumulated and folded once, since folding crosses threads; elsewhere each
// tile is folded as it comes, which keeps the accumulator in registers.
constexpr const char* kLoop = R"(acc = tl.full(({accumulator}), {identity}, tl.float32)
for start in range({first}, {last}, BLOCK_RED):
    rows = start + tl.arange(0, BLOCK_RED)[:, None]
    mask = (rows < {last}) & col_mask
    x = tl.load(col_ptr + rows * n_inner, mask=mask, other={identity}).to(tl.float32)
{fold_each}    acc = {combined}
{fold_all})";

constexpr const char* kStore =
    R"({finish}tl.store(out_ptr + outer * n_inner + cols, {total}, mask=cols < n_inner)
)";

constexpr const char* kPartColumns = R"(whole = tile // PARTS
part = tile - whole * PARTS
outer = whole // inner_tiles
cols = (whole - outer * inner_tiles) * BLOCK_INNER + tl.arange(0, BLOCK_INNER)
col_mask = (cols < n_inner)[None, :]
col_ptr = x_ptr + outer * n_red * n_inner + cols[None, :]
first = part * part_size
last = tl.minimum(first + part_size, n_red)
)";

constexpr const char* kPartStore = R"(out_cols = outer * n_inner + cols
tl.store(parts_ptr + part * n_outputs + out_cols, {total}, mask=cols < n_inner)
)";

constexpr const char* kBlock = R"(outer = tile * BLOCK_OUTER + tl.arange(0, BLOCK_OUTER)
cols = tl.arange(0, BLOCK_INNER)
mask = (outer < n_outer)[:, None] & (cols < n_inner)[None, :]
col_ptr = x_ptr + (outer * n_red * n_inner)[:, None, None] + cols[None, None, :]
acc = tl.full((BLOCK_OUTER, BLOCK_RED, BLOCK_INNER), {identity}, tl.float32)
for start in range(0, n_red, BLOCK_RED):
    rows = start + tl.arange(0, BLOCK_RED)[None, :, None]
    row_mask = (rows < n_red) & mask[:, None, :]
    x = tl.load(col_ptr + rows * n_inner, mask=row_mask, other={identity}).to(tl.float32)
    acc = {combined}
total = {folded}
out_offsets = (outer * n_inner)[:, None] + cols[None, :]
{finish}tl.store(out_ptr + out_offsets, total, mask=mask)
)";

struct Maker {
  const GeneratorContext& context;
  const ReductionPlan& plan;

  struct Host {
    HostText text;
    std::string n, inner, outer, out;
  };
  Host host() const {
    Host host{HostText(plan.names, context.task.parameters, context.profile), {}, {}, {}, {}};
    host.n = host.text.local("n");
    host.inner = host.text.local("inner");
    host.outer = host.text.local("outer");
    host.out = host.text.local("out");
    std::string inner = plan.inner_expression();
    // The stride of an axis of one element means nothing: the tensor is then copied, all inner.
    if (has_unit()) inner += fmt::format(" if {} > 1 else {}.numel()", host.n, plan.x);
    host.text.add(fmt::format("{} = {}\n", host.n, plan.reduce_expression()));
    host.text.add(fmt::format("{} = {}\n", host.inner, inner));
    host.text.add(
        fmt::format("{} = {}.numel() // ({} * {})\n", host.outer, plan.x, host.n, host.inner));
    plan.add_output(host.text, host.out);
    return host;
  }

  bool has_unit() const {
    return plan.axes == Axes::one && std::any_of(plan.sizes.begin(), plan.sizes.end(),
                                                 [](const auto& size) { return size.reduce == 1; });
  }

  bool folds_each_tile() const { return context.profile.kind != "gpu"; }

  std::vector<Guard> preconditions(const Guard& bound, std::int64_t widest) const {
    Guard base = plan.common;
    for (const Test& test : bound) require(base, test);
    Guard longer = base;
    require(longer, between(plan.size(), 2, kMaxElements));
    longer.push_back(between(plan.stride(), 2, widest));
    const bool never_one = implies(bound, between(plan.size(), 2, kMaxElements));
    if (!has_unit() || never_one || widest != kMaxElements) return {longer};
    require(base, equals(plan.size(), 1));
    return {longer, base};
  }

  Draft draft(std::string definitions, const Guard& bound, std::int64_t widest) const {
    Draft draft;
    draft.definitions = plan.op.helper() + std::move(definitions);
    draft.preconditions = preconditions(bound, widest);
    draft.envelope = plan.envelope(true);
    return draft;
  }

  std::string summary(const std::string& how) const {
    return fmt::format("{} over the middle axis of [n_outer, n_red, n_inner].\n\n{}.",
                       plan.op.title(), how);
  }

  std::string filled_tile() const {
    return fmt::format(kTile, fmt::arg("identity", plan.op.identity()),
                       fmt::arg("folded", plan.op.folded("x", 0)),
                       fmt::arg("finish", plan.op.finish("total", "n_red")));
  }

  std::string filled_block() const {
    return fmt::format(kBlock, fmt::arg("identity", plan.op.identity()),
                       fmt::arg("combined", plan.op.combined("acc", "x")),
                       fmt::arg("folded", plan.op.folded("acc", 1)),
                       fmt::arg("finish", plan.op.finish("total", "n_red")));
  }

  /// The loop over the reduced axis, or over one part of it, and the store of its result.
  std::string filled_loop(bool part) const {
    const bool each = folds_each_tile();
    const std::string total = each ? "acc" : "total";
    return fmt::format(
        fmt::runtime(std::string(kLoop) + (part ? kPartStore : kStore)),
        fmt::arg("identity", plan.op.identity()),
        fmt::arg("accumulator", each ? "BLOCK_INNER," : "BLOCK_RED, BLOCK_INNER"),
        fmt::arg("fold_each", each ? "    x = " + plan.op.folded("x", 0) + "\n" : ""),
        fmt::arg("combined", plan.op.combined("acc", "x")),
        fmt::arg("fold_all", each ? "" : "total = " + plan.op.folded("acc", 0) + "\n"),
        fmt::arg("total", total), fmt::arg("finish", plan.op.finish(total, "n_red")),
        fmt::arg("first", part ? "first" : "0"), fmt::arg("last", part ? "last" : "n_red"));
  }

  Work work(const ReductionFacts::Sizes& size, std::int64_t rows, std::int64_t cols,
            int warps) const {
    Work work;
    work.programs = static_cast<double>(size.outer * blocks_of(size.inner, cols));
    work.elements = static_cast<double>(rows * cols);
    work.steps = static_cast<double>(blocks_of(size.reduce, rows));
    work.bytes = plan.item_bytes * static_cast<double>(size.outer * size.inner * (size.reduce + 1));
    work.warps = warps;
    return work;
  }

  std::optional<Draft> tile(std::int64_t elements, int warps) const;
  Draft loop(std::int64_t rows, std::int64_t cols, int warps, bool owed) const;
  Draft split(int parts, std::int64_t rows, std::int64_t cols, int warps) const;
  Draft block(std::int64_t elements, std::int64_t widest, int warps) const;
};

void set_warps(Draft& draft, int warps) {
  if (warps > 0) draft.parameters["num_warps"] = warps;
}

/// Reduced axes of up to an eighth of the tile: eight columns are the least that fill a sector.
/// Where folding runs down the rows one by one, a long column would also add up rounding errors.
std::optional<Draft> Maker::tile(std::int64_t elements, int warps) const {
  const std::int64_t most =
      folds_each_tile() ? std::min<std::int64_t>(64, elements / 8) : elements / 8;
  const std::optional<Guard> bound = plan.at_most(most);
  if (!bound) return std::nullopt;
  Host parts = host();
  const std::string rows = parts.text.local("block_red");
  const std::string cols = parts.text.local("block_inner");
  const std::string tiles = parts.text.local("inner_tiles");
  parts.text.add(fmt::format("{} = 1 << ({} - 1).bit_length()\n", rows, parts.n));
  parts.text.add(fmt::format("{} = {} // {}\n", cols, elements, rows));
  parts.text.add(fmt::format("{0} = ({1} + {2} - 1) // {2}\n", tiles, parts.inner, cols));
  LaunchText launch;
  launch.kernel = plan.names.kernel();
  launch.tiles = fmt::format("{} * {}", parts.outer, tiles);
  launch.arguments = {plan.x, parts.out, parts.n, parts.inner, tiles};
  launch.constants = {{"BLOCK_RED", rows}, {"BLOCK_INNER", cols}};
  launch.warps = warps;
  parts.text.launch(launch);
  parts.text.add(fmt::format("return {}\n", parts.out));

  const KernelText kernel{plan.names.kernel(),
                          summary("One block covers the axis: n_red <= BLOCK_RED"),
                          {"x_ptr", "out_ptr", "n_red", "n_inner", "inner_tiles"},
                          {"BLOCK_RED", "BLOCK_INNER"},
                          kColumns + filled_tile()};
  Draft made = draft(definition(kernel, context.profile) + "\n\n" +
                         parts.text.definition(fmt::format(
                             "{} over an inner axis of at most {} elements, without a loop.",
                             plan.op.title(), most)),
                     *bound, kMaxElements);
  made.parameters = {{"form", "tile"}, {"TILE", elements}};
  set_warps(made, warps);
  for (const auto& size : plan.sizes) {
    const std::int64_t covered = round_up_to_power(size.reduce);
    made.work.push_back(work(size, covered, std::max<std::int64_t>(1, elements / covered), warps));
  }
  return made;
}

Draft Maker::loop(std::int64_t rows, std::int64_t cols, int warps, bool owed) const {
  Host parts = host();
  const std::string tiles = parts.text.local("inner_tiles");
  parts.text.add(fmt::format("{} = ({} + {}) // {}\n", tiles, parts.inner, cols - 1, cols));
  LaunchText launch;
  launch.kernel = plan.names.kernel();
  launch.tiles = fmt::format("{} * {}", parts.outer, tiles);
  launch.arguments = {plan.x, parts.out, parts.n, parts.inner, tiles};
  launch.constants = {{"BLOCK_RED", std::to_string(rows)}, {"BLOCK_INNER", std::to_string(cols)}};
  launch.warps = warps;
  parts.text.launch(launch);
  parts.text.add(fmt::format("return {}\n", parts.out));

  const KernelText kernel{plan.names.kernel(),
                          summary("Block by block"),
                          {"x_ptr", "out_ptr", "n_red", "n_inner", "inner_tiles"},
                          {"BLOCK_RED", "BLOCK_INNER"},
                          kColumns + filled_loop(false)};
  Draft made = draft(definition(kernel, context.profile) + "\n\n" +
                         parts.text.definition(plan.op.title() + " over an inner axis."),
                     {}, kMaxElements);
  made.parameters = {{"form", "loop"}, {"BLOCK_RED", rows}, {"BLOCK_INNER", cols}};
  set_warps(made, warps);
  for (const auto& size : plan.sizes) made.work.push_back(work(size, rows, cols, warps));
  made.owed = owed;
  return made;
}

Draft Maker::split(int count, std::int64_t rows, std::int64_t cols, int warps) const {
  Host parts = host();
  const std::string tiles = parts.text.local("inner_tiles");
  const std::string outputs = parts.text.local("outputs");
  const std::string size = parts.text.local("part_size");
  const std::string scratch = parts.text.local("parts");
  const std::int64_t round = count * rows;
  parts.text.add(fmt::format("{} = ({} + {}) // {}\n", tiles, parts.inner, cols - 1, cols));
  parts.text.add(fmt::format("{} = {} * {}\n", outputs, parts.outer, parts.inner));
  parts.text.add(fmt::format("{} = ({} + {}) // {} * {}\n", size, parts.n, round - 1, round, rows));
  parts.text.add(fmt::format("{} = {}.new_empty(({}, {}), dtype=torch.float32)\n", scratch, plan.x,
                             count, outputs));
  LaunchText launch;
  launch.kernel = plan.names.kernel();
  launch.tiles = fmt::format("{} * {} * {}", parts.outer, tiles, count);
  launch.arguments = {plan.x, scratch, parts.n, parts.inner, tiles, outputs, size};
  launch.constants = {{"BLOCK_RED", std::to_string(rows)},
                      {"BLOCK_INNER", std::to_string(cols)},
                      {"PARTS", std::to_string(count)}};
  launch.warps = warps;
  parts.text.launch(launch);
  parts.text.launch(combining_launch(
      plan, PartialResults{count, scratch, parts.out, outputs, parts.n}, context.profile));
  parts.text.add(fmt::format("return {}\n", parts.out));

  const KernelText kernel{
      plan.names.kernel(),
      summary("The axis is cut into PARTS parts, whose results are left in fp32"),
      {"x_ptr", "parts_ptr", "n_red", "n_inner", "inner_tiles", "n_outputs", "part_size"},
      {"BLOCK_RED", "BLOCK_INNER", "PARTS"},
      kPartColumns + filled_loop(true)};
  Draft made =
      draft(definition(kernel, context.profile) + "\n\n" +
                definition(combining_kernel(plan), context.profile) + "\n\n" +
                parts.text.definition(plan.op.title() + " over a long inner axis, in two stages."),
            plan.at_least(count), kMaxElements);
  made.parameters = {
      {"form", "split"}, {"PARTS", count}, {"BLOCK_RED", rows}, {"BLOCK_INNER", cols}};
  set_warps(made, warps);
  for (const auto& sizes : plan.sizes) {
    Work first = work(sizes, rows, cols, warps);
    first.programs *= count;
    first.steps = std::max(1.0, first.steps / count);
    made.work.push_back(first);
    made.work.push_back(combining_work(sizes, count, context.profile));
  }
  return made;
}

Draft Maker::block(std::int64_t elements, std::int64_t widest, int warps) const {
  Host parts = host();
  const std::string inner = parts.text.local("block_inner");
  const std::string red = parts.text.local("block_red");
  const std::string outer = parts.text.local("block_outer");
  parts.text.add(fmt::format("{} = 1 << ({} - 1).bit_length()\n", inner, parts.inner));
  parts.text.add(fmt::format("{} = min(1 << ({} - 1).bit_length(), {} // {})\n", red, parts.n,
                             elements, inner));
  parts.text.add(fmt::format("{} = {} // ({} * {})\n", outer, elements, inner, red));
  LaunchText launch;
  launch.kernel = plan.names.kernel();
  launch.tiles = fmt::format("({0} + {1} - 1) // {1}", parts.outer, outer);
  launch.arguments = {plan.x, parts.out, parts.outer, parts.n, parts.inner};
  launch.constants = {{"BLOCK_OUTER", outer}, {"BLOCK_RED", red}, {"BLOCK_INNER", inner}};
  launch.warps = warps;
  parts.text.launch(launch);
  parts.text.add(fmt::format("return {}\n", parts.out));

  const KernelText kernel{
      plan.names.kernel(),
      summary("One block covers what comes after the axis: n_inner <= BLOCK_INNER"),
      {"x_ptr", "out_ptr", "n_outer", "n_red", "n_inner"},
      {"BLOCK_OUTER", "BLOCK_RED", "BLOCK_INNER"},
      filled_block()};
  Draft made = draft(
      definition(kernel, context.profile) + "\n\n" +
          parts.text.definition(fmt::format(
              "{} over an inner axis with at most {} elements after it.", plan.op.title(), widest)),
      {}, widest);
  made.parameters = {{"form", "block"}, {"TILE", elements}};
  set_warps(made, warps);
  for (const auto& size : plan.sizes) {
    const std::int64_t cols = round_up_to_power(size.inner);
    const std::int64_t rows = std::min(round_up_to_power(size.reduce), elements / cols);
    Work one = work(size, std::max<std::int64_t>(rows, 1), cols, warps);
    one.programs = std::ceil(one.programs * one.elements / static_cast<double>(elements));
    one.elements = static_cast<double>(elements);
    made.work.push_back(one);
  }
  return made;
}

void add_tiles(std::vector<Draft>& drafts, const Maker& maker) {
  const std::int64_t least = 8 * round_up_to_power(maker.plan.longest());
  const std::int64_t smallest = maker.context.profile.warps.empty() ? 2048 : 256;
  const std::int64_t most = std::min<std::int64_t>(8192, largest_tile(maker.context.profile));
  for (std::int64_t tile = std::max(least, smallest); tile <= most; tile *= 2) {
    for (const int warps : fitting_warps(tile, maker.context.profile)) {
      if (auto draft = maker.tile(tile, warps)) drafts.push_back(std::move(*draft));
    }
  }
}

void add_loops(std::vector<Draft>& drafts, const Maker& maker) {
  // Elsewhere than on a GPU a tile is wide, so that rows are vectors, and low, so that folding down
  // the rows adds few numbers one by one.
  const bool wide = maker.folds_each_tile();
  const std::vector<std::int64_t> columns =
      wide ? std::vector<std::int64_t>{32, 64, 128, 256, 512, 1024}
           : std::vector<std::int64_t>{16, 32, 64, 128};
  const std::int64_t most = std::min<std::int64_t>(8192, largest_tile(maker.context.profile));
  for (const std::int64_t rows : {8, 16, 32, 64, 128}) {
    for (const std::int64_t cols : columns) {
      const bool contract = (rows == 64 && cols == 64) || (rows == 128 && cols == 32);
      const bool useful =
          rows * cols <= most && rows * cols >= 256 && (!wide || (rows <= 32 && cols >= 64));
      if (!contract && !useful) continue;
      for (const int warps : fitting_warps(rows * cols, maker.context.profile)) {
        const bool owed = contract && (warps == 0 || warps == 8);
        drafts.push_back(maker.loop(rows, cols, warps, owed));
      }
    }
  }
}

void add_splits(std::vector<Draft>& drafts, const Maker& maker) {
  const std::int64_t cols = maker.folds_each_tile() ? 256 : 32;
  std::int64_t fewest = kMaxElements;
  for (const auto& size : maker.plan.sizes) {
    fewest = std::min(fewest, size.outer * blocks_of(size.inner, cols));
  }
  for (const int parts : worthwhile_parts(fewest, maker.plan.longest(), maker.context.profile)) {
    for (const std::int64_t rows : {16, 32}) {
      const std::vector<int> warps = fitting_warps(rows * cols, maker.context.profile);
      drafts.push_back(maker.split(parts, rows, cols, warps[warps.size() / 2]));
    }
  }
}

/// Where every inner size is short and there is more than one outer index to fill a tile with.
void add_blocks(std::vector<Draft>& drafts, const Maker& maker) {
  std::int64_t widest = 1;
  std::int64_t outer = 1;
  for (const auto& size : maker.plan.sizes) {
    widest = std::max(widest, round_up_to_power(size.inner));
    outer = std::max(outer, size.outer);
  }
  if (widest > 128 || outer == 1) return;
  const std::int64_t most = std::min<std::int64_t>(8192, largest_tile(maker.context.profile));
  const std::int64_t smallest = maker.context.profile.warps.empty() ? 2048 : 256;
  for (std::int64_t tile = std::max(4 * widest, smallest); tile <= most; tile *= 2) {
    for (const int warps : fitting_warps(tile, maker.context.profile)) {
      drafts.push_back(maker.block(tile, widest, warps));
    }
  }
}

}  // namespace

Result<std::vector<Candidate>> reduce_non_last(const GeneratorContext& context) {
  KSPLIT_TRY(const std::optional<ReductionPlan> plan,
             reduction_plan(context, [](const auto& size) { return size.inner > 1; }));
  if (!plan) return std::vector<Candidate>{};
  const Maker maker{context, *plan};
  std::vector<Draft> drafts;
  add_tiles(drafts, maker);
  add_loops(drafts, maker);
  add_splits(drafts, maker);
  add_blocks(drafts, maker);
  return ranked(context, "template/reduce-non-last", plan->names, std::move(drafts));
}

}  // namespace ksplit::templates
