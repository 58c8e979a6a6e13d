// SPDX-License-Identifier: Apache-2.0
// Arrivals, waiting, serving.
#include "bench/serving/serving_loop.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "bench/serving/arrivals.hpp"

namespace gpusizer {

double MonotonicWaitingClock::seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void MonotonicWaitingClock::wait_until(double moment, const std::function<int()>& stop) {
  constexpr double spin_seconds = 0.0003, look_seconds = 0.2;
  for (double left = moment - seconds(); left > 0; left = moment - seconds()) {
    if (stop() != 0) return;
    if (left > spin_seconds)
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left - spin_seconds, look_seconds)));
  }
}

namespace {

std::int64_t warm_up(Server& server, const ServingPlan& plan, WaitingClock& clock, const std::function<int()>& stop) {
  const double start = clock.seconds();
  std::int64_t request = 0;
  while (stop() == 0 && (request < plan.warm_up_requests || clock.seconds() - start < plan.warm_up_seconds))
    server.serve(request++);
  return request;
}

bool is_done(const ServingPlan& plan, const ServingResult& result, double elapsed, int signal, std::string& reason) {
  if (signal != 0)
    reason = "interrupted";
  else if (plan.requests && static_cast<std::int64_t>(result.latencies.size()) >= *plan.requests)
    reason = "requests_done";
  else if (plan.max_seconds && elapsed >= *plan.max_seconds)
    reason = "max_seconds";
  else
    return false;
  return true;
}

}  // namespace

void serve_and_measure(Server& server, const ServingPlan& plan, WaitingClock& clock, const std::function<int()>& stop,
                       ServingResult& result) {
  result.warm_up_requests = warm_up(server, plan, clock, stop);
  PoissonArrivals arrivals(plan.rate.value_or(1), plan.seed);
  const double start = clock.seconds();
  while (!is_done(plan, result, clock.seconds() - start, stop(), result.stop_reason)) {
    double arrival = clock.seconds();
    if (plan.rate) {
      arrival = start + arrivals.next();
      clock.wait_until(arrival, stop);
      if (stop() != 0) continue;
    }
    const double begin = clock.seconds();
    result.samples += server.serve(result.warm_up_requests + static_cast<std::int64_t>(result.latencies.size()));
    const double end = clock.seconds();
    result.latencies.push_back(end - std::min(arrival, begin));
    result.busy_seconds.push_back(end - begin);
    result.finished_at.push_back(end - start);
    result.elapsed_seconds = end - start;
  }
}

bool is_overloaded(const ServingPlan& plan, const ServingResult& result, double share) {
  if (!plan.rate || result.busy_seconds.empty()) return false;
  const double busy = std::accumulate(result.busy_seconds.begin(), result.busy_seconds.end(), 0.0);
  return busy / static_cast<double>(result.busy_seconds.size()) * *plan.rate > share;
}

}  // namespace gpusizer
