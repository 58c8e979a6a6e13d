// SPDX-License-Identifier: Apache-2.0
// Keeps the order of the streams, and moves messages without letting anybody spin.
#include "workloads/backend/streams/stream_runner.hpp"

namespace gpusizer {

namespace {

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an unknown error";
  }
}

}  // namespace

StreamRunner::StreamRunner(Communicator& communicator, BackgroundCollectives* background)
    : communicator_(communicator), background_(background), thread_([this] { communicate(); }) {}

StreamRunner::~StreamRunner() {
  try {
    settle();
  } catch (const std::exception&) {
    // Nobody touches its memory any more, and whoever needs the other ranks next will say so.
  }
  stop_ = true;
  wake();
  thread_.join();
}

double StreamRunner::run(const StreamPlan& plan, StepWork& work, std::span<double> operation_seconds) {
  begin(plan, work, operation_seconds);
  double exposed = 0;
  try {
    int32_t done = 0;
    for (const StreamPlan::Step& step : plan.streams[compute_stream]) {
      if (step.waits) exposed += wait_for(step.needs);
      throw_if_failed();
      work.compute(step.operation);
      ++done;
      if (!step.awaited) continue;
      done_[compute_stream].store(done, std::memory_order_release);
      wake();
    }
    done_[compute_stream].store(done, std::memory_order_release);
    exposed += wait_for(plan.totals);
  } catch (...) {
    const std::lock_guard lock(moving_);
    fail(std::current_exception());
    throw;
  }
  return exposed;
}

void StreamRunner::settle() {
  const std::lock_guard lock(moving_);
  try {
    while (!settled()) {
      throw_if_failed();
      if (!move_streams()) communicator_.pause();
    }
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
}

void StreamRunner::begin(const StreamPlan& plan, StepWork& work, std::span<double> operation_seconds) {
  const std::lock_guard lock(moving_);
  throw_if_failed();
  plan_ = &plan;
  work_ = &work;
  operation_seconds_ = operation_seconds;
  streams_ = {};
  for (auto& count : done_) count.store(0, std::memory_order_relaxed);
  wake();
}

bool StreamRunner::reached(const StreamCounts& needs) const {
  for (size_t s = 0; s < needs.size(); ++s)
    if (done_[s].load(std::memory_order_acquire) < needs[s]) return false;
  return true;
}

double StreamRunner::wait_for(const StreamCounts& needs) {
  if (reached(needs)) return 0;
  const auto start = Clock::now();
  drive_until(needs);
  return seconds_between(start, Clock::now());
}

// The other thread waits for the lock meanwhile, or sleeps; afterwards it goes on with what is still under way.
void StreamRunner::drive_until(const StreamCounts& needs) {
  {
    const std::lock_guard lock(moving_);
    for (;;) {
      throw_if_failed();
      if (reached(needs)) break;
      if (!move_streams()) communicator_.pause();
    }
  }
  wake();
}

void StreamRunner::wake() {
  news_.fetch_add(1);
  news_.notify_one();
}

void StreamRunner::throw_if_failed() {
  if (failed_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
}

// The first error counts. Others hear of it, and nothing moves any more.
void StreamRunner::fail(std::exception_ptr error) {
  if (!failed_.load(std::memory_order_relaxed)) {
    communicator_.abort(text_of(error));
    error_ = std::move(error);
    failed_.store(true, std::memory_order_release);
  }
  plan_ = nullptr;
}

bool StreamRunner::move_streams() {
  bool moved = background_ && background_->advance();
  for (size_t s = compute_stream + 1; s < streams_.size(); ++s) moved = move_stream(s) || moved;
  return moved;
}

// Whether anything was started or finished.
bool StreamRunner::move_stream(size_t index) {
  Stream& stream = streams_[index];
  const auto& steps = plan_->streams[index];
  bool moved = false;
  while (stream.next < steps.size()) {
    const StreamPlan::Step& step = steps[stream.next];
    CommunicationTask& task = work_->task(step.operation);
    if (!stream.started) {
      if (!reached(step.needs)) break;
      stream.since = Clock::now();
      task.start();
      stream.started = moved = true;
    }
    if (!task.advance()) break;
    moved = true;
    stream.started = false;
    if (!operation_seconds_.empty())
      operation_seconds_[static_cast<size_t>(step.operation)] = seconds_between(stream.since, Clock::now());
    done_[index].store(static_cast<int32_t>(++stream.next), std::memory_order_release);
  }
  return moved;
}

// Nothing is under way, and nothing can be started before computation goes on.
bool StreamRunner::idle() const {
  if (!plan_) return true;
  if (!settled()) return false;
  for (size_t s = compute_stream + 1; s < streams_.size(); ++s) {
    const auto& steps = plan_->streams[s];
    if (streams_[s].started || (streams_[s].next < steps.size() && reached(steps[streams_[s].next].needs)))
      return false;
  }
  return true;
}

void StreamRunner::communicate() {
  while (!stop_) {
    const uint32_t seen = news_.load();
    bool moved = true, sleep = false;
    {
      const std::lock_guard lock(moving_);
      sleep = idle();
      try {
        if (!sleep) moved = move_streams();
      } catch (...) {
        fail(std::current_exception());
      }
    }
    if (sleep && !stop_)
      news_.wait(seen);
    else if (!moved)
      communicator_.pause();
  }
}

}  // namespace gpusizer
