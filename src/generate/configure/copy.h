// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/result.h"
#include "generate/configure/variant.h"
#include "python/host_graph.h"

namespace ksplit {

/// Names that the copies of a group have: `{op}_kernel_{group}` for the first kernel,
/// `{op}_{name}_kernel_{group}` for others (without a `_kernel` that their name ends in),
/// `{op}_{group}` for forward, and the original's name followed by the group for everything else.
/// Errors: unsupported if the file uses one that is not free to choose.
struct CopyNames {
  std::map<int, std::string> kernels;
  std::map<int, std::string> units;
  std::string group_id;
};
Result<CopyNames> copy_names(const PythonModule& module, const HostGraph& graph,
                             const std::vector<KernelUse>& uses, const std::string& op_name,
                             const std::string& group_id);

/// The units that must be copied for a variant: those that lead to one of its kernels, those that
/// read a tile size that it changes, and all that lead to them.
std::set<int> copied_units(const HostGraph& graph, const Choices& choices, const Variant& variant);

/// Whether a unit means the same outside of its place. Errors: unsupported, naming the line: a
/// method that uses `super()` or private names, a property, a registered operator, `async`.
Status check_copyable(const PythonModule& module, const HostGraph& graph, int unit);

/// The copies of kernels and units, in the order of the file, with the variant's changes. Forward's
/// copy stands last, without defaults: its caller passes everything.
std::string copy_text(const PythonModule& module, const HostGraph& graph, const Choices& choices,
                      const Variant& variant, const CopyNames& names);

}  // namespace ksplit
