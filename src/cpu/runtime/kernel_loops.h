// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi.h"

/// The larger pieces of a kernel: its program ids and arguments, memory access that can't be
/// written as a plain `p[i]`, and the matrix product. Part of kernel.h.
namespace ksplit::cpu {

// --- the running program
// --------------------------------------------------------------------------

struct Program {
  const Launch* launch;
  char* frame;
  int32_t id[3];

  Program(const Launch* launch, char* frame) : launch(launch), frame(frame), id{} {}

  void move_to(int64_t number) {
    const int64_t row = number / launch->grid[0];
    id[0] = int32_t(number % launch->grid[0]);
    id[1] = int32_t(row % launch->grid[1]);
    id[2] = int32_t(row / launch->grid[1]);
  }
};

template <class T>
inline T argument(const Launch* launch, int32_t index) {
  T value;
  __builtin_memcpy(&value, &launch->arguments[index], sizeof(T));
  return value;
}

/// Scratch memory of the program at a fixed offset.
template <class T>
inline T* buffer(const Program& program, int64_t offset) {
  return static_cast<T*>(__builtin_assume_aligned(program.frame + offset, 64));
}

// --- memory
// ---------------------------------------------------------------------------------------

/// The pointer itself, when the tensor of argument `argument` (any tensor, if negative) holds all
/// of what it points to. Otherwise the launch ends with an error that names `site`.
template <class T>
inline T* checked(const Program& program, const Site* site, int32_t argument, T* pointer) {
  const Launch& launch = *program.launch;
  const char* first = reinterpret_cast<const char*>(pointer);
  const auto holds = [&](const Extent& extent) {
    return first >= extent.begin && first + sizeof(T) <= extent.end;
  };
  bool inside = false;
  if (argument >= 0) {
    inside = holds(launch.extents[argument]);
  } else {
    for (int32_t i = 0; i < launch.argument_count; ++i) inside |= holds(launch.extents[i]);
  }
  if (!inside) {
    launch.services->access_fault(&launch, program.id, site, argument, pointer, sizeof(T));
  }
  return pointer;
}

template <int kBytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = uint8_t;
};
template <>
struct UnsignedOf<2> {
  using type = uint16_t;
};
template <>
struct UnsignedOf<4> {
  using type = uint32_t;
};
template <>
struct UnsignedOf<8> {
  using type = uint64_t;
};

