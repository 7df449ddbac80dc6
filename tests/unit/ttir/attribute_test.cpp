// SPDX-License-Identifier: Apache-2.0
#include "ttir/attribute.h"

#include <gtest/gtest.h>

#include "ttir/parser.h"
#include "ttir/printer.h"

namespace ksplit::ttir {
namespace {

struct Row {
  const char* written;
  const char* printed;
};

// Reads an attribute as the value of a module's entry.
Result<Attribute> read(const std::string& text) {
  auto module = parse("module attributes {a = " + text + "} {\n}\n", "t");
  if (!module) return tl::unexpected(module.error());
  return *module->attributes.find("a");
}

// The right column is what Triton 3.6 prints for the left one.
TEST(Attribute, NumbersArePrintedAsTritonDoes) {
  const Row rows[] = {
      {"0.1 : f16", "9.997550e-02 : f16"},
      {"123456.789 : f32", "123456.789 : f32"},
      {"1.0e-7 : f32", "1.000000e-07 : f32"},
      {"16777217.0 : f32", "0x4B800000 : f32"},
      {"0.1 : f64", "1.000000e-01 : f64"},
      {"3.0e38 : f32", "3.000000e+38 : f32"},
      {"0.00012345678 : f32", "1.23456775E-4 : f32"},
      {"-1234567.0 : f32", "0xC996B438 : f32"},
      {"0x7FC00000 : f32", "0x7FC00000 : f32"},
      {"1.1 : f8E4M3FN", "1.125000e+00 : f8E4M3FN"},
      {"-0.0 : bf16", "-0.000000e+00 : bf16"},
      {"123456789.0 : f64", "0x419D6F3454000000 : f64"},
      {"1.2345678901234e+40 : f64", "1.2345678901234E+40 : f64"},
      {"448.0 : f8E4M3FN", "4.480000e+02 : f8E4M3FN"},
      {"0x7F : f8E4M3FN", "0x7F : f8E4M3FN"},
      {"-1 : i1", "true"},
      {"255 : i8", "-1 : i8"},
      {"18446744073709551615 : i64", "-1 : i64"},
      {"0xFF : i32", "255 : i32"},
      {"-9223372036854775808 : i64", "-9223372036854775808 : i64"},
      {"200 : ui8", "200 : ui8"},
      {"7", "7 : i64"},
  };
  for (const Row& row : rows) {
    const auto attribute = read(row.written);
    ASSERT_TRUE(attribute) << row.written << ": " << attribute.error().message;
    EXPECT_EQ(print(*attribute), row.printed) << row.written;
    EXPECT_EQ(read(row.printed).value(), *attribute) << row.printed;
  }
}

TEST(Attribute, TensorsArePrintedAsTritonDoes) {
  const Row rows[] = {
      {"dense<[1.0, 2.0, -0.0, 0x7FC00001]> : tensor<4xf32>",
       "dense<[1.000000e+00, 2.000000e+00, -0.000000e+00, 0x7FC00001]> : tensor<4xf32>"},
      {"dense<[[1, 2], [3, -4]]> : tensor<2x2xi8>", "dense<[[1, 2], [3, -4]]> : tensor<2x2xi8>"},
      {"dense<\"0x0100000002000000\"> : tensor<2xi32>", "dense<[1, 2]> : tensor<2xi32>"},
      {"dense<\"0xFEFF\"> : tensor<2xi8>", "dense<[-2, -1]> : tensor<2xi8>"},
      {"dense<\"0x05\"> : tensor<4xi1>", "dense<[true, false, true, false]> : tensor<4xi1>"},
      {"dense<[true, false]> : tensor<2xi1>", "dense<[true, false]> : tensor<2xi1>"},
      {"dense<-3> : tensor<8x4xi64>", "dense<-3> : tensor<8x4xi64>"},
      {"dense<> : tensor<0xf32>", "dense<> : tensor<0xf32>"},
      {"array<i32: 1, -2>", "array<i32: 1, -2>"},
      {"array<i1: true, false>", "array<i1: true, false>"},
      {"array<i32>", "array<i32>"},
  };
  for (const Row& row : rows) {
    const auto attribute = read(row.written);
    ASSERT_TRUE(attribute) << row.written << ": " << attribute.error().message;
    EXPECT_EQ(print(*attribute), row.printed) << row.written;
  }
}

TEST(Attribute, LongTensorsGoThroughBytes) {
  DenseElements dense{Type::tensor({128}, Type::integer(16)), {}};
  for (std::uint64_t i = 0; i < 128; ++i) dense.bits.push_back(i - 64);  // sign-extended
  const std::string text = print(Attribute{dense});
  EXPECT_TRUE(text.starts_with("dense<\"0xC0FF")) << text;
  EXPECT_EQ(read(text).value(), Attribute{dense});
  DenseElements flags{Type::tensor({130}, Type::integer(1)), std::vector<std::uint64_t>(130, 1)};
  flags.bits[3] = 0;
  EXPECT_EQ(read(print(Attribute{flags})).value(), Attribute{flags});
}

TEST(Attribute, OtherKindsRoundTrip) {
  const char* texts[] = {
      R"("say \22hi\22 \\ \0A")",
      "@name",
      R"(@"odd name")",
      "[1 : i32, \"a\", [true]]",
      "{a = 1 : i32, \"odd key\" = unit, flag}",
      "(i32, f32) -> i1",
      "tensor<4x!tt.ptr<f16>>",
      "unit",
      "#ttg.thing<{a = [1, 2]}>",
  };
  for (const char* text : texts) {
    const auto attribute = read(text);
    ASSERT_TRUE(attribute) << text << ": " << attribute.error().message;
    EXPECT_EQ(read(print(*attribute)).value(), *attribute) << text;
  }
  EXPECT_EQ(read(R"("say \22hi\22 \\ \0A")").value().as<StringAttr>()->value, "say \"hi\" \\ \n");
}

TEST(Attribute, WhatDoesNotFitIsRefused) {
  const Row rows[] = {
      {"256 : i8", "256 doesn't fit in i8"},
      {"-129 : i8", "129 doesn't fit in i8"},
      {"99999999999999999999 : i64", "99999999999999999999 doesn't fit in i64"},
      {"1.5 : i32", "1.5 is no integer"},
      {"3 : f32", "expected a decimal point in a number of type f32"},
      {"0x1FFFFFFFF : f32", "0x1FFFFFFFF doesn't fit in f32"},
      {"1.0e999 : f64", "1.0e999 is out of range"},
      {"1 : !tt.ptr<f32>", "a number can't have type !tt.ptr<f32>"},
      {"dense<[1, 2, 3]> : tensor<2xi32>", "3 elements for tensor<2xi32>"},
      {"dense<1> : i32", "a dense constant must be a tensor of numbers"},
      {"dense<\"0xABC\"> : tensor<2xi8>", "1 bytes for tensor<2xi8>"},
      {"dense<\"0xzz\"> : tensor<1xi8>", "expected hexadecimal digits"},
      {"{a = 1, a = 2}", "attribute 'a' is given twice"},
      {"1 : i128", "type 'i128' is not covered"},
      {"1 : i0", "type 'i0' is not covered"},
      {"tensor<99999999999x99999999999xf32>", "tensor size out of range"},
      {"tensor<?xf32>", "a tensor of unknown size is not covered"},
      {"tensor<4xf32, #blocked>", "a tensor with a layout is not covered"},
      {"!ttg.memdesc<4xf32>", "type '!ttg.memdesc' is not covered"},
      {"vector<4xf32>", "type 'vector' is not covered"},
  };
  for (const Row& row : rows) {
    const auto attribute = read(row.written);
    ASSERT_FALSE(attribute) << row.written;
    EXPECT_EQ(attribute.error().message, row.printed) << row.written;
  }
}

TEST(Dictionary, IsOrderedByName) {
  Dictionary entries;
  entries.set("b", Attribute{true});
  entries.set("a", Attribute{false});
  entries.set("b", Attribute{false});
  ASSERT_EQ(entries.entries.size(), 2U);
  EXPECT_EQ(entries.entries[0].name, "a");
  EXPECT_EQ(*entries.find("b")->as<bool>(), false);
  entries.erase("a");
  EXPECT_EQ(entries.find("a"), nullptr);
}

}  // namespace
}  // namespace ksplit::ttir
