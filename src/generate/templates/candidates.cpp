// SPDX-License-Identifier: Apache-2.0
#include "generate/templates/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "core/check.h"

namespace ksplit::templates {
namespace {

constexpr std::size_t kMostCandidates = 40;
constexpr std::size_t kMostCandidatesOnCpu = 10;

/// Microseconds; fitted to a few dozen hand-tried tilings, so right to a factor of about 1.5.
struct Costs {
  double launch;   // an empty kernel
  double program;  // starting one program
  double step;     // the latency of one dependent tile
  double element;  // per element and lane
};

Costs costs_of(const DeviceProfile& profile) {
  if (profile.kind == "gpu") return {1.0, 0.3, 0.08, 0.005};
  if (profile.kind == "npu") return {5.0, 1.0, 0.5, 0.032};
  return {1.0, 0.1, 0.02, 0.0012};
}

/// On a CPU, tiles beyond the first-level cache move their operands twice.
double spill_factor(const Work& work, const DeviceProfile& profile) {
  constexpr double kFirstLevel = 4096;  // elements: two operands and a result
  if (profile.kind != "cpu" || work.elements <= kFirstLevel) return 1.0;
  return 1.0 + 0.15 * std::log2(work.elements / kFirstLevel);
}

/// Folding across warps goes through shared memory.
double folding_us(const Work& work) {
  return work.warps > 1 ? 0.02 * std::log2(work.warps) : 0;
}

double lanes(const Work& work, const DeviceProfile& profile) {
  if (profile.kind == "gpu") return 32.0 * std::max(work.warps, 1);
  return profile.kind == "npu" ? 64.0 : 8.0;
}

/// Programs that run at once: a GPU's core holds as many as its threads and registers allow.
double concurrent(const Work& work, const DeviceProfile& profile) {
  if (profile.kind != "gpu") return profile.cores;
  const double by_threads = 64.0 / std::max(work.warps, 1);
  const double by_registers = 32768.0 / std::max(work.elements, 1.0);
  return profile.cores * std::clamp(std::min(by_threads, by_registers), 1.0, 32.0);
}

/// The first case that no precondition admits; null when the draft is right on all.
const Case* uncovered(const Draft& draft, const std::vector<const Case*>& cases) {
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case* sample) {
    return std::none_of(draft.preconditions.begin(), draft.preconditions.end(),
                        [&](const Guard& guard) { return holds(guard, *sample); });
  });
  return found == cases.end() ? nullptr : *found;
}

/// Sum of logarithms: the order of geometric means over the cases.
double log_estimate(const Draft& draft, std::size_t cases, const DeviceProfile& profile) {
  const std::size_t launches = draft.work.size() / std::max<std::size_t>(cases, 1);
  double sum = 0;
  for (std::size_t at = 0; at < draft.work.size(); at += launches) {
    double time = 0;
    for (std::size_t i = 0; i < launches; ++i) time += estimate_us(draft.work[at + i], profile);
    sum += std::log(time);
  }
  return sum;
}

/// The draft without its num_warps: what is varied in steps too fine to fill the list with.
std::string shape_of(const Draft& draft) {
  std::string shape;
  for (const auto& [name, value] : draft.parameters) {
    if (name != "num_warps") shape += name + "=" + to_python(value) + " ";
  }
  return shape;
}

/// At most two of a shape in the first part of the list, the others after all of those.
void spread_shapes(std::vector<Draft>& drafts) {
  std::map<std::string, int> seen;
  std::vector<Draft> first;
  std::vector<Draft> later;
  for (Draft& draft : drafts) {
    (++seen[shape_of(draft)] <= 2 ? first : later).push_back(std::move(draft));
  }
  std::move(later.begin(), later.end(), std::back_inserter(first));
  drafts = std::move(first);
}

/// Cuts an ordered list to `most`; those that are owed push others out from the end.
void limit(std::vector<Draft>& drafts, std::size_t most) {
  for (std::size_t at = drafts.size(); at-- > 0 && drafts.size() > most;) {
    if (!drafts[at].owed) drafts.erase(drafts.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace

std::int64_t round_up_to_power(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value)));
}

std::int64_t blocks_of(std::int64_t size, std::int64_t block) {
  return (size + block - 1) / block;
}

std::int64_t largest_tile(const DeviceProfile& profile) {
  constexpr std::int64_t kBytesPerElement = 24;  // two operands, a result, fp32 copies, a mask
  const std::int64_t elements = profile.fast_memory_bytes / kBytesPerElement;
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(elements)));
}

Subject subject_of(Subject::Kind kind, int argument, std::int64_t dimension) {
  return Subject{kind, argument, dimension, std::nullopt};
}

Test equals(Subject subject, Literal value) {
  return Test{subject, Test::Kind::equals, {std::move(value)}, {}};
}

Test one_of(Subject subject, const std::set<std::string>& values) {
  std::vector<Literal> literals(values.begin(), values.end());
  const auto kind = literals.size() == 1 ? Test::Kind::equals : Test::Kind::one_of;
  return Test{subject, kind, std::move(literals), {}};
}

Test between(Subject subject, std::int64_t low, std::int64_t high) {
  if (low == high) return equals(subject, low);
  return Test{subject, Test::Kind::between, {low, high}, {}};
}

