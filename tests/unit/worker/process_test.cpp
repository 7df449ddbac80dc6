// SPDX-License-Identifier: Apache-2.0
#include "worker/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <thread>

#include "core/files.h"
#include "support.h"
#include "worker/interrupt.h"

namespace ksplit {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<Process> shell(const std::string& script) {
  auto process = Process::spawn({{"/bin/sh", "-c", script}, {{"GREETING", "hello"}}, {}});
  EXPECT_TRUE(process) << process.error().message;
  return process ? *std::move(process) : nullptr;
}

Process::Clock::time_point in(std::chrono::milliseconds time) {
  return Process::Clock::now() + time;
}

TEST(Process, LinesGoInOnThreeAndComeOutOnFour) {
  const auto process = shell("while read -r line <&3; do echo \"$GREETING $line\" >&4; done");
  ASSERT_TRUE(process->write_line("a", in(10s)));
  ASSERT_TRUE(process->write_line("b", in(10s)));
  EXPECT_EQ(process->read_line(in(10s)).value(), "hello a");
  EXPECT_EQ(process->read_line(in(10s)).value(), "hello b");
  EXPECT_EQ(process->ending(), "");
  process->stop(10s);
  EXPECT_EQ(process->ending(), "exited with status 0");
}

TEST(Process, LargeLinesPassWhileTheChildPrints) {
  // More than a pipe holds in each direction, with output that would block an undrained child.
  const auto process = shell(
      "head -c 300000 /dev/zero | tr '\\0' x; read -r line <&3; echo \"$line\" >&4; echo done");
  const std::string line(1 << 20, 'z');
  ASSERT_TRUE(process->write_line(line, in(20s)));
  EXPECT_EQ(process->read_line(in(20s)).value(), line);
  process->stop(10s);
  EXPECT_EQ(process->log().last_lines(1).front().substr(0, 4), "xxxx");
}

TEST(Process, EndingsAreToldApart) {
  struct Ending {
    const char* script;
    const char* told;
  };
  for (const auto& [script, told] :
       {Ending{"exit 3", "exited with status 3"}, Ending{"kill -SEGV $$", "was killed by SIGSEGV"},
        Ending{"kill -ABRT $$", "was killed by SIGABRT"},
        Ending{"kill -KILL $$", "was killed by SIGKILL (memory ran out?)"},
        Ending{"exec 4>&-; sleep 60", "closed its answer pipe without ending"}}) {
    const auto process = shell(script);
    const auto line = process->read_line(in(20s));
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error().code, ErrorCode::worker_failed);
    EXPECT_EQ(line.error().message, told);
  }
}

TEST(Process, WritingToAChildThatIsGoneIsAnErrorNotASignal) {
  const auto process = shell("exec 3<&-; exit 2");
  const std::string line(1 << 20, 'z');
  const auto status = process->write_line(line, in(20s));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "exited with status 2");
}

TEST(Process, KnowsWhetherALineWasRead) {
  const auto reader = shell("read -r line <&3; exit 1");
  ASSERT_TRUE(reader->write_line("a", in(20s)));
  ASSERT_FALSE(reader->read_line(in(20s)));
  EXPECT_TRUE(reader->has_read_last_line());

  const auto leaver = shell("sleep 60");
  ASSERT_TRUE(leaver->write_line("a", in(20s)));
  kill(leaver->pid(), SIGTERM);
  ASSERT_FALSE(leaver->read_line(in(20s)));
  EXPECT_FALSE(leaver->has_read_last_line());
}

TEST(Process, NothingBlocksBeyondItsDeadline) {
  const auto process = shell("sleep 60");
  const auto read = process->read_line(in(50ms));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "did not answer within its time limit");
  const auto written = process->write_line(std::string(1 << 20, 'z'), in(50ms));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "did not answer within its time limit");
}

TEST(Process, AnEndlessPrinterDoesNotOutrunADeadline) {
  const auto process = shell("yes >&2");
  ASSERT_FALSE(process->read_line(in(200ms)));
  EXPECT_EQ(process->log().last_lines(1).front(), "y");
}

