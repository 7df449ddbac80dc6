// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

/// What generated kernels and the launcher agree on. Included by both, so it needs only <stdint.h>.
///
/// A kernel library exports `ksplit_kernel` (a Kernel). The launcher packs the arguments into
/// 8-byte slots, splits the grid's programs into ranges and calls `run` for each range, on any
/// thread:
///
///   run(launch, first, last, frame)   programs first..last-1, numbered x + X * (y + Y * z)
///
/// `frame` is scratch memory of that thread: frame_bytes long, 64-byte aligned, its content
/// unknown.
namespace ksplit::cpu {

constexpr int32_t kAbiVersion = 1;

struct Launch;

/// The memory that a pointer argument may reach; only filled in check mode.
struct Extent {
  const char* begin;
  const char* end;
};

/// A place where a checked kernel touches memory, or a value is printed or asserted.
struct Site {
  const char* kernel;
  const char* file;
  int32_t line;
  const char* what;  // "load", "store", "atomic", or the message of an assertion or print
};

/// How a printed value's bits are to be read.
enum class PrintKind : int32_t { none, signed_integer, unsigned_integer, floating, pointer };

struct PrintItem {
  PrintKind kind;
  int32_t bits;     // width, for hexadecimal output
  int32_t hex;      // 0 or 1
  int64_t integer;  // pointers too
  double floating;
};

/// Services of the host, so that a kernel library needs no symbol of its own for them.
/// `access_fault` and `assert_fault` do not return: they unwind the program by an exception.
struct Services {
  void (*access_fault)(const Launch* launch, const int32_t* program, const Site* site,
                       int32_t argument, const void* address, int64_t bytes);
  void (*assert_fault)(const Launch* launch, const int32_t* program, const Site* site);
  void (*print)(const int32_t* program, const Site* site, const int64_t* index, int32_t rank,
                const PrintItem* items, int32_t count);
};

struct Launch {
  const uint64_t* arguments;  // one slot each; narrow values in the low bytes
  const Extent* extents;      // one for each slot, or null when access is not checked
  int32_t argument_count;
  int32_t grid[3];
  const Services* services;
};

using RunFunction = void (*)(const Launch* launch, int64_t first, int64_t last, char* frame);

struct Kernel {
  int32_t abi_version;
  int32_t argument_count;
  int32_t checked;      // 1: wants Launch::extents
  int64_t frame_bytes;  // scratch for one thread
  int64_t cost;         // rough work of one program, in element operations
  RunFunction run;
};

}  // namespace ksplit::cpu
