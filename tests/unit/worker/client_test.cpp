// SPDX-License-Identifier: Apache-2.0
#include "worker/client.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/files.h"
#include "support.h"
#include "worker/interrupt.h"

namespace ksplit {
namespace {

using namespace std::chrono_literals;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool any_contains(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return contains(text, part); });
}

class ClientTest : public testing::Test {
 protected:
  Worker start(const std::string& device = "cpu") {
    auto worker = Worker::start(fake_worker(folder_, device));
    EXPECT_TRUE(worker) << worker.error().message;
    return *std::move(worker);
  }

  Result<CompileOutcome> act(Worker& worker, const std::string& behaviour) {
    return worker.compile(behaviour + ".py", {1});
  }

  /// The fake worker's process id, and the task it has loaded.
  std::pair<pid_t, std::string> state(Worker& worker) {
    const auto outcome = act(worker, "state");
    EXPECT_TRUE(outcome) << outcome.error().message;
    if (!outcome) return {0, ""};
    return {static_cast<pid_t>(std::stoi(outcome->kernels[1].name)), outcome->kernels[0].name};
  }

  TemporaryFolder folder_;
};

TEST_F(ClientTest, SaysWhoItIs) {
  const Worker worker = start();
  EXPECT_EQ(worker.info().torch, "2.13.0");
  EXPECT_EQ(worker.info().device_name, "Fake");
  EXPECT_EQ(worker.info().executor, WorkerInfo::Executor::interpreter);
  EXPECT_EQ(worker.restarts(), 0);
}

TEST_F(ClientTest, TimingRequestsArriveAsTheProtocolSpellsThem) {
  WorkerOptions options = fake_worker(folder_);
  options.log = folder_.path() / "log";
  auto worker = Worker::start(options);
  ASSERT_TRUE(worker);
  const std::vector<Arm> arms = {{"base", "/k/base.py"}, {"torch", std::nullopt}};
  const auto samples = worker->bench(arms, 4, {0, 1, 1}, 32, Regime::warm);
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->device_us, std::vector<double>(3, 1.5));
  EXPECT_EQ(samples->overhead_us, 0.25);
  { const Worker ended = *std::move(worker); }
  EXPECT_EQ(read_file(options.log).value(),
            "bench {\"arms\": [{\"file\": \"/k/base.py\", \"name\": \"base\"}, {\"file\": null, "
            "\"name\": \"torch\"}], \"case\": 4, \"id\": 2, \"launches\": 32, \"op\": \"bench\", "
            "\"regime\": \"warm\", \"schedule\": [\"base\", \"torch\", \"torch\"]}\n");
}

TEST_F(ClientTest, ParsesAFile) {
  Worker worker = start();
  const auto module = worker.parse("/k/empty.py");
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(module->root->type, "Module");
}

TEST_F(ClientTest, ErrorsThatTheWorkerReportsLeaveItRunning) {
  Worker worker = start();
  const pid_t before = state(worker).first;
  const auto outcome = act(worker, "refuse");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::candidate_failed);
  EXPECT_EQ(outcome.error().message, "no such kernel");
  EXPECT_EQ(outcome.error().at, (SourceSpan{"k.py", 7, 0}));
  EXPECT_EQ(outcome.error().causes, std::vector<std::string>{"on case 3"});
  EXPECT_EQ(state(worker).first, before);
}

struct Misbehaviour {
  const char* name;
  const char* told;  // in the error's message
};

class MisbehaviourTest : public ClientTest, public testing::WithParamInterface<Misbehaviour> {};

