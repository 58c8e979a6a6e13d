// SPDX-License-Identifier: Apache-2.0
// Starts, watches and, if need be, abandons the threads of a case.
#include "bench/runner/rank_team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "bench/runner/borrowed_communicator.hpp"
#include "bench/runner/cores.hpp"
#include "workloads/backend/communicator/thread_group.hpp"
#include "workloads/backend/communicator/wire.hpp"

namespace gpusizer {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr Seconds kLook{0.02};          // how often the watching thread looks
constexpr std::size_t kLooksBetween = 25;  // looks at other processes
constexpr Seconds kShortestGrace{1.0};  // for ranks that have been told that the case is over
constexpr Seconds kShortNotice{0.3};    // after a signal, before what there is must be written: a launcher kills soon

// At the end of the program threads that are left behind still use what would be tidied up under them.
void end_without_tidying_up() {
  on_exit(
      [](int status, void*) {
        std::cout.flush();
        std::fflush(nullptr);
        std::_Exit(status);
      },
      nullptr);
}

// What one thread came to.
struct Rank {
  std::unique_ptr<Communicator> others;
  std::thread thread;
  bool ended = false;
  std::exception_ptr error;
  std::int64_t order = 0;  // of the errors: the first one is the cause
};

// All that the threads use, and nothing that belongs to anybody else.
class Team {
 public:
  Team(PreparedCase prepared, const TeamRequest& request)
      : prepared_(std::move(prepared)), case_id_(request.case_id), record_(request.record),
        resumed_(request.resumed), process_(request.lockstep.processes()), ranks_(prepared_.ranks.size()) {
    const ParallelOptions& layout = prepared_.config.parallel;
    if (!process_) group_.emplace(static_cast<int>(layout.ranks()), layout.comm_timeout_seconds);
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      ranks_[i].others = group_ ? group_->join(static_cast<int>(i)) : borrowed(*process_);
    if (layout.wire)
      for (Rank& rank : ranks_)
        rank.others = make_wire(std::move(rank.others), {layout.wire->latency_seconds, layout.wire->bytes_per_second});
  }

  void start() {
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      ranks_[i].thread = std::thread([this, i] { run(i); });
  }

  // Returns when something has happened, or after a while.
  void look() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLook);
  }

  void ask_to_stop(int signal) { stop_ = signal; }
  bool all_ended() { return count(true) == ranks_.size(); }
  double timeout_seconds() const { return prepared_.config.parallel.comm_timeout_seconds; }
  // Whether all that is known is that somebody did not answer.
  bool was_waited_for() {
    const std::lock_guard lock(mutex_);
    return std::ranges::all_of(ranks_, [](const Rank& rank) { return !rank.error || is_consequence(rank.error); });
  }
  bool any_failed() {
    const std::lock_guard lock(mutex_);
    return errors_ > 0;
  }

  // What rank 0 has finished.
  template <class Use>
  void with_result(Use use) {
    const std::lock_guard lock(mutex_);
    use(shown_);
  }

  void end_all(const std::string& reason) {
    if (group_) group_->abort(reason);
    else communicator(0).abort(reason);
  }

  // The threads have ended.
  TeamOutcome outcome() {
    for (Rank& rank : ranks_) rank.thread.join();
    return take_outcome();
  }

  // Some of them never will: they keep this object.
  TeamOutcome leave_behind() {
    end_without_tidying_up();
    TeamOutcome outcome;
    {
      const std::lock_guard lock(mutex_);
      for (Rank& rank : ranks_) {
        if (rank.ended) rank.thread.join();
        else rank.thread.detach();
      }
    }
    outcome = take_outcome();
    if (!outcome.error)
      outcome.error = std::make_exception_ptr(Error(Fault::failed, "a rank did not end when it was asked to", case_id_));
    return outcome;
  }

  const LoopPlan& plan() const { return prepared_.loop; }

 private:
  std::size_t count(bool ended) {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count(ranks_, ended, &Rank::ended));
  }

  Communicator& communicator(std::size_t i) { return *ranks_[i].others; }
  std::int32_t number(std::size_t i) const { return prepared_.ranks[i].place.rank; }

  void run(std::size_t i) {
    bind_thread(prepared_.ranks[i].cores);
    std::exception_ptr error;
    LoopResult result;
    try {
      train(i, result);
    } catch (...) {
      error = named(i, result);
      communicator(i).abort(text_of(error));
    }
    const std::lock_guard lock(mutex_);
    ranks_[i].error = error;
    if (error) ranks_[i].order = ++errors_;
    if (i == 0 && !error) shown_ = std::move(result);
    ranks_[i].ended = true;
    changed_.notify_all();
  }

  void train(std::size_t i, LoopResult& result) {
    const auto progress = [this, i](const LoopResult& now) {
      if (i == 0) show(now);
    };
    const TrainingContext context{case_id_, [this] { return stop_.load(); }, progress, resumed_};
    if (number(i) == 0)
      lead_training(record_, prepared_, prepared_.ranks[i], &communicator(i), context, result);
    else
      follow_training(prepared_, prepared_.ranks[i], communicator(i), context, result);
  }

  // The error in hand, with the rank and its step; what the communicator says names them already.
  std::exception_ptr named(std::size_t i, const LoopResult& result) {
    const std::string who = rank_text(prepared_.config.parallel, number(i));
    const std::string where = fmt::format("{} failed after step {}", who, result.steps.size());
    try {
      throw;
    } catch (const CommunicationError&) {
      return std::current_exception();
    } catch (const OutOfMemory& error) {
      return std::make_exception_ptr(OutOfMemory(fmt::format("{}: {}", where, error.problem()), error.hint()));
    } catch (const std::bad_alloc&) {
      return std::make_exception_ptr(OutOfMemory(where + ": the system gave no more memory"));
    } catch (const Error& error) {
      return std::make_exception_ptr(Error(error.fault(), fmt::format("{}: {}", where, error.problem()), error.where(),
                                           error.hint()));
    } catch (const std::exception& error) {
      return std::make_exception_ptr(Error(Fault::failed, fmt::format("{}: {}", where, error.what())));
    }
  }

  static std::string text_of(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const Error& known) {
      return known.problem();
    } catch (const std::exception& known) {
      return known.what();
    }
  }

  // Keeps what is new, so that it is there even when the rank never comes back.
  void show(const LoopResult& now) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = shown_.steps.size(); i < now.steps.size(); ++i) shown_.steps.push_back(now.steps[i]);
    for (std::size_t i = shown_.losses.size(); i < now.losses.size(); ++i) shown_.losses.push_back(now.losses[i]);
    if (shown_.evaluations.size() != now.evaluations.size()) shown_.evaluations = now.evaluations;
    shown_.skipped_steps = now.skipped_steps;
    shown_.stop_reason = now.stop_reason;
    shown_.non_finite_step = now.non_finite_step;
    shown_.training_seconds = now.training_seconds;
    shown_.time_to_target_seconds = now.time_to_target_seconds;
    changed_.notify_all();
  }

  static bool is_consequence(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const CommunicationError&) {
      return true;
    } catch (...) {
      return false;
    }
  }

  // The first fault that is a rank's own, else the first that anybody noticed.
  TeamOutcome take_outcome() {
    const std::lock_guard lock(mutex_);
    const Rank* cause = nullptr;
    for (const Rank& rank : ranks_) {
      if (!rank.error) continue;
      const auto place = [](const Rank& r) { return std::pair(is_consequence(r.error), r.order); };
      if (!cause || place(rank) < place(*cause)) cause = &rank;
    }
    TeamOutcome outcome{.result = shown_};
    if (cause) outcome.error = cause->error;
    if (errors_ == 0 && ranks_[0].ended && number(0) == 0) outcome.record = record_;
    return outcome;
  }

  PreparedCase prepared_;
  const std::string case_id_;
  record::Case record_;
  const bool resumed_;
  Communicator* process_;
  std::optional<ThreadGroup> group_;
  std::atomic<int> stop_ = 0;
  std::mutex mutex_;  // guards what follows, but for the threads themselves
  std::condition_variable changed_;
  std::vector<Rank> ranks_;
  std::int64_t errors_ = 0;
  LoopResult shown_;
};

