// SPDX-License-Identifier: Apache-2.0
#include "generate/candidate.h"

#include <gtest/gtest.h>

namespace ksplit {
namespace {

TEST(RenamedTest, FollowsNamesThatEndInTheGroup) {
  Candidate candidate;
  candidate.id = "grp_a#reduce-last-3";
  candidate.group_id = "grp_a";
  candidate.host = "sum_grp_a";
  candidate.definitions =
      "def sum_kernel_grp_a(x):\n"
      "    # see sum_combine_grp_a; not sum_grp_ab, grp_a_x or mygrp_a\n"
      "    return sum_combine_grp_a(x)\n";
  const Candidate copy = renamed(candidate, "grp_a_part2");
  EXPECT_EQ(copy.id, "grp_a_part2#reduce-last-3");
  EXPECT_EQ(copy.group_id, "grp_a_part2");
  EXPECT_EQ(copy.host, "sum_grp_a_part2");
  EXPECT_EQ(copy.definitions,
            "def sum_kernel_grp_a_part2(x):\n"
            "    # see sum_combine_grp_a_part2; not sum_grp_ab, grp_a_x or mygrp_a\n"
            "    return sum_combine_grp_a_part2(x)\n");
}

TEST(RenamedTest, BackAgainIsTheSame) {
  Candidate candidate;
  candidate.group_id = "grp_a";
  candidate.host = "f_grp_a";
  candidate.definitions = "f_grp_a = grp_a";
  const Candidate back = renamed(renamed(candidate, "other"), "grp_a");
  EXPECT_EQ(back.definitions, candidate.definitions);
  EXPECT_EQ(back.host, candidate.host);
}

}  // namespace
}  // namespace ksplit
