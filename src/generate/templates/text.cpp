// SPDX-License-Identifier: Apache-2.0
#include "generate/templates/text.h"

#include <fmt/format.h>

namespace ksplit::templates {
namespace {

constexpr std::size_t kLineLength = 100;
constexpr std::string_view kIndent = "    ";

std::string repeated(int levels) {
  std::string blanks;
  for (int i = 0; i < levels; ++i) blanks += kIndent;
  return blanks;
}

/// The parameter list as written in a `def`, without defaults: the router passes every argument.
std::vector<std::string> signature(const std::vector<Parameter>& parameters) {
  std::vector<std::string> items = {"self"};
  bool starred = false;
  for (const Parameter& parameter : parameters) {
    switch (parameter.kind) {
      case Parameter::Kind::positional: items.push_back(parameter.name); break;
      case Parameter::Kind::keyword_only:
        if (!starred) items.emplace_back("*");
        starred = true;
        items.push_back(parameter.name);
        break;
      case Parameter::Kind::var_positional:
        starred = true;
        items.push_back("*" + parameter.name);
        break;
      case Parameter::Kind::var_keyword: items.push_back("**" + parameter.name); break;
    }
  }
  return items;
}

/// A docstring that closes on its last line, as short ones do, or on a line of its own.
std::string docstring(std::string_view text, int levels) {
  const bool single = text.find('\n') == std::string_view::npos;
  return indented(fmt::format("\"\"\"{}{}\"\"\"\n", text, single ? "" : "\n"), levels);
}

constexpr const char* kShareOfTiles = R"(share = tl.cdiv(n_tiles, tl.num_programs(0))
first_tile = tl.program_id(0) * share
for tile in range(first_tile, tl.minimum(first_tile + share, n_tiles)):
)";

constexpr const char* kCoreCount = R"({cache} = None


def {count}():
    """Vector cores of the NPU, asked once; {cores} where there is none to ask."""
    global {cache}
    if {cache} is None:
        try:
            import torch_npu  # noqa: F401

            utils = triton.runtime.driver.active.utils
            properties = utils.get_device_properties(torch.npu.current_device())
            {cache} = properties["num_vectorcore"]
        except (ImportError, AttributeError, KeyError, RuntimeError):
            {cache} = {cores}
    return {cache}


)";

}  // namespace

std::string indented(std::string_view text, int levels) {
  const std::string blanks = repeated(levels);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    if (line != "\n") out += blanks;
    out += line;
    text.remove_prefix(end);
  }
  return out;
}

std::string bracketed(std::string_view head, const std::vector<std::string>& items,
                      std::string_view tail, int levels) {
  const std::string outer = repeated(levels);
  const std::string inner = repeated(levels + 1);
  const std::string joined = fmt::format("{}", fmt::join(items, ", "));
  const std::size_t flat = outer.size() + head.size() + joined.size() + tail.size() + 2;
  if (flat <= kLineLength) return fmt::format("{}{}({}){}\n", outer, head, joined, tail);
  if (inner.size() + joined.size() <= kLineLength) {
    return fmt::format("{}{}(\n{}{}\n{}){}\n", outer, head, inner, joined, outer, tail);
  }
  std::string out = fmt::format("{}{}(\n", outer, head);
  for (const std::string& item : items) out += fmt::format("{}{},\n", inner, item);
  return out + fmt::format("{}){}\n", outer, tail);
}

std::string definition(const KernelText& kernel, const DeviceProfile& profile) {
  std::vector<std::string> parameters = kernel.arguments;
  if (profile.grid_capped) parameters.emplace_back("n_tiles");
  for (const std::string& constant : kernel.constants) {
    parameters.push_back(constant + ": tl.constexpr");
  }
  std::string out = "@triton.jit\n";
  out += bracketed("def " + kernel.name, parameters, ":", 0);
  out += docstring(kernel.summary, 1);
  if (profile.grid_capped) {
    return out + indented(kShareOfTiles, 1) + indented(kernel.body, 2);
  }
  return out + indented("tile = tl.program_id(0)\n", 1) + indented(kernel.body, 1);
}

HostText::HostText(Names names, const std::vector<Parameter>& parameters,
                   const DeviceProfile& profile)
    : names_(std::move(names)), parameters_(parameters), profile_(profile) {
  taken_.insert("self");
  for (const Parameter& parameter : parameters) taken_.insert(parameter.name);
}

std::string HostText::local(std::string wanted) {
  while (!taken_.insert(wanted).second) wanted += '_';
  return wanted;
}

void HostText::add(std::string_view statements) {
  body_ += indented(statements, 1);
}

void HostText::launch(const LaunchText& launch) {
  std::vector<std::string> arguments = launch.arguments;
  std::string grid = launch.tiles;
  if (profile_.grid_capped) {
    const std::string tiles = local("tiles");
    add(fmt::format("{} = {}\n", tiles, launch.tiles));
    arguments.push_back(tiles);
    grid = local("programs");
    add(fmt::format("{} = min({}, {}())\n", grid, tiles, names_.helper("core_count")));
  }
  for (const auto& [name, value] : launch.constants)
    arguments.push_back(fmt::format("{}={}", name, value));
  constexpr int kDefaultWarps = 4;  // Triton's own: saying it again only costs host time
  if (launch.warps > 0 && launch.warps != kDefaultWarps)
    arguments.push_back(fmt::format("num_warps={}", launch.warps));
  const std::size_t width = kIndent.size() + launch.kernel.size() + grid.size() + 6;  // "[(,)]("
  if (width > kLineLength) {
    const std::string programs = local("programs");
    add(fmt::format("{} = {}\n", programs, grid));
    grid = programs;
  }
  body_ += bracketed(fmt::format("{}[({},)]", launch.kernel, grid), arguments, "", 1);
}

std::string HostText::definition(std::string_view summary) const {
  std::string out;
  if (profile_.grid_capped) {
    out = fmt::format(kCoreCount, fmt::arg("cache", names_.helper("cores")),
                      fmt::arg("count", names_.helper("core_count")),
                      fmt::arg("cores", profile_.cores));
  }
  out += bracketed("def " + names_.host(), signature(parameters_), ":", 0);
  return out + docstring(summary, 1) + body_;
}

}  // namespace ksplit::templates