Test equal_subjects(Subject subject, Subject other) {
  return Test{subject, Test::Kind::equals_subject, {}, other};
}

void require(Guard& guard, Test test) {
  const auto bounds = [](const Test& one) {
    return one.kind == Test::Kind::between ||
           (one.kind == Test::Kind::equals && one.values.at(0).as_int());
  };
  for (Test& known : guard) {
    if (known.subject != test.subject || !bounds(known) || !bounds(test)) continue;
    const std::int64_t low =
        std::max(*known.values.front().as_int(), *test.values.front().as_int());
    const std::int64_t high = std::min(*known.values.back().as_int(), *test.values.back().as_int());
    if (low <= high) {
      known = between(known.subject, low, high);
      return;
    }
  }
  guard.push_back(std::move(test));
}

Guard tensor_tests(int argument, const std::set<std::string>& dtypes, bool contiguous) {
  using Kind = Subject::Kind;
  std::set<std::string> names;
  for (const std::string& dtype : dtypes) names.insert("torch." + dtype);
  Guard guard = {equals(subject_of(Kind::type, argument), "Tensor"),
                 one_of(subject_of(Kind::dtype, argument), names),
                 equals(subject_of(Kind::grad, argument), false)};
  if (contiguous) guard.push_back(equals(subject_of(Kind::contiguous, argument), true));
  guard.push_back(between(subject_of(Kind::numel, argument), 1, kMaxElements));
  return guard;
}

double estimate_us(const Work& work, const DeviceProfile& profile) {
  const Costs costs = costs_of(profile);
  double programs = work.programs;
  double steps = work.steps;
  if (profile.grid_capped && programs > profile.cores) {
    steps *= std::ceil(programs / profile.cores);
    programs = profile.cores;
  }
  const double step = costs.step + costs.element * work.elements * spill_factor(work, profile) /
                                       lanes(work, profile);
  const double rounds = std::ceil(programs / concurrent(work, profile));
  const double chain = rounds * (costs.program + folding_us(work) + steps * step);
  const double memory = work.bytes / profile.bandwidth_bytes_per_us;
  // The shorter of the two is hidden but for a part, which also tells equals apart.
  return costs.launch + std::max(chain, memory) + 0.1 * std::min(chain, memory);
}

std::vector<int> fitting_warps(std::int64_t tile, const DeviceProfile& profile) {
  if (profile.warps.empty()) return {0};
  std::vector<int> fitting;
  const int widest = tile < 2048 ? 8 : 32;
  for (const int warps : profile.warps) {
    const std::int64_t elements = per_thread(tile, warps);
    if (elements >= 2 && elements <= 32 && warps <= widest) fitting.push_back(warps);
  }
  if (fitting.empty()) fitting.push_back(tile < 64 ? profile.warps.front() : profile.warps.back());
  return fitting;
}

Result<std::vector<Candidate>> ranked(const GeneratorContext& context, const std::string& generator,
                                      const Names& names, std::vector<Draft> drafts) {
  const Case* first_uncovered = nullptr;
  std::erase_if(drafts, [&](const Draft& draft) {
    const Case* sample = uncovered(draft, context.cases);
    if (sample && !first_uncovered) first_uncovered = sample;
    return sample != nullptr;
  });
  if (drafts.empty()) {
    KSPLIT_CHECK(first_uncovered, "a template that has a plan makes drafts");
    return fail(ErrorCode::unsupported,
                fmt::format("{}: no form is right on all cases of {}, such as case {} (not "
                            "contiguous, empty, or an axis of one element)",
                            generator, names.group_id, first_uncovered->index));
  }
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(drafts.size());
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    order.emplace_back(log_estimate(drafts[i], context.cases.size(), context.profile), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<Draft> best;
  best.reserve(drafts.size());
  for (const auto& [estimate, index] : order) best.push_back(std::move(drafts[index]));
  spread_shapes(best);
  limit(best, context.profile.kind == "cpu" ? kMostCandidatesOnCpu : kMostCandidates);

  const std::string family = generator.substr(generator.find('/') + 1);
  std::vector<Candidate> candidates;
  for (Draft& draft : best) {
    Candidate candidate;
    candidate.id = fmt::format("{}#{}-{}", names.group_id, family, candidates.size() + 1);
    candidate.generator = generator;
    candidate.group_id = names.group_id;
    candidate.parameters = std::move(draft.parameters);
    candidate.definitions = std::move(draft.definitions);
    candidate.host = names.host();
    candidate.preconditions = std::move(draft.preconditions);
    candidate.envelope = std::move(draft.envelope);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

Status check_names(const GeneratorContext& context, const Names& names) {
  const std::set<std::string> used = {"torch", "triton", "tl",    "list",
                                      "min",   "float",  "range", names.kernel()};
  for (const Parameter& parameter : context.task.parameters) {
    if (used.contains(parameter.name)) {
      return fail(ErrorCode::unsupported,
                  fmt::format("a parameter of forward is called `{}`, a name that specialised "
                              "kernels need",
                              parameter.name));
    }
  }
  return {};
}

}  // namespace ksplit::templates