TEST(Process, LinesBeyondTheCapAreRefused) {
  const auto process = shell("head -c 70000000 /dev/zero >&4; sleep 60");
  const auto read = process->read_line(in(30s));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "sent a line of more than 67108864 bytes");
  const auto written = process->write_line(std::string(Process::kLineCap + 1, 'z'), in(30s));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "was sent 67108865 bytes, more than the 67108864 of one line");
}

TEST(Process, AnInterruptEndsAWait) {
  const auto process = shell("sleep 60");
  std::jthread user([] {
    std::this_thread::sleep_for(50ms);
    interrupt_requested = true;
  });
  const auto line = process->read_line(in(30s));
  interrupt_requested = false;
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, ErrorCode::interrupted);
}

TEST(Process, TheWholeGroupIsKilled) {
  auto process = shell("sleep 60 & echo $! >&4; wait");
  const auto grandchild = static_cast<pid_t>(std::stoi(process->read_line(in(20s)).value()));
  const pid_t child = process->pid();
  EXPECT_TRUE(runs(child));
  EXPECT_TRUE(runs(grandchild));
  process.reset();
  EXPECT_TRUE(ends(child));
  EXPECT_TRUE(ends(grandchild));
}

TEST(Process, ADescendantThatHoldsThePipesDoesNotHideTheEnd) {
  const auto process = shell("sleep 60 & echo $! >&4; exit 4");
  const auto grandchild = static_cast<pid_t>(std::stoi(process->read_line(in(20s)).value()));
  const auto line = process->read_line(in(20s));
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().message, "exited with status 4");
  EXPECT_TRUE(ends(grandchild));
}

TEST(Process, TheChildStartsClean) {
  // Our own descriptors do not leak, whatever this program has open; signals are at their defaults.
  const int leak = fcntl(1, F_DUPFD, 20);
  ASSERT_GE(leak, 20);
  const auto process = shell(
      "ls /proc/self/fd | tr '\\n' ' ' >&4; echo >&4; cat <&0 >&4; "
      "sed -n 's/^SigIgn:\\t//p' /proc/self/status >&4");
  close(leak);
  // `ls` adds the folder that it reads.
  EXPECT_EQ(process->read_line(in(20s)).value(), "0 1 2 3 4 5 ");
  const auto ignored = std::stoull(process->read_line(in(20s)).value(), nullptr, 16);
  // 32 and 33 are glibc's own: no program can set them, so whoever started us may pass them on.
  const auto of_glibc = (1ULL << 31) | (1ULL << 32);
  EXPECT_EQ(ignored & ~of_glibc, 0U);
}

TEST(Process, AMissingProgramIsAnEnvironmentError) {
  const auto process = Process::spawn({{"/no/such/python"}, {}, {}});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::environment);
  EXPECT_EQ(process.error().message, "cannot start `/no/such/python`: No such file or directory");
}

TEST(Process, OutputIsLogged) {
  const TemporaryFolder folder;
  const auto log = folder.path() / "worker.log";
  auto process = Process::spawn({{"/bin/sh", "-c", "echo out; echo err >&2"}, {}, log});
  ASSERT_TRUE(process);
  (*process)->stop(20s);
  EXPECT_EQ(read_file(log).value(), "out\nerr\n");
  EXPECT_EQ((*process)->log().last_lines(5), (std::vector<std::string>{"out", "err"}));
}

TEST(Process, ChildrenDieWithAParentThatIsKilled) {
  FILE* maker = popen("exec " ORPHAN_MAKER " & echo $!; wait", "r");
  ASSERT_NE(maker, nullptr);
  std::array<char, 32> text = {};
  ASSERT_NE(fgets(text.data(), text.size(), maker), nullptr);
  const auto parent = static_cast<pid_t>(std::stoi(text.data()));
  ASSERT_NE(fgets(text.data(), text.size(), maker), nullptr);
  const auto child = static_cast<pid_t>(std::stoi(text.data()));
  EXPECT_TRUE(runs(child));  // the thread that asked for it has ended
  kill(parent, SIGKILL);
  EXPECT_TRUE(ends(child));
  pclose(maker);
}

}  // namespace
}  // namespace ksplit
