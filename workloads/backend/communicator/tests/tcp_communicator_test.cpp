// SPDX-License-Identifier: Apache-2.0
// Ranks as processes over TCP: messages, collectives, and ranks that die, stop, give up or leave.
#include "workloads/backend/communicator/tcp_communicator.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "workloads/backend/communicator/collectives.hpp"
#include "workloads/backend/communicator/rank_signs.hpp"
#include "workloads/backend/communicator/tests/process_ranks.hpp"
#include "workloads/backend/communicator/tests/thread_ranks.hpp"

namespace gpusizer {
namespace {

using testing::free_port;
using testing::no_word;
using testing::patient;
using testing::read_of;
using testing::run_processes;
using testing::Sentences;
using testing::write_of;

Sentences run_tcp(int size, double timeout_seconds, const std::function<std::string(Communicator&)>& body) {
  const int port = free_port();
  return run_processes(size, [&](int rank) {
    const auto own = open_tcp({rank, size, "127.0.0.1", port, "test"}, timeout_seconds);
    own->barrier();
    return body(*own);
  });
}

TEST(Tcp, EveryRankLearnsEveryText) {
  const auto said = run_tcp(4, patient, [](Communicator& own) {
    const auto texts = own.all_gather(std::string(static_cast<size_t>(own.rank()), 'x'));
    return texts[1] + texts[2] + texts[3] + own.broadcast(2, own.rank() == 2 ? "two" : "") + std::string(own.kind());
  });
  EXPECT_EQ(said, Sentences(4, "xxxxxxtwotcp"));
}

TEST(Tcp, MessagesLargerThanAnyBufferAndChannelsThatDoNotWait) {
  const auto said = run_tcp(2, patient, [](Communicator& own) -> std::string {
    const int peer = 1 - own.rank();
    std::vector<int> large(3 << 20, own.rank()), heard(large.size(), -1);
    // Nobody asks for the large ones before the small one is there.
    const auto out = own.send(peer, Channel::collective, std::as_bytes(std::span(large)));
    int small = own.rank(), heard_small = -1;
    const auto out_small = own.send(peer, Channel::point_to_point, read_of(small));
    own.wait(own.receive(peer, Channel::point_to_point, write_of(heard_small)));
    own.wait(own.receive(peer, Channel::collective, std::as_writable_bytes(std::span(heard))));
    own.wait(out);
    own.wait(out_small);
    return heard_small == peer && heard == std::vector(large.size(), peer) ? "right" : "wrong";
  });
  EXPECT_EQ(said, (Sentences{"right", "right"}));
}

TEST(Tcp, SumsHaveTheBitsThatThreadsGiveThem) {
  const auto sum = [](Communicator& own) {
    const std::vector<int32_t> ranks{0, 1, 2};
    std::vector<float> values(10000);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 1.0F / static_cast<float>(i * 3 + static_cast<size_t>(own.rank()) + 1);
    const std::vector<size_t> bytes{values.size() * sizeof(float)};
    std::vector<std::byte> staging(all_reduce_staging_bytes(bytes, 3));
    const Summand tensor{values.data(), values.data(), values.size(), Element::f32};
    all_reduce(own, ranks, std::span(&tensor, 1), staging).run();
    own.barrier();
    return std::to_string(std::hash<std::string_view>{}({reinterpret_cast<const char*>(values.data()), bytes[0]}));
  };
  std::string with_threads;
  testing::run_ranks(3, patient, [&](Communicator& own) {
    const std::string text = sum(own);
    if (own.rank() == 1) with_threads = text;
  });
  EXPECT_EQ(run_tcp(3, patient, sum), Sentences(3, with_threads));
}

TEST(Tcp, ARankThatDiesIsNoticedAtOnce) {
  const double begin = steady_seconds();
  const auto said = run_tcp(3, patient, [](Communicator& own) -> std::string {
    own.enter_step(5);
    own.barrier();
    if (own.rank() == 1) ::raise(SIGKILL);
    own.barrier();
    return "went on";
  });
  const std::string reason = "rank 1 ended unexpectedly in step 5; the last step it finished is 4";
  EXPECT_EQ(said, (Sentences{reason, no_word, reason}));
  EXPECT_LT(steady_seconds() - begin, patient / 2);
}

TEST(Tcp, ARankThatStopsIsNamedAfterTheTimeOut) {
  const auto said = run_tcp(3, 2, [](Communicator& own) -> std::string {
    own.enter_step(3);
    own.barrier();
    if (own.rank() == 2) ::raise(SIGSTOP);
    int value = 0;
    own.wait(own.receive(own.rank() + 1, Channel::point_to_point, write_of(value)));  // 0 waits for 1, 1 for 2
    return "went on";
  });
  const std::string reason = "rank 2 did not answer for 2 s in step 3; the last step it finished is 2";
  EXPECT_EQ(said[0], reason);
  EXPECT_EQ(said[1], reason);
}

TEST(Tcp, TheFirstReasonReachesEverybody) {
  const auto said = run_tcp(3, patient, [](Communicator& own) -> std::string {
    own.enter_step(1);
    if (own.rank() == 1) {
      own.abort("out of memory");
      return "aborted";
    }
    own.barrier();
    return "went on";
  });
  const std::string reason = "rank 1 gave up in step 1, its first (out of memory)";
  EXPECT_EQ(said, (Sentences{reason, "aborted", reason}));
}

TEST(Tcp, ARankThatLeavesIsNotWaitedForButWhatItSentArrives) {
  const auto said = run_tcp(2, patient, [](Communicator& own) -> std::string {
    std::vector<int> values(100000, own.rank());
    const auto bytes = std::as_writable_bytes(std::span(values));
    if (own.rank() == 0) {
      own.wait(own.send(1, Channel::collective, bytes));
      return "left";
    }
    ::usleep(50000);
    own.wait(own.receive(0, Channel::collective, bytes));
    if (values.back() != 0) return "wrong";
    own.wait(own.receive(0, Channel::collective, bytes));
    return "went on";
  });
  EXPECT_EQ(said, (Sentences{"left", "rank 0 has ended before its first step"}));
}

TEST(Tcp, AMessageOfAnotherLengthIsAnError) {
  const auto said = run_tcp(2, patient, [](Communicator& own) -> std::string {
    std::vector<std::byte> bytes(own.rank() == 0 ? 4 : 8);
    own.wait(own.rank() == 0 ? own.send(1, Channel::control, bytes) : own.receive(0, Channel::control, bytes));
    own.barrier();
    return "went on";
  });
  EXPECT_EQ(said, Sentences(2, "rank 0 sends 4 bytes where rank 1 expects 8"));
}

}  // namespace
}  // namespace gpusizer
