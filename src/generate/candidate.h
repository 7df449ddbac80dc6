// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyze/facts.h"
#include "analyze/group.h"
#include "core/literal.h"
#include "generate/guard.h"
#include "generate/profile.h"
#include "python/module.h"
#include "task/case.h"
#include "task/launch.h"

namespace ksplit {

/// A specialised implementation of the operator for one group. Complete Python once `emit_file`
/// (dispatch/emit.h) has put it behind the base. Never trusted: the judge decides.
struct Candidate {
  std::string id;         // unique in a run: "grp_reduce_last_small#7"
  std::string generator;  // "template/reduce-last", "configure"
  std::string group_id;
  std::map<std::string, Literal> parameters;  // what was chosen: BLOCK_RED, num_warps ...
  std::vector<std::string> imports;  // lines beyond `import torch`, `import triton`, `import
                                     // triton.language as tl`, which every emitted file has
  std::string definitions;  // kernels and host functions; every name in it carries the group id.
                            // The kernel is `{op_name}_kernel_{group_id}`
  std::string host;         // `def {host}(self, <forward's parameters>)` in `definitions`
  std::vector<Guard> preconditions;  // right for every input on which at least one of them holds
  std::vector<Subject> envelope;     // numeric subjects by whose measured range routing is bounded
};

/// All a generator may look at.
struct GeneratorContext {
  const Task& task;
  const Group& group;
  std::vector<const Case*> cases;          // of the group
  std::vector<const LaunchTrace*> traces;  // of the base, same order
  const OperatorFacts& facts;
  const PythonModule& base;
  const DeviceProfile& profile;
};

/// The candidate under another group's name (after a group was divided).
Candidate renamed(const Candidate& candidate, const std::string& group_id);

}  // namespace ksplit