TEST_P(MisbehaviourTest, CostsOneRequest) {
  Worker worker = start();
  ASSERT_TRUE(worker.load({"/t/sum.py", "/t/base.py", 7}));
  const auto [before, task] = state(worker);
  EXPECT_EQ(task, "sum seed 7");

  const auto outcome = act(worker, GetParam().name);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::worker_failed);
  EXPECT_TRUE(contains(outcome.error().message, GetParam().told)) << outcome.error().message;
  EXPECT_TRUE(contains(outcome.error().message, "`compile`")) << outcome.error().message;
  EXPECT_FALSE(runs(before));

  const auto [after, again] = state(worker);
  EXPECT_NE(after, before);
  EXPECT_EQ(again, task) << "the new process has loaded the same task";
  EXPECT_EQ(worker.restarts(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    All, MisbehaviourTest,
    testing::Values(Misbehaviour{"segv", "worker was killed by SIGSEGV"},
                    Misbehaviour{"abort", "worker was killed by SIGABRT"},
                    Misbehaviour{"exit", "worker exited with status 3"},
                    Misbehaviour{"fork", "worker exited with status 5"},
                    Misbehaviour{"partial", "worker exited with status 0"},
                    Misbehaviour{"close", "worker closed its answer pipe without ending"},
                    Misbehaviour{"broken", "not a JSON object: `{\"id\": 1, \"ok\": tr`"},
                    Misbehaviour{"list", "not a JSON object: `[1]`"},
                    Misbehaviour{"deep", "not a JSON object: `[[[[["},
                    Misbehaviour{"wrong_id", "with `id` that is not"},
                    Misbehaviour{"no_field", "without `kernels[0].case`"},
                    Misbehaviour{"long", "worker sent a line of more than 67108864 bytes"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(ClientTest, AHangEndsWithTheTimeLimit) {
  Worker worker = start();
  const pid_t before = state(worker).first;
  worker.set_request_limit(200ms);
  const auto outcome = act(worker, "hang");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message,
            "worker did not answer within its time limit while it served `compile`");
  EXPECT_FALSE(runs(before));
}

TEST_F(ClientTest, AnAnswerBeforeDeathCounts) {
  Worker worker = start();
  const auto outcome = act(worker, "last_words");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->kernels[0].name, "last words");
  EXPECT_NE(state(worker).first, 0) << "the next request must not pay for that death";
  EXPECT_EQ(worker.restarts(), 1);
}

TEST_F(ClientTest, AWorkerThatCallsItselfBrokenIsReplaced) {
  Worker worker = start();
  const auto outcome = act(worker, "lost");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::worker_failed);
  EXPECT_EQ(outcome.error().message, "the device is lost");
  EXPECT_NE(state(worker).first, 0);
  EXPECT_EQ(worker.restarts(), 1);
}

TEST_F(ClientTest, MegabytesOfOutputDisturbNothing) {
  Worker worker = start();
  EXPECT_TRUE(act(worker, "print"));
  EXPECT_EQ(worker.restarts(), 0);
}

TEST_F(ClientTest, ACrashQuotesWhatWasPrinted) {
  Worker worker = start();
  const auto outcome = act(worker, "segv");
  ASSERT_FALSE(outcome);
  EXPECT_TRUE(any_contains(outcome.error().causes, "it printed: about to die"));
}

TEST_F(ClientTest, ADescendantDiesWithItsWorker) {
  Worker worker = start();
  const auto outcome = act(worker, "fork");
  ASSERT_FALSE(outcome);
  const std::string& line = outcome.error().causes.back();
  const std::size_t at = line.find("child ");
  ASSERT_NE(at, std::string::npos) << line;
  EXPECT_TRUE(ends(static_cast<pid_t>(std::stoi(line.substr(at + 6)))));
}

TEST_F(ClientTest, NoProcessIsLeftBehind) {
  pid_t pid = 0;
  {
    Worker worker = start();
    pid = state(worker).first;
    EXPECT_TRUE(runs(pid));
  }
  EXPECT_FALSE(runs(pid));
}

TEST_F(ClientTest, AnInterruptEndsARequestAndItsProcess) {
  Worker worker = start();
  const pid_t pid = state(worker).first;
  std::jthread user([] {
    std::this_thread::sleep_for(100ms);
    interrupt_requested = true;
  });
  const auto outcome = act(worker, "hang");
  interrupt_requested = false;
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::interrupted);
  EXPECT_FALSE(runs(pid));
}

TEST_F(ClientTest, ATaskThatNoLongerLoadsIsReportedEachTime) {
  Worker worker = start();
  const auto base = folder_.path() / "base.py";
  ASSERT_TRUE(worker.load({"/t/once.py", base, 0}));
  ASSERT_TRUE(write_file(base, ""));  // from now on, the fake refuses
  EXPECT_FALSE(act(worker, "exit"));
  for (int i = 0; i < 2; ++i) {
    const auto outcome = act(worker, "state");
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::candidate_failed);
    EXPECT_EQ(outcome.error().causes.back(), "starting the worker again");
  }
}

TEST_F(ClientTest, AMissingModuleIsAnEnvironmentErrorWithAHint) {
  const auto worker = Worker::start(fake_worker(folder_, "bare"));
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().code, ErrorCode::environment);
  EXPECT_TRUE(any_contains(worker.error().causes, "No module named 'torch'"));
  EXPECT_TRUE(contains(worker.error().hint, "install torch into that Python"))
      << worker.error().hint;
}

TEST_F(ClientTest, AMissingWorkerPackageIsAnEnvironmentErrorWithAHint) {
  WorkerOptions options = fake_worker(folder_);
  std::filesystem::remove_all(folder_.path() / "ksplit");
  const ScopedVariable no_inherited_package("PYTHONPATH", std::nullopt);
  const auto worker = Worker::start(options);
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().code, ErrorCode::environment);
  EXPECT_TRUE(contains(worker.error().hint, "install kernel-splitter")) << worker.error().hint;
}

TEST_F(ClientTest, AnotherProtocolVersionIsAnEnvironmentError) {
  const auto worker = Worker::start(fake_worker(folder_, "newer"));
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().code, ErrorCode::environment);
  EXPECT_EQ(worker.error().message, "the worker package speaks protocol 7, this ksplit speaks 1");
}

TEST_F(ClientTest, AStartThatHangsIsAnEnvironmentError) {
  WorkerOptions options = fake_worker(folder_, "mute");
  options.start_limit = 300ms;
  const auto worker = Worker::start(options);
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().code, ErrorCode::environment);
  EXPECT_TRUE(contains(worker.error().message, "did not answer")) << worker.error().message;
}

}  // namespace
}  // namespace ksplit
