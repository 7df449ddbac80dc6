// SPDX-License-Identifier: Apache-2.0
#include "worker/output_log.h"

#include <gtest/gtest.h>

#include "core/files.h"
#include "support.h"

namespace ksplit {
namespace {

using Lines = std::vector<std::string>;

TEST(OutputLog, LastLinesSkipBlankOnes) {
  OutputLog log;
  EXPECT_EQ(log.last_lines(3), Lines{});
  log.append("a\n\n  \nb");
  log.append("c\r\n\n");
  EXPECT_EQ(log.last_lines(1), Lines{"bc\r"});
  EXPECT_EQ(log.last_lines(3), (Lines{"a", "bc\r"}));
}

TEST(OutputLog, LongLinesAreCut) {
  OutputLog log;
  log.append(std::string(1000, 'x') + "\n");
  EXPECT_EQ(log.last_lines(1).front(), std::string(400, 'x'));
}

TEST(OutputLog, OnlyTheTailIsKept) {
  OutputLog log;
  for (int i = 0; i < 100000; ++i) log.append("some output that a kernel prints\n");
  log.append("last\n");
  EXPECT_EQ(log.last_lines(1), Lines{"last"});
  EXPECT_LE(log.last_lines(1000000).size(), 2 * OutputLog::kTailCap / 30);
}

TEST(OutputLog, TheFileIsCappedAndAppendedTo) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "log";
  { OutputLog(file).append("first\n"); }
  {
    OutputLog log(file);
    const std::string chunk(1 << 20, 'x');
    for (int i = 0; i < 20; ++i) log.append(chunk);
    log.append("after\n");
    EXPECT_EQ(log.last_lines(1).size(), 1U);
  }
  const std::string kept = read_file(file).value();
  EXPECT_EQ(kept.substr(0, 6), "first\n");
  EXPECT_EQ(kept.substr(OutputLog::kFileCap), "\n[ksplit: the rest of this output is not kept]\n");
}

TEST(OutputLog, AFileThatCannotBeWrittenIsDoneWithout) {
  OutputLog log("/no/such/folder/log");
  log.append("still kept\n");
  EXPECT_EQ(log.last_lines(1), Lines{"still kept"});
}

}  // namespace
}  // namespace ksplit
