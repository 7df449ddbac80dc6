// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "generate/templates/elementwise.h"
#include "generate/templates/flat.h"
#include "generate/templates/templates.h"

namespace ksplit::templates {
namespace {

/// Kernel names of the levels: the last two are the rows and columns of a tile.
struct LevelNames {
  std::string index;  // as it stands in an offset
  std::string size;
};

std::vector<LevelNames> level_names(std::size_t levels) {
  static const std::vector<LevelNames> kNames = {{"outer", "n_outer"},
                                                 {"middle", "n_middle"},
                                                 {"rows[:, None]", "n_rows"},
                                                 {"cols[None, :]", "n_cols"}};
  std::vector<LevelNames> names(kNames.end() - 2, kNames.end());
  if (levels == 4) names.insert(names.begin(), kNames[1]);
  if (levels >= 3) names.insert(names.begin(), kNames[0]);
  return names;
}

/// Offset of the tile in a contiguous tensor that spans the levels without `missing`.
std::string offset(const std::string& levels, char missing) {
  const std::vector<LevelNames> names = level_names(levels.size());
  std::string text;
  bool sum = false;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] == missing) continue;
    if (text.empty()) {
      text = names[i].index;
      continue;
    }
    text = fmt::format(fmt::runtime(sum ? "({}) * {} + {}" : "{} * {} + {}"), text, names[i].size,
                       names[i].index);
    sum = true;
  }
  return text;
}

/// Loads an operand once per row, per column or per element of the tile, as it spans them.
std::string load(const char* name, const std::string& levels, char missing) {
  const std::size_t last = levels.size() - 1;
  const bool rows = levels[last - 1] != missing;
  const bool cols = levels[last] != missing;
  const char* mask = rows && cols ? "mask" : rows ? "row_mask" : "col_mask";
  const bool whole = levels.find(missing) == std::string::npos;
  const std::string place = whole ? "offsets" : offset(levels, missing);
  if (!rows && !cols) {
    if (place.empty()) return fmt::format("{0} = tl.load({0}_ptr).to(tl.float32)\n", name);
    return fmt::format("{0} = tl.load({0}_ptr + {1}).to(tl.float32)\n", name, place);
  }
  return fmt::format("{0} = tl.load({0}_ptr + {1}, mask={2}).to(tl.float32)\n", name, place, mask);
}

constexpr const char* kTwoLevels = R"(row_tile = tile // col_tiles
cols = (tile - row_tile * col_tiles) * BLOCK_N + tl.arange(0, BLOCK_N)
rows = row_tile * BLOCK_M + tl.arange(0, BLOCK_M)
)";

constexpr const char* kMoreLevels = R"(row_tile = tile // col_tiles
cols = (tile - row_tile * col_tiles) * BLOCK_N + tl.arange(0, BLOCK_N)
outer = row_tile // row_tiles
rows = (row_tile - outer * row_tiles) * BLOCK_M + tl.arange(0, BLOCK_M)
)";

constexpr const char* kFourLevels = R"(whole = outer
outer = whole // n_middle
middle = whole - outer * n_middle
)";

constexpr const char* kTile = R"(row_mask = (rows < n_rows)[:, None]
col_mask = (cols < n_cols)[None, :]
mask = row_mask & col_mask
offsets = {offset}
{loads}tl.store(out_ptr + offsets, {value}, mask=mask)
)";

