// SPDX-License-Identifier: Apache-2.0
#include "worker/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "worker/interrupt.h"
#include "worker/launch.h"

namespace ksplit {

namespace {

using namespace std::chrono_literals;

/// How often a wait looks at the interrupt flag, and whether a child whose pipes a descendant still
/// holds has ended.
constexpr auto kSlice = 50ms;

/// How long a child that closed a pipe may take to end, so that its signal or status can be told.
constexpr auto kEndingGrace = 500ms;

/// A killed child is gone at once unless a driver holds it in the kernel.
constexpr auto kReapPatience = 5s;

/// Bytes taken per wait from one pipe: a child that prints without end must not outrun a deadline.
constexpr std::size_t kBytesPerTurn = 4 << 20;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::environment, fmt::format("cannot make a pipe: {}", strerror(errno)));
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

void make_non_blocking(const Descriptor& fd) {
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

void ignore_broken_pipes() {
  static std::once_flag once;
  std::call_once(once, [] { std::signal(SIGPIPE, SIG_IGN); });
}

/// Our environment with `changes` on top.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool changed = std::any_of(changes.begin(), changes.end(),
                                     [&](const auto& change) { return change.first == name; });
    if (!changed) environment.emplace_back(text);
  }
  for (const auto& [name, value] : changes)
    environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

/// Gives `sink` what has arrived in `fd`, and closes it at its end.
template <class Sink>
void drain(Descriptor& fd, Sink&& sink) {
  std::array<char, 64 << 10> chunk;
  for (std::size_t taken = 0; fd && taken < kBytesPerTurn;) {
    const ssize_t got = read(fd.get(), chunk.data(), chunk.size());
    if (got > 0) {
      sink(std::string_view(chunk.data(), static_cast<std::size_t>(got)));
      taken += static_cast<std::size_t>(got);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      fd.reset();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

std::string describe(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return fmt::format("exited with status {}", info.si_status);
  const char* name = sigabbrev_np(info.si_status);
  return name != nullptr ? fmt::format("was killed by SIG{}", name)
                         : fmt::format("was killed by signal {}", info.si_status);
}

}  // namespace

Result<std::unique_ptr<Process>> Process::spawn(const ProcessOptions& options) {
  ignore_broken_pipes();
  KSPLIT_TRY(Pipe requests, make_pipe());
  KSPLIT_TRY(Pipe answers, make_pipe());
  KSPLIT_TRY(Pipe output, make_pipe());
  KSPLIT_TRY(const pid_t pid,
             launch_child({options.command, environment_with(options.environment),
                           requests.read.get(), answers.write.get(), output.write.get()}));
  for (const Descriptor* fd : {&requests.write, &answers.read, &output.read}) {
    make_non_blocking(*fd);
  }
  return std::unique_ptr<Process>(new Process(pid, std::move(requests.write),
                                              std::move(answers.read), std::move(output.read),
                                              OutputLog(options.log)));
}

Process::Process(pid_t pid, Descriptor requests, Descriptor answers, Descriptor output,
                 OutputLog log)
    : pid_(pid),
      requests_(std::move(requests)),
      answers_(std::move(answers)),
      output_(std::move(output)),
      log_(std::move(log)) {}

Process::~Process() {
  stop(0ms);
}

bool Process::has_ended() const {
  if (reaped_) return true;
  // WNOWAIT leaves it unreaped: its process id, and so its group's, cannot be reused before the
  // group has been killed.
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == pid_;
}

void Process::receive() {
  drain(answers_, [this](std::string_view bytes) { buffer_ += bytes; });
  drain(output_, [this](std::string_view bytes) { log_.append(bytes); });
}

Status Process::wait_for_news(Clock::time_point deadline, bool writing) {
  if (interrupt_requested) return fail(ErrorCode::interrupted, "interrupted");
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  if (left <= 0ms) {
    return fail(ErrorCode::worker_failed, "did not answer within its time limit");
  }
  // poll() passes over negative descriptors: those closed, or not waited for.
  std::array<pollfd, 3> waits = {{{answers_.get(), POLLIN, 0},
                                  {output_.get(), POLLIN, 0},
                                  {writing ? requests_.get() : -1, POLLOUT, 0}}};
  poll(waits.data(), waits.size(), static_cast<int>(std::min(left, kSlice).count()));
  receive();
  return {};
}

tl::unexpected<Error> Process::failure_of_child(const char* closed) {
  const auto patience = Clock::now() + kEndingGrace;
  while (!has_ended()) {
    if (Status news = wait_for_news(patience, false); !news) {
      if (news.error().code == ErrorCode::interrupted) return fail(std::move(news).error());
      return fail(ErrorCode::worker_failed, fmt::format("closed its {} without ending", closed));
    }
  }
  kill_and_reap();
  const bool by_another = ending_ == "was killed by SIGKILL";
  return fail(ErrorCode::worker_failed, by_another ? ending_ + " (memory ran out?)" : ending_);
}

Status Process::write_line(std::string_view line, Clock::time_point deadline) {
  if (line.size() > kLineCap) {
    return fail(
        ErrorCode::worker_failed,
        fmt::format("was sent {} bytes, more than the {} of one line", line.size(), kLineCap));
  }
  std::string rest(line);
  rest += '\n';
  sent_ = 0;
  while (sent_ < rest.size()) {
    if (!requests_) return failure_of_child("request pipe");
    const ssize_t took = write(requests_.get(), rest.data() + sent_, rest.size() - sent_);
    if (took > 0) {
      sent_ += static_cast<std::size_t>(took);
    } else if (errno == EPIPE) {
      return failure_of_child("request pipe");
    } else {
      KSPLIT_TRY_STATUS(wait_for_news(deadline, true));
    }
  }
  return {};
}

bool Process::has_read_last_line() const {
  int unread = 0;  // Linux tells the writing end too
  if (ioctl(requests_.get(), FIONREAD, &unread) != 0) return true;
  return std::cmp_less(unread, sent_);
}

std::optional<std::string> Process::take_line() {
  const std::size_t newline = buffer_.find('\n', scanned_);
  if (newline == std::string::npos) {
    scanned_ = buffer_.size();
    return std::nullopt;
  }
  std::string line = buffer_.substr(0, newline);
  buffer_.erase(0, newline + 1);
  scanned_ = 0;
  return line;
}

Result<std::string> Process::read_line(Clock::time_point deadline) {
  for (;;) {
    // In this order: what an ended child wrote before is in the pipe once it has ended.
    const bool ended = has_ended();
    receive();
    std::optional<std::string> line = take_line();
    if ((line ? line->size() : buffer_.size()) > kLineCap) {
      return fail(ErrorCode::worker_failed,
                  fmt::format("sent a line of more than {} bytes", kLineCap));
    }
    if (line) return *std::move(line);
    if (!answers_ || ended) return failure_of_child("answer pipe");
    KSPLIT_TRY_STATUS(wait_for_news(deadline, false));
  }
}

void Process::end_input() {
  requests_.reset();
}

void Process::stop(std::chrono::milliseconds grace) {
  end_input();
  const auto patience = Clock::now() + grace;
  while (!has_ended() && wait_for_news(patience, false)) continue;
  kill_and_reap();
}

void Process::kill_and_reap() {
  if (reaped_) return;
  kill(-pid_, SIGKILL);
  const auto patience = Clock::now() + kReapPatience;
  while (!has_ended() && Clock::now() < patience) std::this_thread::sleep_for(1ms);
  receive();
  siginfo_t info = {};
  waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG);
  ending_ = info.si_pid == pid_ ? describe(info) : "could not be killed";
  reaped_ = true;
}

}  // namespace ksplit
