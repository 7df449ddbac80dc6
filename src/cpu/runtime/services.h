// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cpu/runtime/abi.h"

namespace ksplit::cpu {

/// What kernels call back: faults throw KernelFault, prints go to stdout, one line at a time.
const Services& host_services();

}  // namespace ksplit::cpu
