// SPDX-License-Identifier: Apache-2.0
#include "worker/pool.h"

#include <gtest/gtest.h>

#include <set>

#include "core/check.h"
#include "support.h"
#include "worker/interrupt.h"

namespace ksplit {
namespace {

using Request = std::function<Result<std::string>(Worker&)>;

/// Asks the fake worker for its process id.
Result<std::string> process_id(Worker& worker) {
  KSPLIT_TRY(const CompileOutcome outcome, worker.compile("state.py", {1}));
  return outcome.kernels[1].name;
}

Request misbehave(const std::string& behaviour) {
  return [behaviour](Worker& worker) -> Result<std::string> {
    KSPLIT_TRY(const CompileOutcome outcome, worker.compile(behaviour + ".py", {1}));
    return std::to_string(outcome.kernels.size());
  };
}

class PoolTest : public testing::Test {
 protected:
  WorkerPool start(int size) {
    auto pool = WorkerPool::start(fake_worker(folder_), size);
    EXPECT_TRUE(pool) << pool.error().message;
    return *std::move(pool);
  }

  TemporaryFolder folder_;
};

TEST_F(PoolTest, ResultsComeInTheOrderOfRequests) {
  WorkerPool pool = start(2);
  std::vector<Request> requests;
  for (int i = 0; i < 20; ++i) {
    requests.emplace_back([i](Worker& worker) -> Result<std::string> {
      KSPLIT_TRY_STATUS(process_id(worker).map([](const auto&) {}));
      return std::to_string(i);
    });
  }
  std::vector<std::size_t> progress;
  const auto results = pool.run(requests, [&](std::size_t done, std::size_t total) {
    EXPECT_EQ(total, 20U);
    progress.push_back(done);
  });
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(results[i].value(), std::to_string(i));
    EXPECT_EQ(progress[i], i + 1);
  }
}

TEST_F(PoolTest, AFailingRequestCostsOnlyItself) {
  WorkerPool pool = start(2);
  const LoadRequest task = {"/t/sum.py", "/t/base.py", 1};
  ASSERT_EQ(pool.load(task).value().task.op_name, "sum");
  const auto results =
      pool.run(std::vector<Request>{process_id, misbehave("segv"), process_id, misbehave("refuse"),
                                    misbehave("exit"), process_id, process_id});
  EXPECT_EQ(results[1].error().code, ErrorCode::worker_failed);
  EXPECT_EQ(results[3].error().code, ErrorCode::candidate_failed);
  EXPECT_EQ(results[4].error().code, ErrorCode::worker_failed);
  for (const int fine : {0, 2, 5, 6}) EXPECT_TRUE(results[static_cast<std::size_t>(fine)]);
  // A worker that is not asked again does not start again.
  EXPECT_GE(pool.restarts(), 1);
  EXPECT_LE(pool.restarts(), 2);
}

TEST_F(PoolTest, AnInterruptLeavesTheRestUndone) {
  WorkerPool pool = start(1);
  const auto results = pool.run(std::vector<Request>{process_id,
                                                     [](Worker&) -> Result<std::string> {
                                                       interrupt_requested = true;
                                                       return "the user pressed Ctrl-C";
                                                     },
                                                     process_id});
  interrupt_requested = false;
  EXPECT_TRUE(results[0]);
  EXPECT_TRUE(results[1]);
  EXPECT_EQ(results[2].error().code, ErrorCode::interrupted);
}

TEST_F(PoolTest, AnExceptionIsThrownOn) {
  WorkerPool pool = start(2);
  const std::vector<Request> requests(
      3, [](Worker&) -> Result<std::string> { KSPLIT_CHECK(false, "a bug"); });
  EXPECT_THROW(pool.run(requests), InternalError);
  EXPECT_TRUE(pool.run(std::vector<Request>{process_id}).front());
}

TEST_F(PoolTest, NoProcessIsLeftBehind) {
  std::set<std::string> ids;
  {
    WorkerPool pool = start(2);
    const std::vector<Request> requests(8, process_id);
    for (const auto& id : pool.run(requests)) ids.insert(id.value());
  }
  for (const std::string& id : ids) EXPECT_FALSE(runs(static_cast<pid_t>(std::stoi(id))));
}

TEST_F(PoolTest, AStartThatFailsFailsThePool) {
  const auto pool = WorkerPool::start(fake_worker(folder_, "bare"), 2);
  ASSERT_FALSE(pool);
  EXPECT_EQ(pool.error().code, ErrorCode::environment);
}

}  // namespace
}  // namespace ksplit
