// SPDX-License-Identifier: Apache-2.0
// Requests against a made-up clock: latencies with their queues, percentiles, arrivals.
#include "bench/serving/serving_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/serving/arrivals.hpp"
#include "bench/serving/latencies.hpp"

namespace gpusizer {
namespace {

class MadeUpClock final : public WaitingClock {
 public:
  double seconds() override { return now; }
  void wait_until(double moment, const std::function<int()>&) override { now = std::max(now, moment); }
  double now = 500;
};

class MadeUpServer final : public Server {
 public:
  explicit MadeUpServer(MadeUpClock& clock) : clock_(clock) {}
  std::int64_t serve(std::int64_t request) override {
    clock_.now += request == slow_request ? 10 : seconds;
    requests.push_back(request);
    return 4;
  }
  double seconds = 0.25;
  std::int64_t slow_request = -1;
  std::vector<std::int64_t> requests;

 private:
  MadeUpClock& clock_;
};

struct Serving {
  MadeUpClock clock;
  MadeUpServer server{clock};
  ServingPlan plan;
  ServingResult result;
  std::size_t signal_after = 0;

  void run() {
    const auto stop = [&] { return signal_after > 0 && server.requests.size() >= signal_after ? 2 : 0; };
    serve_and_measure(server, plan, clock, stop, result);
  }
};

TEST(Serving, BackToBackLatencyIsTheTimeOfARequest) {
  Serving s;
  s.plan.requests = 8;
  s.run();
  EXPECT_EQ(s.result.warm_up_requests, 3);
  EXPECT_EQ(s.result.latencies, std::vector<double>(8, 0.25));
  EXPECT_EQ(s.result.samples, 32);
  EXPECT_EQ(s.result.elapsed_seconds, 2);
  EXPECT_EQ(s.result.stop_reason, "requests_done");
  EXPECT_EQ(s.server.requests.back(), 10) << "the warm-up's requests are numbered too";
}

TEST(Serving, TheWarmUpTakesItsTime) {
  Serving s;
  s.server.seconds = 0.03125;
  s.plan.requests = 1;
  s.run();
  EXPECT_EQ(s.result.warm_up_requests, 16);
}

TEST(Serving, ARequestThatWaitsForASlowOneCountsFromItsArrival) {
  Serving s;
  s.plan.rate = 1;
  s.plan.requests = 200;
  s.server.slow_request = 3;  // the first after the warm-up
  s.run();
  PoissonArrivals arrivals(1, 0);
  double free_at = 0;
  for (std::size_t i = 0; i < s.result.latencies.size(); ++i) {
    const double arrival = arrivals.next();
    free_at = std::max(free_at, arrival) + (i == 0 ? 10 : 0.25);
    EXPECT_NEAR(s.result.latencies[i], free_at - arrival, 1e-9) << i;
  }
  EXPECT_GT(s.result.latencies[1], 5) << "it came while the slow one was served";
  EXPECT_FALSE(is_overloaded(s.plan, s.result));
}

TEST(Serving, EndsWithTheTimeOrASignal) {
  Serving s;
  s.plan.max_seconds = 1;
  s.run();
  EXPECT_EQ(s.result.latencies.size(), 4u);
  EXPECT_EQ(s.result.stop_reason, "max_seconds");
  Serving t;
  t.signal_after = 5;
  t.run();
  EXPECT_EQ(t.result.latencies.size(), 2u);
  EXPECT_EQ(t.result.stop_reason, "interrupted");
  Serving u;
  u.signal_after = 1;
  u.run();
  EXPECT_TRUE(u.result.latencies.empty());
}

TEST(Serving, MoreThanCanBeServedIsSeen) {
  Serving s;
  s.plan.rate = 5;
  s.plan.requests = 100;
  s.run();
  EXPECT_TRUE(is_overloaded(s.plan, s.result));
  EXPECT_GT(s.result.latencies.back(), 3) << "the queue grows";
  EXPECT_NEAR(100 / s.result.elapsed_seconds, 4, 0.1) << "what one server can do";
}

TEST(Arrivals, HaveTheRateAndTheSpreadOfAPoissonProcess) {
  PoissonArrivals arrivals(50, 7);
  double last = 0, squares = 0;
  constexpr int count = 20000;
  for (int i = 0; i < count; ++i) {
    const double at = arrivals.next(), gap = at - last;
    ASSERT_GT(gap, 0);
    squares += gap * gap;
    last = at;
  }
  EXPECT_NEAR(count / last, 50, 1);
  EXPECT_NEAR(squares / count, 2 / 2500.0, 0.00004) << "twice the mean gap squared";
}

TEST(Arrivals, DependOnTheSeedAlone) {
  PoissonArrivals a(2, 1), b(2, 1), c(2, 2);
  const double first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, c.next());
}

TEST(Percentile, IsALatencyThatWas) {
  std::vector<double> latencies;
  for (int i = 100; i >= 1; --i) latencies.push_back(i);
  EXPECT_EQ(percentile(latencies, 0.5).seconds, 50);
  EXPECT_EQ(percentile(latencies, 0.9).seconds, 90);
  EXPECT_EQ(percentile(latencies, 0.99).seconds, 99);
  latencies.push_back(1000);
  EXPECT_EQ(percentile(latencies, 0.99).seconds, 100);
}

TEST(Percentile, IsRefusedOfTooFewRequests) {
  const std::vector<double> latencies(99, 1);
  EXPECT_FALSE(percentile(latencies, 0.99).seconds);
  EXPECT_EQ(percentile(latencies, 0.99).reason, "99 requests are too few, at least 100 are needed");
  EXPECT_TRUE(percentile(latencies, 0.9).seconds);
  EXPECT_FALSE(percentile({}, 0.5).seconds);
  EXPECT_EQ(percentile(std::vector<double>{3, 1}, 0.5).seconds, 1);
}

}  // namespace
}  // namespace gpusizer
