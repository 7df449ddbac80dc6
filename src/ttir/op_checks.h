// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ttir/ir.h"

/// Rules of single operations that a signature cannot say. Each takes an operation whose operands,
/// results, region count and attributes' presence fit its line of the op table, and returns what is
/// wrong as a text, or nothing.
namespace ksplit::ttir {

std::string check_constant(const Operation& op);
std::string check_select(const Operation& op);
std::string check_widens(const Operation& op);
std::string check_narrows(const Operation& op);
std::string check_same_width(const Operation& op);

std::string check_make_range(const Operation& op);
std::string check_splat(const Operation& op);
std::string check_unsplat(const Operation& op);
std::string check_broadcast(const Operation& op);
std::string check_expand_dims(const Operation& op);
std::string check_same_count(const Operation& op);
std::string check_trans(const Operation& op);
std::string check_join(const Operation& op);
std::string check_split(const Operation& op);
std::string check_cat(const Operation& op);
std::string check_gather(const Operation& op);
std::string check_dot(const Operation& op);
std::string check_block_pointer(const Operation& op);
std::string check_descriptor(const Operation& op);
std::string check_elementwise(const Operation& op);

std::string check_reduce(const Operation& op);
std::string check_scan(const Operation& op);
std::string check_map_elementwise(const Operation& op);
std::string check_for(const Operation& op);
std::string check_if(const Operation& op);
std::string check_while(const Operation& op);

}  // namespace ksplit::ttir
