// SPDX-License-Identifier: Apache-2.0
// Serves one request after another and times each: back to back, or as they arrive at an offered rate.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gpusizer {

// A clock that can also wait, behind an interface so that the loop can be tested without waiting.
class WaitingClock {
 public:
  virtual ~WaitingClock() = default;
  virtual double seconds() = 0;  // since some fixed moment; never goes back
  // Returns when seconds() is at least `moment`, or a little before it when `stop` says so.
  virtual void wait_until(double moment, const std::function<int()>& stop) = 0;
};

class MonotonicWaitingClock final : public WaitingClock {
 public:
  double seconds() override;
  // Sleeps, and spins through the last fraction of a millisecond: a sleep ends late by about that much.
  void wait_until(double moment, const std::function<int()>& stop) override;
};

// What is asked for: one batch, already in memory.
class Server {
 public:
  virtual ~Server() = default;
  // Works off request number `request`, and returns when it is done and how many samples it had.
  virtual std::int64_t serve(std::int64_t request) = 0;
};

struct ServingPlan {
  std::optional<double> rate;  // requests offered per second; nothing: each request comes when the one before is done
  std::optional<std::int64_t> requests;
  std::optional<double> max_seconds;  // of serving, the warm-up not counted
  std::int64_t warm_up_requests = 3;  // at least; back to back, before the clock starts
  double warm_up_seconds = 0.5;       // at least
  std::uint64_t seed = 0;             // of the arrivals
};

struct ServingResult {
  std::vector<double> latencies;     // seconds, one for each request: from its arrival to its end, waiting included
  std::vector<double> busy_seconds;  // of each: from when it was begun
  std::vector<double> finished_at;   // seconds since the start
  std::int64_t samples = 0;
  std::int64_t warm_up_requests = 0;
  double elapsed_seconds = 0;  // from the start (of the arrivals, of the first request) to the end of the last request
  std::string stop_reason = "not_started";  // "requests_done", "max_seconds", "interrupted"
};

// One server, first come first served; a request waits as long as it must. Fills `result` as it goes. With neither
// requests nor max_seconds it ends with an interruption only.
void serve_and_measure(Server& server, const ServingPlan& plan, WaitingClock& clock, const std::function<int()>& stop,
                       ServingResult& result);

// Whether more was offered than could be served, so that latencies grow with the length of the run and mean nothing:
// the mean time of a request is more than `share` of the mean gap between arrivals.
bool is_overloaded(const ServingPlan& plan, const ServingResult& result, double share = 0.98);

}  // namespace gpusizer
