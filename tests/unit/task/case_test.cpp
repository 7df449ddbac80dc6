// SPDX-License-Identifier: Apache-2.0
#include "task/case.h"

#include <gtest/gtest.h>

namespace ksplit {
namespace {

TensorSpec tensor(std::string dtype, std::vector<std::int64_t> shape) {
  TensorSpec spec;
  spec.dtype = std::move(dtype);
  spec.shape = std::move(shape);
  return spec;
}

TEST(TensorSpec, CountsElements) {
  EXPECT_EQ(tensor("float32", {}).numel(), 1);
  EXPECT_EQ(tensor("float32", {3, 0, 5}).numel(), 0);
  EXPECT_EQ(tensor("float32", {65536, 65536}).numel(), std::int64_t{1} << 32);
}

TEST(TensorSpec, ItemBytesOfTorchsNames) {
  const std::pair<const char*, int> table[] = {
      {"float64", 8},     {"float32", 4}, {"float16", 2}, {"bfloat16", 2},  {"float8_e4m3fn", 1},
      {"float8_e5m2", 1}, {"int64", 8},   {"int32", 4},   {"int16", 2},     {"int8", 1},
      {"uint8", 1},       {"bool", 1},    {"uint16", 2},  {"complex64", 8}, {"complex128", 16},
  };
  for (const auto& [dtype, bytes] : table)
    EXPECT_EQ(tensor(dtype, {}).item_bytes(), bytes) << dtype;
}

TEST(Case, LargestNumelIsThatOfOneTensor) {
  const Case sample{
      1, {{"x", tensor("float32", {4, 8})}, {"y", tensor("float16", {100})}, {"dim", Literal{1}}}};
  EXPECT_EQ(sample.largest_numel(), 100);
  EXPECT_EQ(Case{}.largest_numel(), 0);
}

}  // namespace
}  // namespace ksplit