// What the watching thread has seen.
class Watch {
 public:
  Watch(Team& team, const TeamRequest& request) : team_(team), request_(request) {}

  // True: all threads have ended. False: some never will.
  bool until_the_end() {
    while (!team_.all_ended()) {
      team_.look();
      show_progress();
      if (!heed_signal()) return false;
      if (!heed_failure()) return false;
      if (!heed_missing()) return false;
    }
    show_progress();
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static Seconds since(const std::optional<Clock::time_point>& then) { return Clock::now() - *then; }

  void show_progress() {
    if (!request_.progress.step) return;
    team_.with_result([&](const LoopResult& result) {
      if (result.steps.size() == shown_steps_) return;
      shown_steps_ = result.steps.size();
      request_.progress.step(team_.plan(), result);
    });
  }

  bool heed_signal() {
    const int signal = request_.stop ? request_.stop() : 0;
    if (signal == 0) return true;
    if (!signalled_) {
      signalled_ = Clock::now();
      team_.ask_to_stop(signal);
    }
    if (request_.lockstep.processes() && !written_ && since(signalled_) > kShortNotice && request_.progress.cut_short) {
      written_ = true;
      const auto missing = request_.lockstep.missing();
      team_.with_result([&](const LoopResult& result) { request_.progress.cut_short(result, missing); });
    }
    return true;
  }

  // A rank that is stuck here hears of nothing: that others have ended is seen from outside.
  bool heed_missing() {
    if (looks_++ % kLooksBetween != 0) return true;
    const auto missing = request_.lockstep.missing();
    if (!missing) missing_.reset();
    else if (!missing_) missing_ = Clock::now();
    return !missing || since(missing_) < Seconds{1.5 * team_.timeout_seconds()};
  }

  bool heed_failure() {
    if (!team_.any_failed()) return true;
    if (!failed_) {
      failed_ = Clock::now();
      team_.end_all("another rank of the case has failed");
    }
    return since(failed_) < grace();
  }

  // One that threw has cost no time yet. Where a rank was waited for, the time-out is over already.
  Seconds grace() {
    const Seconds timeout{team_.timeout_seconds()};
    return std::max(kShortestGrace, team_.was_waited_for() ? timeout / 10 : timeout);
  }

  Team& team_;
  const TeamRequest& request_;
  std::size_t shown_steps_ = 0, looks_ = 0;
  std::optional<Clock::time_point> signalled_, failed_, missing_;
  bool written_ = false;
};

}  // namespace

TeamOutcome run_team(PreparedCase prepared, TeamRequest request) {
  auto team = std::make_unique<Team>(std::move(prepared), request);
  team->start();
  if (Watch(*team, request).until_the_end()) return team->outcome();
  // Never given back: threads that are stuck still hold it.
  return team.release()->leave_behind();
}

}  // namespace gpusizer
