// SPDX-License-Identifier: Apache-2.0
#include "generate/profile.h"

#include <gtest/gtest.h>

namespace ksplit {
namespace {

constexpr const char* kComplete = R"(kind = "gpu"
cores = 10
fast_memory_bytes = 1000
grid_capped = false
warps = [1, 8]
stages = []
bandwidth_bytes_per_us = 5
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST(ProfileTest, ReadsEveryKey) {
  const auto profile = load_profile(kComplete, "mine");
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->name, "mine");
  EXPECT_EQ(profile->kind, "gpu");
  EXPECT_EQ(profile->cores, 10);
  EXPECT_EQ(profile->warps, (std::vector<int>{1, 8}));
  EXPECT_TRUE(profile->stages.empty());
  EXPECT_EQ(profile->bandwidth_bytes_per_us, 5.0);
}

struct BadRow {
  std::string text;
  const char* message;
  int line;
};

class BadProfile : public ::testing::TestWithParam<BadRow> {};

TEST_P(BadProfile, NamesKeyAndLine) {
  const auto profile = load_profile(GetParam().text, "mine");
  ASSERT_FALSE(profile.has_value());
  EXPECT_EQ(profile.error().code, ErrorCode::input_malformed);
  EXPECT_NE(profile.error().message.find(GetParam().message), std::string::npos)
      << profile.error().message;
  ASSERT_TRUE(profile.error().at.has_value());
  EXPECT_EQ(profile.error().at->line, GetParam().line);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadProfile,
    ::testing::Values(
        BadRow{with(kComplete, "cores = 10\n", ""), "key `cores` is missing", 1},
        BadRow{with(kComplete, "cores = 10", "cores = 0"), "`cores` must be a positive", 2},
        BadRow{with(kComplete, "false", "\"no\""), "`grid_capped` must be true or false", 4},
        BadRow{with(kComplete, "[1, 8]", "[1, 64]"), "`warps` must be", 5},
        BadRow{with(kComplete, "[1, 8]", "[1, \"8\"]"), "`warps` must be", 5},
        BadRow{with(kComplete, "\"gpu\"", "\"tpu\""), "`kind` must be gpu, cpu or npu", 1},
        BadRow{with(kComplete, "stages", "stagse"), "`stages` is missing", 1},
        BadRow{std::string(kComplete) + "clock = 3\n", "unknown key `clock`", 8},
        BadRow{with(kComplete, "= 10", "= ="), "profile mine:", 2}));

TEST(ProfileTest, EveryBuiltinLoads) {
  const std::vector<std::string> names = builtin_profile_names();
  EXPECT_EQ(names.size(), 5u);
  for (const std::string& name : names) {
    const auto profile = builtin_profile(name);
    ASSERT_TRUE(profile.has_value()) << profile.error().message;
    EXPECT_EQ(profile->name, name);
    EXPECT_EQ(profile->kind == "gpu", !profile->warps.empty()) << name;
    EXPECT_EQ(profile->kind == "npu", profile->grid_capped) << name;
  }
  const auto none = builtin_profile("h2000");
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().hint.find("h200"), std::string::npos);
}

TEST(ProfileTest, DefaultFollowsTheDevice) {
  const auto name = [](const char* kind, const char* device) {
    const auto profile = default_profile(kind, device);
    return profile ? profile->name : profile.error().message;
  };
  EXPECT_EQ(name("gpu", "NVIDIA H200"), "h200");
  EXPECT_EQ(name("gpu", "NVIDIA A100-SXM4-80GB"), "a100");
  EXPECT_EQ(name("gpu", "NVIDIA GeForce RTX 4090"), "generic-gpu");
  EXPECT_EQ(name("cpu", "AMD EPYC"), "cpu");
  EXPECT_EQ(name("npu", "Ascend910B2"), "ascend910b");
  EXPECT_EQ(name("npu", "Ascend310"), "ascend910b");
  EXPECT_EQ(default_profile("tpu", "").error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace ksplit
