// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generate/profile.h"
#include "task/case.h"

// Python text of a template: kernels that work on one tile, and the host function that launches
// them. Formatted as black would leave it at 100 columns.

namespace ksplit::templates {

/// Every name that a template defines carries the group's id.
struct Names {
  std::string op;
  std::string group_id;

  std::string host() const { return op + "_" + group_id; }
  std::string kernel() const { return op + "_kernel_" + group_id; }
  std::string kernel(std::string_view part) const {
    return op + "_" + std::string(part) + "_kernel_" + group_id;
  }
  std::string helper(std::string_view what) const {
    return op + "_" + std::string(what) + "_" + group_id;
  }
};

/// Shifts every line right by `levels` times four blanks.
std::string indented(std::string_view text, int levels);

/// `head(item, item)tail` on one line if it fits at this level of indentation, else with the items
/// on a line of their own, else with one item a line.
std::string bracketed(std::string_view head, const std::vector<std::string>& items,
                      std::string_view tail, int levels);

/// A kernel, told by what it does for one tile. `tile` in the body is the tile's number.
struct KernelText {
  std::string name;
  std::string summary;                 // the docstring
  std::vector<std::string> arguments;  // values of run time: "x_ptr", "n_rows"
  std::vector<std::string> constants;  // names of the tl.constexpr parameters
  std::string body;
};

/// One tile a program; with a capped grid, each program loops over a contiguous share of the tiles,
/// whose number is then the last run-time argument.
std::string definition(const KernelText& kernel, const DeviceProfile& profile);

/// One launch of a kernel, in terms of the host function's names.
struct LaunchText {
  std::string kernel;
  std::string tiles;  // Python expression: how many
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> constants;
  int warps = 0;  // 0: the device has none
};

/// Builds `def {host}(self, <forward's parameters>)` statement by statement.
class HostText {
 public:
  HostText(Names names, const std::vector<Parameter>& parameters, const DeviceProfile& profile);

  /// A local name that no parameter has: `wanted`, else with underscores appended.
  std::string local(std::string wanted);

  /// One or more statements, indented relative to the function's body.
  void add(std::string_view statements);

  void launch(const LaunchText& launch);

  /// The whole definition, after the function it needs to ask for the number of cores, if any.
  std::string definition(std::string_view summary) const;

 private:
  Names names_;
  const std::vector<Parameter>& parameters_;
  const DeviceProfile& profile_;
  std::set<std::string> taken_;
  std::string body_;
};

}  // namespace ksplit::templates