/// Replaces *pointer by update(*pointer), seen by all threads as one step; gives the old value.
template <class T, class Update>
inline T atomic_update(T* pointer, Update update) {
  using Bits = typename UnsignedOf<sizeof(T)>::type;
  Bits* place = reinterpret_cast<Bits*>(pointer);
  Bits old = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  for (;;) {
    const Bits changed = bit_cast<Bits>(T(update(bit_cast<T>(old))));
    if (__atomic_compare_exchange_n(place, &old, changed, true, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      return bit_cast<T>(old);
    }
  }
}

/// Replaces *pointer by `desired` if it has the bits of `expected`; gives the old value.
template <class T>
inline T atomic_exchange_if(T* pointer, T expected, T desired) {
  using Bits = typename UnsignedOf<sizeof(T)>::type;
  Bits old = bit_cast<Bits>(expected);
  __atomic_compare_exchange_n(reinterpret_cast<Bits*>(pointer), &old, bit_cast<Bits>(desired),
                              false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return bit_cast<T>(old);
}

/// Asks for the lines of kLanes elements one page further on, if there is one.
template <int kLanes, class T>
inline void fetch_next_page(const T* pointer) {
  constexpr int64_t kPageBytes = 4096;
  const char* first = reinterpret_cast<const char*>(pointer) + kPageBytes;
#pragma GCC unroll 8
  for (int64_t byte = 0; byte < kLanes * int64_t(sizeof(T)); byte += 64) {
    __builtin_prefetch(first + byte);
  }
}

/// Asks for the lines of kLanes elements that will be written.
template <int kLanes, class T>
inline void fetch_to_write(T* pointer) {
  char* first = reinterpret_cast<char*>(pointer);
#pragma GCC unroll 8
  for (int64_t byte = 0; byte < kLanes * int64_t(sizeof(T)); byte += 64) {
    __builtin_prefetch(first + byte, 1);
  }
}

/// Swaps two pointers.
template <class T>
inline void exchange(T*& a, T*& b) {
  T* const c = a;
  a = b;
  b = c;
}

/// A rectangle of memory: rows of `columns` neighbours, at most kMaxRank - 1 outer dimensions.
template <int kRank>
struct Tile {
  int64_t size[kRank];
  int64_t stride[kRank];  // in elements; the innermost is 1
};

/// Whether a loop may read `from` and write `to` in one pass. It may when the two don't meet, or
/// are the same places in the same order; a partial overlap would let it read what it has just
/// written.
template <int kRank>
inline bool in_step(const char* from, const Tile<kRank>& read, int64_t read_bytes, const char* to,
                    const Tile<kRank>& written, int64_t written_bytes) {
  int64_t read_first = 0, read_last = 0, written_first = 0, written_last = 0;
  bool same = from == to && read_bytes == written_bytes;
  for (int d = 0; d < kRank; ++d) {
    const int64_t reach = read.stride[d] * (read.size[d] - 1);
    const int64_t other = written.stride[d] * (written.size[d] - 1);
    (reach < 0 ? read_first : read_last) += reach;
    (other < 0 ? written_first : written_last) += other;
    same &= read.size[d] <= 1 || read.stride[d] == written.stride[d];
    if (read.size[d] <= 0 || written.size[d] <= 0) return true;
  }
  return same || from + (read_last + 1) * read_bytes <= to + written_first * written_bytes ||
         to + (written_last + 1) * written_bytes <= from + read_first * read_bytes;
}

/// Makes it safe to read the tile at `from` in the loop that writes the tile at `to`: where they
/// overlap, reads from `copy` instead, which holds what the loop has to see.
template <int kRank, class T, class U>
inline void keep_ahead(T*& from, Tile<kRank>& read, const U* to, const Tile<kRank>& written,
                       T* copy) {
  if (__builtin_expect(in_step(reinterpret_cast<const char*>(from), read, sizeof(T),
                               reinterpret_cast<const char*>(to), written, sizeof(U)),
                       1)) {
    return;
  }
  int64_t rows = 1;
  for (int d = 0; d < kRank - 1; ++d) rows *= read.size[d];
  const int64_t columns = read.size[kRank - 1];
  for (int64_t row = 0; row < rows; ++row) {
    int64_t rest = row, offset = 0;
    for (int d = kRank - 2; d >= 0; --d) {
      offset += rest % read.size[d] * read.stride[d];
      rest /= read.size[d];
    }
    for (int64_t i = 0; i < columns; ++i) copy[row * columns + i] = from[offset + i];
  }
  from = copy;
  int64_t stride = 1;
  for (int d = kRank - 1; d >= 0; --d) {
    read.stride[d] = stride;
    stride *= read.size[d];
  }
}

// --- matrix product
// -------------------------------------------------------------------------------

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kDotRows = 8;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
constexpr int kDotRows = 4;
#else
constexpr int kVectorBytes = 16;
constexpr int kDotRows = 4;
#endif

/// out[kRows, 2 vectors] = c + a * b, kept in registers. Strides are the matrices' row lengths.
template <class T, int kRows, int kColumns, int kInner>
inline void dot_block(const T* a, const T* b, const T* c, T* out) {
  typedef T Vector __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
  constexpr int kLanes = kVectorBytes / int(sizeof(T));
  Vector sum[kRows][2];
#pragma GCC unroll 8
  for (int m = 0; m < kRows; ++m) {
    sum[m][0] = *reinterpret_cast<const Vector*>(c + m * kColumns);
    sum[m][1] = *reinterpret_cast<const Vector*>(c + m * kColumns + kLanes);
  }
  for (int k = 0; k < kInner; ++k) {
    const Vector left = *reinterpret_cast<const Vector*>(b + k * kColumns);
    const Vector right = *reinterpret_cast<const Vector*>(b + k * kColumns + kLanes);
#pragma GCC unroll 8
    for (int m = 0; m < kRows; ++m) {
      sum[m][0] += a[m * kInner + k] * left;
      sum[m][1] += a[m * kInner + k] * right;
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < kRows; ++m) {
    *reinterpret_cast<Vector*>(out + m * kColumns) = sum[m][0];
    *reinterpret_cast<Vector*>(out + m * kColumns + kLanes) = sum[m][1];
  }
}

/// out[M, N] = c[M, N] + a[M, K] * b[K, N], row-major; `out` may be `c`, and nothing else overlaps.
/// TA and TB widen to the accumulator's type without loss.
template <int kM, int kN, int kK, class TA, class TB, class TC>
inline void dot(const TA* a, const TB* b, const TC* c, TC* out) {
  constexpr bool same = __is_same(TA, TB) && __is_same(TB, TC);
  constexpr int kPair = 2 * kVectorBytes / int(sizeof(TC));
  constexpr int kRows = kM < kDotRows ? kM : kDotRows;
  if constexpr (same && kN % kPair == 0) {
    for (int n = 0; n < kN; n += kPair) {
      for (int m = 0; m < kM; m += kRows) {
        dot_block<TC, kRows, kN, kK>(a + m * kK, b + n, c + m * kN + n, out + m * kN + n);
      }
    }
  } else {
    for (int m = 0; m < kM; ++m) {
      TC sum[kN];
      for (int n = 0; n < kN; ++n) sum[n] = c[m * kN + n];
      for (int k = 0; k < kK; ++k) {
        const TC left = TC(a[m * kK + k]);
#pragma GCC ivdep
        for (int n = 0; n < kN; ++n) sum[n] += left * TC(b[k * kN + n]);
      }
      for (int n = 0; n < kN; ++n) out[m * kN + n] = sum[n];
    }
  }
}

}  // namespace ksplit::cpu
