// SPDX-License-Identifier: Apache-2.0
#include "worker/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "worker/descriptor.h"

namespace ksplit {

namespace {

constexpr int kFirstFree = 5;                     // the child owns descriptors 0 to 4
constexpr unsigned kCloseRangeCloexec = 1U << 2;  // CLOSE_RANGE_CLOEXEC, younger than some headers

/// Linux sends the parent-death signal when the *thread* that made the child ends, not the process.
/// So one thread, which lives as long as the program, makes all children.
class LaunchThread {
 public:
  static LaunchThread& instance() {
    static LaunchThread thread;
    return thread;
  }

  pid_t run(std::function<pid_t()> make_child) {
    std::packaged_task<pid_t()> task(std::move(make_child));
    std::future<pid_t> pid = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    arrived_.notify_one();
    return pid.get();
  }

 private:
  LaunchThread() : thread_([this](const std::stop_token& stop) { serve(stop); }) {}

  void serve(const std::stop_token& stop) {
    for (;;) {
      std::unique_lock lock(mutex_);
      if (!arrived_.wait(lock, stop, [this] { return !tasks_.empty(); })) return;
      std::packaged_task<pid_t()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::deque<std::packaged_task<pid_t()>> tasks_;
  std::jthread thread_;  // last: it uses the members above
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// A copy of `fd` that cannot be one of those the child's dup2 calls overwrite.
Descriptor above_the_childs(int fd) {
  return Descriptor(fcntl(fd, F_DUPFD_CLOEXEC, kFirstFree));
}

struct ChildSide {
  char* const* argv;
  char* const* envp;
  int requests;
  int answers;
  int output;
  int null;
  int report;  // where errno goes if the program cannot be run
  pid_t parent;
};

/// The child between fork and exec: other threads may have held locks at the fork, so nothing here
/// may allocate or lock.
[[noreturn]] void become_program(const ChildSide& side) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != side.parent) _exit(127);  // it died before the line above

  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal_number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) signal(signal_number, SIG_DFL);

  if (const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
    [[maybe_unused]] const ssize_t ignored = write(score, "1000", 4);
    close(score);
  }

  const std::array<std::array<int, 2>, 5> moves = {
      {{side.null, 0}, {side.output, 1}, {side.output, 2}, {side.requests, 3}, {side.answers, 4}}};
  const bool moved = std::all_of(moves.begin(), moves.end(),
                                 [](const auto& move) { return dup2(move[0], move[1]) >= 0; });
  // A library may have opened descriptors without close-on-exec; a kernel that does not know the
  // call leaves those to the child, which does no harm.
  syscall(SYS_close_range, static_cast<unsigned>(kFirstFree), ~0U, kCloseRangeCloexec);
  if (moved) execve(side.argv[0], side.argv, side.envp);
  const int reason = errno;
  [[maybe_unused]] const ssize_t ignored = write(side.report, &reason, sizeof reason);
  _exit(127);
}

tl::unexpected<Error> cannot_start(const std::string& program, int reason) {
  return fail(ErrorCode::environment,
              fmt::format("cannot start `{}`: {}", program, std::strerror(reason)));
}

/// 0 if the child became its program, else why it could not.
int read_report(int report) {
  int reason = 0;
  ssize_t got = 0;
  do {
    got = read(report, &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof reason) ? reason : 0;
}

}  // namespace

Result<pid_t> launch_child(const LaunchPlan& plan) {
  const std::string& program = plan.command.front();
  std::array<int, 2> report = {-1, -1};
  if (pipe2(report.data(), O_CLOEXEC) != 0) return cannot_start(program, errno);
  const Descriptor report_here(report[0]);
  Descriptor report_low(report[1]);
  Descriptor report_there = above_the_childs(report_low.get());
  report_low.reset();
  const Descriptor requests = above_the_childs(plan.requests);
  const Descriptor answers = above_the_childs(plan.answers);
  const Descriptor output = above_the_childs(plan.output);
  const Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!report_there || !requests || !answers || !output || !null) {
    return cannot_start(program, errno);
  }

  const std::vector<char*> argv = pointers_to(plan.command);
  const std::vector<char*> envp = pointers_to(plan.environment);
  const ChildSide side = {argv.data(),  envp.data(), requests.get(),     answers.get(),
                          output.get(), null.get(),  report_there.get(), getpid()};
  int fork_error = 0;
  const pid_t pid = LaunchThread::instance().run([&] {
    const pid_t child = fork();
    if (child == 0) become_program(side);
    fork_error = errno;
    return child;
  });
  if (pid < 0) return cannot_start(program, fork_error);
  setpgid(pid, pid);  // both sides do it, so that neither can meet a child without its group

  report_there.reset();
  if (const int reason = read_report(report_here.get()); reason != 0) {
    waitpid(pid, nullptr, 0);
    return cannot_start(program, reason);
  }
  return pid;
}

}  // namespace ksplit
