// SPDX-License-Identifier: Apache-2.0
// A wire delays messages, one after the other on each sender's link, and changes nothing else.
#include "workloads/backend/communicator/wire.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <limits>

#include "workloads/backend/communicator/collectives.hpp"
#include "workloads/backend/communicator/rank_signs.hpp"
#include "workloads/backend/communicator/tests/thread_ranks.hpp"

namespace gpusizer {
namespace {

using testing::patient;
using testing::read_of;
using testing::write_of;

// Delays are promises "not before", which a slow machine keeps as well: the tests use only those.
TEST(Wire, AMessageArrivesAfterLatencyAndTransfer) {
  ThreadGroup group(2, patient);
  const auto zero = make_wire(group.join(0), {0.02, 1e6}), one = make_wire(group.join(1), {0.02, 1e6});
  EXPECT_EQ(zero->kind(), "wire over threads");
  std::vector<std::byte> sent(10000, std::byte{7}), heard(10000);
  const double begin = steady_seconds();
  const auto out = zero->send(1, Channel::collective, sent);
  const auto in = one->receive(0, Channel::collective, heard);
  EXPECT_FALSE(one->done(in));
  zero->wait(out);
  EXPECT_GE(steady_seconds() - begin, 0.01);  // the link has taken it
  one->wait(in);
  EXPECT_GE(steady_seconds() - begin, 0.03);
  EXPECT_EQ(heard, sent);
}

TEST(Wire, MessagesOfOneSenderShareItsLink) {
  ThreadGroup group(3, patient);
  std::vector<std::unique_ptr<Communicator>> ranks;
  for (int r = 0; r < 3; ++r) ranks.push_back(make_wire(group.join(r), {0, 1e6}));
  std::vector<std::byte> bytes(10000);
  std::vector<std::byte> heard_1(10000), heard_2(10000);
  const double begin = steady_seconds();
  const auto out_1 = ranks[0]->send(1, Channel::collective, bytes);
  const auto out_2 = ranks[0]->send(2, Channel::point_to_point, bytes);
  const auto in_2 = ranks[2]->receive(0, Channel::point_to_point, heard_2);
  ranks[2]->wait(in_2);
  EXPECT_GE(steady_seconds() - begin, 0.02);
  ranks[1]->wait(ranks[1]->receive(0, Channel::collective, heard_1));
  ranks[0]->wait(out_1);
  ranks[0]->wait(out_2);
}

TEST(Wire, WaitingUsesNoProcessorTime) {
  ThreadGroup group(2, patient);
  const auto zero = make_wire(group.join(0), {0.5, 0}), one = make_wire(group.join(1), {0.5, 0});
  int sent = 3, heard = 0;
  const auto out = zero->send(1, Channel::collective, read_of(sent));
  const auto in = one->receive(0, Channel::collective, write_of(heard));
  const std::clock_t begin = std::clock();
  one->wait(in);
  const double used = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_LT(used, 0.25);  // of half a second
  zero->wait(out);
  EXPECT_EQ(heard, 3);
}

TEST(Wire, CollectivesAddAsWithoutIt) {
  const std::vector<int32_t> ranks{0, 1};
  ThreadGroup group(2, patient);
  const auto add = [&](std::unique_ptr<Communicator> inner) {
    const auto own = make_wire(std::move(inner), {0.001, 1e9});
    std::vector<float> values(10000, own->rank() == 0 ? 1.0F : 0.25F);
    const std::vector<size_t> bytes{values.size() * sizeof(float)};
    std::vector<std::byte> staging(all_reduce_staging_bytes(bytes, 2));
    const Summand tensor{values.data(), values.data(), values.size(), Element::f32};
    all_reduce(*own, ranks, std::span(&tensor, 1), staging).run();
    EXPECT_EQ(values, std::vector<float>(10000, 1.25F));
    EXPECT_EQ(own->broadcast(1, own->rank() == 1 ? "one" : ""), "one");
  };
  std::thread other([&, inner = group.join(1)]() mutable { add(std::move(inner)); });
  add(group.join(0));
  other.join();
}

TEST(Wire, FailuresComeThrough) {
  ThreadGroup group(2, patient);
  const auto zero = make_wire(group.join(0), {0.001, 0}), one = make_wire(group.join(1), {0.001, 0});
  int heard = 0;
  const auto in = one->receive(0, Channel::collective, write_of(heard));
  zero->enter_step(2);
  zero->abort("enough");
  EXPECT_THROW(one->wait(in), CommunicationError);
  EXPECT_THROW(one->done(77), Error);
}

TEST(Wire, NoWireIsBackwardsOrEndless) {
  ThreadGroup group(4, patient);
  EXPECT_THROW(make_wire(group.join(0), {-1, 0}), Error);
  EXPECT_THROW(make_wire(group.join(1), {0, -5}), Error);
  EXPECT_THROW(make_wire(group.join(2), {std::numeric_limits<double>::infinity(), 0}), Error);
  EXPECT_THROW(make_wire(group.join(3), {0, std::numeric_limits<double>::quiet_NaN()}), Error);
}

}  // namespace
}  // namespace gpusizer
