// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "generate/candidate.h"
#include "python/module.h"
#include "task/case.h"

namespace ksplit {

/// What the comment at the top of an emitted file says. Without a version it does not say by whom
/// and when the file was written, so that a candidate's file depends on the candidate alone.
struct Header {
  std::string tool_version;                                   // "0.1.0"
  std::string date;                                           // "2026-11-30"
  std::string device;                                         // "NVIDIA H200"
  std::vector<std::pair<std::string, std::string>> versions;  // {"torch", "2.13.0"} ...
  std::vector<std::string> branches;  // one line each: group, kernel, cases, gain
};

/// The whole split file, complete Python that imports nothing of ours:
///
///   1. the header comment (below a `#!` or encoding line);
///   2. the base verbatim, except that its class ModelNew is called ModelBase and that
///      `if __name__ == "__main__":` blocks move to the end, where they meet the split ModelNew;
///      imports of torch, triton, triton.language and the candidates' own are added if missing;
///   3. the candidates' definitions, in order;
///   4. `class ModelNew(ModelBase)` whose `forward` only calls `_route`, and whose `_route` has the
///      same signature and the body `route_body` (unindented lines, formatted already).
///
/// If the base itself uses the name ModelBase, the class is called ModelBase_; a `_route` of the
/// base is renamed to `_route_base`, since the class below would otherwise override it.
/// Errors: unsupported (no class ModelNew with a forward; `tl` means something else; a candidate
/// defines a name of the base or of an earlier candidate).
Result<std::string> emit_file(const PythonModule& base, const Task& task,
                              const std::vector<Candidate>& candidates,
                              const std::string& route_body, const Header& header);

/// The file by which one candidate is judged: every input takes it.
Result<std::string> emit_candidate_file(const PythonModule& base, const Task& task,
                                        const Candidate& candidate, const Header& header);

/// Forward's parameters as arguments that pass them on: `x, dim, keepdim=keepdim, **options`.
std::string call_arguments(const Task& task);

/// The call of a specialised implementation, `sum_grp_small(self, x, dim)`, and of the base,
/// `super().forward(x, dim)`, from within `_route`.
std::string host_call(const std::string& host, const Task& task);
std::string base_call(const Task& task);

}  // namespace ksplit
