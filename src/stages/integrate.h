// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "stages/measure.h"
#include "stages/observer.h"
#include "stages/search.h"
#include "stages/session.h"
#include "stages/workspace.h"

namespace ksplit {

/// The whole file with everything that was measured of it.
struct Integration {
  std::string text;                   // split_kernel.py
  AccuracyVerdict accuracy;           // of the whole file on every case
  FuzzOutcome fuzz;                   // unseen inputs through the router
  std::map<int, Survey> times;        // arms: split, torch, base
  std::map<int, std::string> routes;  // by case: host function, or "base"
  double router_us = 0;               // the most any case pays
  std::string failure;                // why the file is not to be used; empty if it is
};

/// Puts the adopted parts behind one router, then verifies the whole file on every case and on
/// unseen inputs, and measures it beside base and torch. A part that turns out slower than the base
/// on a case, wrong on an unseen input, or that no simple test tells apart goes back to the base
/// (its `winner` is cleared and its `reason` says why) and the file is made again.
/// Errors: those of the worker; interrupted.
Result<Integration> integrate(Session& session, SearchResult& found,
                              const VerifyOutcome& base_accuracy, const Workspace& workspace,
                              Observer& observer);

}  // namespace ksplit