std::string spanned_by(const ElementwisePlan& plan) {
  std::vector<std::string> words;
  for (const char letter : plan.broadcast.levels) {
    words.push_back(letter == 'B'   ? "both"
                    : letter == 'X' ? plan.left.name + " only"
                                    : plan.right.name + " only");
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

KernelText kernel_of(const ElementwisePlan& plan) {
  const std::string& levels = plan.broadcast.levels;
  KernelText kernel;
  kernel.name = plan.names.kernel();
  kernel.summary =
      fmt::format("One tile of {}.\n\nWho spans the collapsed dimensions, outer to inner: {}.",
                  plan.title(), spanned_by(plan));
  kernel.arguments = plan.kernel_arguments();
  if (levels.size() == 4) kernel.arguments.emplace_back("n_middle");
  for (const char* name : {"n_rows", "n_cols"}) kernel.arguments.emplace_back(name);
  if (levels.size() > 2) kernel.arguments.emplace_back("row_tiles");
  kernel.arguments.emplace_back("col_tiles");
  kernel.constants = {"BLOCK_M", "BLOCK_N"};
  kernel.body = levels.size() == 2 ? kTwoLevels : kMoreLevels;
  if (levels.size() == 4) kernel.body += kFourLevels;
  kernel.body +=
      fmt::format(kTile, fmt::arg("loads", load("x", levels, 'Y') + load("y", levels, 'X')),
                  fmt::arg("offset", offset(levels, '\0')), fmt::arg("value", plan.value()));
  return kernel;
}

/// The sizes of the levels for results of one rank, as host expressions; empty if some dimension is
/// known to no operand in every layout.
std::vector<std::string> sizes_at_rank(const ElementwisePlan& plan, const std::string& letters) {
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const std::string size = dimension_size(plan, letters.size(), letters.size() - 1 - i);
    if (size.empty()) return {};
    if (i == 0 || letters[i] != letters[i - 1]) {
      sizes.push_back(size);
    } else {
      sizes.back() += " * " + size;
    }
  }
  return sizes;
}

/// Two levels need no look at single dimensions: an operand that spans one level has as many
/// elements as that level.
std::vector<std::string> two_sizes(const ElementwisePlan& plan, const std::string& rows,
                                   const std::string& cols) {
  const std::string x = plan.left.name + ".numel()";
  const std::string y = plan.right.name + ".numel()";
  const std::string& levels = plan.broadcast.levels;
  const auto assign = [](const std::string& name, const std::string& value) {
    return fmt::format("{} = {}\n", name, value);
  };
  const auto rest = [](const std::string& all, const std::string& part) {
    return fmt::format("{} // {}", all, part);
  };
  if (levels == "XB") return {assign(cols, y), assign(rows, rest(x, cols))};
  if (levels == "YB") return {assign(cols, x), assign(rows, rest(y, cols))};
  if (levels == "BX") return {assign(rows, y), assign(cols, rest(x, rows))};
  if (levels == "BY") return {assign(rows, x), assign(cols, rest(y, rows))};
  if (levels == "XY") return {assign(rows, x), assign(cols, y)};
  return {assign(rows, y), assign(cols, x)};
}

std::string assignments(const std::vector<std::string>& names,
                        const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("{} = {}\n", names[i], values[i]);
  return text;
}

/// Letters by rank of the result, and the operand whose rank that is.
std::map<std::size_t, std::string> letters_by_rank(const ElementwisePlan& plan) {
  std::map<std::size_t, std::string> letters;
  for (const BroadcastLayout& layout : plan.broadcast.layouts) {
    letters[layout.letters.size()] = layout.letters;
  }
  return letters;
}

void add_sizes(HostText& host, const ElementwisePlan& plan, const std::vector<std::string>& names) {
  if (names.size() == 2) {
    for (const std::string& line : two_sizes(plan, names[0], names[1])) host.add(line);
    return;
  }
  const std::map<std::size_t, std::string> by_rank = letters_by_rank(plan);
  const std::string& whole = spans_result(plan, true) ? plan.left.name : plan.right.name;
  std::size_t left = by_rank.size();
  for (const auto& [rank, letters] : by_rank) {
    const std::string lines = assignments(names, sizes_at_rank(plan, letters));
    if (by_rank.size() == 1) {
      host.add(lines);
    } else if (--left == 0) {
      host.add("else:\n" + indented(lines, 1));
    } else {
      const char* word = rank == by_rank.begin()->first ? "if" : "elif";
      host.add(fmt::format("{} {}.dim() == {}:\n", word, whole, rank) + indented(lines, 1));
    }
  }
}

/// The tile of a candidate: fixed, or TILE elements whose width follows the input up to a limit.
struct TileShape {
  std::int64_t rows = 0;  // 0: follows from `elements`
  std::int64_t cols = 0;  // the limit, when rows is 0
  std::int64_t elements = 0;
  int warps = 0;
  bool owed = false;
};

Work work_of(const ElementwisePlan& plan, std::size_t sample, const TileShape& tile) {
  const std::size_t levels = plan.broadcast.levels.size();
  const auto& sizes = plan.broadcast.level_sizes[sample];
  const std::int64_t rows = sizes[levels - 2];
  const std::int64_t cols = sizes[levels - 1];
  const std::int64_t width =
      tile.rows > 0 ? tile.cols : std::min(round_up_to_power(cols), tile.cols);
  const std::int64_t height = tile.rows > 0 ? tile.rows : tile.elements / width;
  double programs =
      static_cast<double>(blocks_of(rows, height)) * static_cast<double>(blocks_of(cols, width));
  for (std::size_t i = 0; i + 2 < levels; ++i) programs *= static_cast<double>(sizes[i]);
  Work work;
  work.programs = programs;
  work.elements = static_cast<double>(width * height);
  work.bytes = plan.moved_bytes[sample];
  work.warps = tile.warps;
  return work;
}

Draft tiled_draft(const GeneratorContext& context, const ElementwisePlan& plan,
                  const TileShape& tile) {
  const std::size_t levels = plan.broadcast.levels.size();
  HostText host(plan.names, context.task.parameters, context.profile);
  std::vector<std::string> sizes;
  if (levels >= 3) sizes.push_back(host.local("outer"));
  if (levels == 4) sizes.push_back(host.local("middle"));
  const std::string rows = sizes.emplace_back(host.local("rows"));
  const std::string cols = sizes.emplace_back(host.local("cols"));
  const std::string out = host.local("out");
  const std::string col_tiles = host.local("col_tiles");
  add_sizes(host, plan, sizes);
  plan.add_output(host, out);

  std::string height = std::to_string(tile.rows);
  std::string width = std::to_string(tile.cols);
  if (tile.rows == 0) {
    height = host.local("block_m");
    width = host.local("block_n");
    host.add(fmt::format("{} = min(1 << ({} - 1).bit_length(), {})\n", width, cols, tile.cols));
    host.add(fmt::format("{} = {} // {}\n", height, tile.elements, width));
  }
  const auto tiles_of = [&](const std::string& size, const std::string& block) {
    if (tile.rows == 0) return fmt::format("({0} + {1} - 1) // {1}", size, block);
    return fmt::format("({} + {}) // {}", size, std::stoll(block) - 1, block);
  };
  LaunchText launch;
  launch.kernel = plan.names.kernel();
  launch.arguments = plan.passed(out);
  if (levels == 4) launch.arguments.push_back(sizes[1]);
  launch.arguments.insert(launch.arguments.end(), {rows, cols});
  host.add(fmt::format("{} = {}\n", col_tiles, tiles_of(cols, width)));
  if (levels == 2) {
    launch.tiles = fmt::format("{} * {}", tiles_of(rows, height), col_tiles);
  } else {
    const std::string row_tiles = host.local("row_tiles");
    host.add(fmt::format("{} = {}\n", row_tiles, tiles_of(rows, height)));
    launch.tiles = fmt::format("{} * {} * {}", levels == 4 ? sizes[0] + " * " + sizes[1] : sizes[0],
                               row_tiles, col_tiles);
    launch.arguments.push_back(row_tiles);
  }
  launch.arguments.push_back(col_tiles);
  launch.constants = {{"BLOCK_M", height}, {"BLOCK_N", width}};
  launch.warps = tile.warps;
  host.launch(launch);
  host.add(fmt::format("return {}\n", out));

  Draft draft;
  draft.definitions = definition(kernel_of(plan), context.profile) + "\n\n" +
                      host.definition(plan.title() + ", broadcast over collapsed dimensions.");
  draft.preconditions = plan.with_shapes();
  draft.envelope = plan.envelope();
  if (tile.rows > 0) {
    draft.parameters = {{"form", "tile"}, {"BLOCK_M", tile.rows}, {"BLOCK_N", tile.cols}};
  } else {
    draft.parameters = {{"form", "adaptive"}, {"TILE", tile.elements}, {"BLOCK_N", tile.cols}};
  }
  if (tile.warps > 0) draft.parameters["num_warps"] = tile.warps;
  for (std::size_t i = 0; i < context.cases.size(); ++i) {
    draft.work.push_back(work_of(plan, i, tile));
  }
  draft.owed = tile.owed;
  return draft;
}

/// About 16 elements a thread: one sensible choice where the block sizes are what is tried.
int balanced_warps(std::int64_t elements, const DeviceProfile& profile) {
  const std::vector<int> fitting = fitting_warps(elements, profile);
  for (const int warps : fitting) {
    if (warps == 0 || per_thread(elements, warps) <= 16) return warps;
  }
  return fitting.back();
}

std::vector<Draft> tiled_drafts(const GeneratorContext& context, const ElementwisePlan& plan) {
  const DeviceProfile& profile = context.profile;
  std::vector<Draft> drafts;
  if (plan.broadcast.levels.size() == 2) {
    for (const std::int64_t rows : {4, 8, 16}) {
      for (const std::int64_t cols : {512, 1024, 2048}) {
        const int warps = balanced_warps(rows * cols, profile);
        drafts.push_back(tiled_draft(context, plan, {rows, cols, rows * cols, warps, true}));
      }
    }
  }
  const std::int64_t smallest = profile.warps.empty() ? 4096 : 256;
  for (std::int64_t elements = smallest; elements <= largest_tile(profile); elements *= 2) {
    for (const std::int64_t widest : {128, 512, 2048, 8192}) {
      if (widest > elements) continue;
      for (const int warps : fitting_warps(elements, profile)) {
        if (warps > 0 && per_thread(elements, warps) > 32) continue;
        drafts.push_back(tiled_draft(context, plan, {0, widest, elements, warps, false}));
      }
    }
  }
  return drafts;
}

/// Whether the host can name every level's size, whatever the layout.
bool has_sizes(const ElementwisePlan& plan) {
  if (plan.broadcast.levels.size() < 2) return false;
  if (plan.broadcast.levels.size() == 2) return true;
  const auto by_rank = letters_by_rank(plan);
  return std::all_of(by_rank.begin(), by_rank.end(),
                     [&](const auto& entry) { return !sizes_at_rank(plan, entry.second).empty(); });
}

}  // namespace

Result<std::vector<Candidate>> broadcast_2d(const GeneratorContext& context) {
  KSPLIT_TRY(const std::optional<ElementwisePlan> plan, elementwise_plan(context));
  if (!plan || plan->broadcast.levels.size() != 2) return std::vector<Candidate>{};
  return ranked(context, "template/broadcast-2d", plan->names, tiled_drafts(context, *plan));
}

Result<std::vector<Candidate>> broadcast_nd(const GeneratorContext& context) {
  KSPLIT_TRY(const std::optional<ElementwisePlan> plan, elementwise_plan(context));
  if (!plan || !plan->two_tensors()) return std::vector<Candidate>{};
  const std::size_t levels = plan->broadcast.levels.size();
  if (levels == 1 || levels == 2) return std::vector<Candidate>{};
  return ranked(
      context, "template/broadcast-nd", plan->names,
      has_sizes(*plan) ? tiled_drafts(context, *plan) : flat_drafts(context, *plan, true));
}

}  // namespace ksplit::templates
