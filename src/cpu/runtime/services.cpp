// SPDX-License-Identifier: Apache-2.0
#include "cpu/runtime/services.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <mutex>
#include <span>
#include <string>

#include "cpu/runtime/pool.h"

namespace ksplit::cpu {
namespace {

std::string program_text(const std::int32_t* program) {
  return fmt::format("({}, {}, {})", program[0], program[1], program[2]);
}

std::string place_text(const Site& site) {
  return fmt::format("kernel {} at {}:{}", site.kernel, site.file, site.line);
}

void access_fault(const Launch* launch, const std::int32_t* program, const Site* site,
                  std::int32_t argument, const void* address, std::int64_t bytes) {
  std::string where = fmt::format("address {}, in no tensor that was passed", address);
  if (argument >= 0) {
    const Extent& extent = launch->extents[argument];
    where = fmt::format("byte offset {} of argument {}, which has {} bytes",
                        static_cast<const char*>(address) - extent.begin, argument,
                        extent.end - extent.begin);
  }
  throw KernelFault(fmt::format("{}: {} of {} bytes out of bounds in program {}: {}",
                                place_text(*site), site->what, bytes, program_text(program),
                                where));
}

void assert_fault(const Launch*, const std::int32_t* program, const Site* site) {
  throw KernelFault(fmt::format("{}: assertion failed in program {}: {}", place_text(*site),
                                program_text(program), site->what));
}

std::string item_text(const PrintItem& item) {
  switch (item.kind) {
    case PrintKind::none: return {};
    case PrintKind::floating: return fmt::format("{:f}", item.floating);
    case PrintKind::pointer: return fmt::format("{:#x}", static_cast<std::uint64_t>(item.integer));
    case PrintKind::signed_integer:
    case PrintKind::unsigned_integer: break;
  }
  if (item.hex != 0) {
    const std::uint64_t mask =
        item.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << item.bits) - 1;
    return fmt::format("0x{:0{}x}", static_cast<std::uint64_t>(item.integer) & mask,
                       (item.bits + 3) / 4);
  }
  if (item.kind == PrintKind::signed_integer) return fmt::format("{}", item.integer);
  return fmt::format("{}", static_cast<std::uint64_t>(item.integer));
}

void print(const std::int32_t* program, const Site* site, const std::int64_t* index,
           std::int32_t rank, const PrintItem* items, std::int32_t count) {
  std::string line = fmt::format("pid {} ", program_text(program));
  if (rank > 0) {
    line +=
        fmt::format("idx ({}) ", fmt::join(std::span(index, static_cast<std::size_t>(rank)), ", "));
  }
  line += site->what;
  for (std::int32_t i = 0; i < count; ++i) line += item_text(items[i]);
  line += '\n';
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

const Services& host_services() {
  static const Services kServices = {access_fault, assert_fault, print};
  return kServices;
}

}  // namespace ksplit::cpu
