// SPDX-License-Identifier: Apache-2.0
#include "task/case.h"

#include <algorithm>
#include <charconv>

namespace ksplit {

std::int64_t TensorSpec::numel() const {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) product *= size;
  return product;
}

std::int64_t TensorSpec::item_bytes() const {
  // torch puts the width in bits into the name of every dtype but bool: "bfloat16", "float8_e5m2".
  const std::size_t digits = dtype.find_first_of("0123456789");
  int bits = 8;
  if (digits != std::string::npos) {
    std::from_chars(dtype.data() + digits, dtype.data() + dtype.size(), bits);
  }
  return std::max(1, bits / 8);
}

std::int64_t Case::largest_numel() const {
  std::int64_t largest = 0;
  for (const Argument& input : inputs) {
    if (const TensorSpec* tensor = input.tensor()) largest = std::max(largest, tensor->numel());
  }
  return largest;
}

}  // namespace ksplit
