// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "generate/candidate.h"
#include "generate/guard.h"
#include "task/case.h"

// The router: which implementation serves an input.
//
// Its meaning is a list of branches, first match wins; its form is the smallest tree of nested ifs
// with that meaning:
//
//   if type(dim) is int and x.dtype is torch.float16 and x.is_contiguous():
//       x_size_dim = x.size(dim)
//       if 1 <= x_size_dim <= 256:
//           return sum_grp_small(self, x, dim)
//       if 257 <= x_size_dim <= 4096:
//           return sum_grp_medium(self, x, dim)
//   return ModelBase.forward(self, x, dim)
//
// A test is safe where the tests that its guard states before it on the same arguments have held:
// the search never moves it above those.

namespace ksplit {

/// An implementation and what it accepts: any one of the guards.
struct RouteBranch {
  std::string host;  // function called as `host(self, ...)`
  std::vector<Guard> accepts;
};

/// A part of a group with the kernel that was adopted for it.
struct RoutedPart {
  const Candidate* candidate = nullptr;
  std::vector<const Case*> cases;
  Guard separating;  // from `divide_group`
};

/// What the part's branch accepts: a precondition of the kernel, and the measured range of its
/// envelope, and the tests that tell the part from `others`, the cases that no earlier branch
/// serves and that this one must not. Tests are added until none of those is left. Errors:
/// unsupported, naming the cases that no simple test tells apart.
Result<RouteBranch> build_branch(const RoutedPart& part, const std::vector<const Case*>& others,
                                 const Task& task);

/// Branches for all parts, in order; `all` are the task's cases. A broken promise (a case that
/// would not take its part's branch, or another's) is an internal error. Errors: as above, with the
/// group's id.
Result<std::vector<RouteBranch>> build_branches(const std::vector<RoutedPart>& parts,
                                                const std::vector<const Case*>& all,
                                                const Task& task);

/// Position of the first branch that accepts the case; -1: the base serves it.
int route(const std::vector<RouteBranch>& branches, const Case& sample);

/// The nested form. A block runs its statements in order; one whose tests hold runs its body, and
/// what does not return there goes on with the next statement.
struct RouteBlock {
  struct Statement;
  std::vector<Statement> statements;
};
struct RouteBlock::Statement {
  Guard tests;      // all must hold, evaluated in order
  RouteBlock body;  // when `branch` is -1
  int branch = -1;  // else: returned
};

/// The tree with the fewest tests evaluated, summed over the sample cases; exact for small inputs.
RouteBlock build_route_tree(const std::vector<RouteBranch>& branches,
                            const std::vector<const Case*>& samples);

/// What the tree returns on a case, and how many tests that took.
struct RouteWalk {
  int branch = -1;
  int tests = 0;
};
RouteWalk walk(const RouteBlock& tree, const Case& sample);

/// Python statements without outer indentation, ending in `return {fallback_text}`.
std::string print_route(const RouteBlock& tree, const std::vector<RouteBranch>& branches,
                        const Task& task, const std::string& fallback_text);

/// All of it: the body of `_route`, for the task's cases.
std::string route_body(const std::vector<RouteBranch>& branches, const Task& task,
                       const std::string& fallback_text);

}  // namespace ksplit
