// SPDX-License-Identifier: Apache-2.0
// Runs one rank's step: computation on the calling thread, communication beside it on a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <span>
#include <thread>

#include "workloads/backend/communicator/communicator.hpp"
#include "workloads/backend/streams/background_collectives.hpp"
#include "workloads/backend/streams/stream_plan.hpp"

namespace gpusizer {

// One communication operation while it is under way. Neither call blocks; both throw what went wrong.
class CommunicationTask {
 public:
  virtual ~CommunicationTask() = default;
  virtual void start() = 0;
  virtual bool advance() = 0;  // whether it is finished; then it may be started again
};

// What a backend does for the runner.
class StepWork {
 public:
  virtual ~StepWork() = default;
  virtual void compute(int32_t operation) = 0;
  virtual CommunicationTask& task(int32_t operation) = 0;  // of a communication operation
};

// One step at a time. Whoever has to wait moves the messages on: the computing thread while it waits for a result, the
// runner's own thread while the other computes, and between steps where anything goes on in the background. A step
// allocates nothing.
class StreamRunner {
 public:
  // `background`: what tasks post there is moved on with the steps; nullptr: nothing is. It must outlive this.
  explicit StreamRunner(Communicator& communicator, BackgroundCollectives* background = nullptr);
  // Waits for what is still under way: other ranks may need it.
  ~StreamRunner();
  StreamRunner(const StreamRunner&) = delete;
  StreamRunner& operator=(const StreamRunner&) = delete;

  // Runs all operations of the plan and returns the seconds for which computation stood still. `operation_seconds` is
  // empty, or has one entry for each operation: how long each communication was under way.
  // Throws what an operation threw, on either thread; then the communicator is aborted, so that the other ranks end
  // too, and each further call throws the same.
  double run(const StreamPlan& plan, StepWork& work, std::span<double> operation_seconds = {});

  // Between steps: waits until nothing goes on in the background. Throws as run() does.
  void settle();

 private:
  using Clock = std::chrono::steady_clock;
  struct Stream {
    size_t next = 0;  // the first step that is not done
    bool started = false;
    Clock::time_point since;
  };

  void begin(const StreamPlan& plan, StepWork& work, std::span<double> operation_seconds);
  double wait_for(const StreamCounts& needs);
  void drive_until(const StreamCounts& needs);
  bool reached(const StreamCounts& needs) const;
  bool move_streams();
  bool move_stream(size_t stream);
  bool idle() const;
  bool settled() const { return !background_ || background_->idle(); }
  void fail(std::exception_ptr error);
  void throw_if_failed();
  void wake();
  void communicate();

  Communicator& communicator_;
  BackgroundCollectives* background_;
  // Who holds it may move messages. The counters may be read by all; computation alone writes its own.
  std::mutex moving_;
  const StreamPlan* plan_ = nullptr;  // of the step in progress
  StepWork* work_ = nullptr;
  std::span<double> operation_seconds_;
  std::array<Stream, stream_limit> streams_;
  std::array<std::atomic<int32_t>, stream_limit> done_{};
  std::exception_ptr error_;
  std::atomic<bool> failed_ = false, stop_ = false;
  std::atomic<uint32_t> news_ = 0;  // counts what the sleeping thread should look at
  std::thread thread_;
};

}  // namespace gpusizer
