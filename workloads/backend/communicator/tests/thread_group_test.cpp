// SPDX-License-Identifier: Apache-2.0
// Ranks as threads: messages arrive in order, a rank that fails, leaves or falls silent ends everybody's waiting.
#include "workloads/backend/communicator/thread_group.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <numeric>

#include "workloads/backend/communicator/tests/thread_ranks.hpp"

namespace gpusizer {
namespace {

using testing::patient;
using testing::read_of;
using testing::run_ranks;
using testing::Sentences;
using testing::write_of;

TEST(ThreadGroup, MessagesOfAChannelArriveInOrderAndChannelsDoNotWaitForEachOther) {
  const auto sentences = run_ranks(2, patient, [](Communicator& own) {
    std::array<int, 3> values{1, 2, 3};
    if (own.rank() == 0) {
      const auto a = own.send(1, Channel::collective, read_of(values[0]));
      const auto b = own.send(1, Channel::collective, read_of(values[1]));
      const auto c = own.send(1, Channel::point_to_point, read_of(values[2]));
      for (const auto ticket : {a, b, c}) own.wait(ticket);
    } else {
      std::array<int, 3> heard{};
      own.wait(own.receive(0, Channel::point_to_point, write_of(heard[2])));
      own.wait(own.receive(0, Channel::collective, write_of(heard[0])));
      own.wait(own.receive(0, Channel::collective, write_of(heard[1])));
      EXPECT_EQ(heard, values);
    }
  });
  EXPECT_EQ(sentences, (Sentences{"", ""}));
}

TEST(ThreadGroup, EveryRankLearnsEveryText) {
  const auto sentences = run_ranks(4, patient, [](Communicator& own) {
    const std::string text(static_cast<size_t>(own.rank()), 'x');
    EXPECT_EQ(own.all_gather(text), (Sentences{"", "x", "xx", "xxx"}));
    EXPECT_EQ(own.broadcast(2, own.rank() == 2 ? "two" : "other"), "two");
    own.barrier();
  });
  EXPECT_EQ(sentences, (Sentences{"", "", "", ""}));
}

TEST(ThreadGroup, SeveralThreadsOfARankShareItsCommunicator) {
  constexpr int rounds = 500;
  const auto sentences = run_ranks(3, patient, [](Communicator& own) {
    const auto stream = [&own](Channel channel) {
      const int next = (own.rank() + 1) % own.size(), previous = (own.rank() + own.size() - 1) % own.size();
      for (int i = 0; i < rounds; ++i) {
        int heard = -1;
        const auto in = own.receive(previous, channel, write_of(heard));
        const auto out = own.send(next, channel, read_of(i));
        own.wait(in);
        own.wait(out);
        ASSERT_EQ(heard, i);
      }
    };
    std::thread beside(stream, Channel::point_to_point);
    stream(Channel::collective);
    beside.join();
  });
  EXPECT_EQ(sentences, (Sentences{"", "", ""}));
}

TEST(ThreadGroup, TheFirstReasonReachesEverybody) {
  const auto sentences = run_ranks(3, patient, [](Communicator& own) {
    own.enter_step(5);
    if (own.rank() == 1) throw std::runtime_error("out of memory");
    own.barrier();
  });
  const std::string reason = "rank 1 gave up in step 5; the last step it finished is 4 (out of memory)";
  EXPECT_EQ(sentences, (Sentences{reason, "out of memory", reason}));
}

TEST(ThreadGroup, ARankThatStallsIsNamedByThoseWhoWaitForItAndByThoseWhoWaitForThem) {
  std::atomic<bool> go_on = false;
  std::atomic<int> ended = 0;
  ThreadGroup group(3, 0.4);
  const auto sentences = run_ranks(group, 3, [&](Communicator& own) {
    own.enter_step(5);
    int value = 0;
    if (own.rank() == 2) {
      while (!go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      own.barrier();
    }
    try {
      own.wait(own.receive(own.rank() + 1, Channel::point_to_point, write_of(value)));  // 0 waits for 1, 1 for 2
    } catch (const CommunicationError& error) {
      EXPECT_EQ(error.rank(), 2);
      go_on = ++ended == 2;
      throw;
    }
  });
  const std::string reason = "rank 2 did not answer for 0.4 s in step 5; the last step it finished is 4";
  EXPECT_EQ(sentences, (Sentences{reason, reason, reason}));
  EXPECT_EQ(group.failure(), reason);
  EXPECT_EQ(group.step(2), 5);
}

TEST(ThreadGroup, ARankThatLeavesIsNotWaitedFor) {
  const auto sentences = run_ranks(2, patient, [](Communicator& own) {
    int value = 0;
    if (own.rank() == 1) own.wait(own.receive(0, Channel::control, write_of(value)));
    own.enter_step(1);
    if (own.rank() == 0) own.wait(own.send(1, Channel::control, read_of(value)));
    if (own.rank() == 1) own.wait(own.receive(0, Channel::control, write_of(value)));
  });
  EXPECT_EQ(sentences, (Sentences{"", "rank 0 has ended in step 1, its first"}));
}

TEST(ThreadGroup, AMessageOfAnotherLengthIsAnError) {
  const auto sentences = run_ranks(2, patient, [](Communicator& own) {
    std::array<int, 2> values{};
    if (own.rank() == 0)
      own.wait(own.send(1, Channel::control, read_of(values[0])));
    else
      own.wait(own.receive(0, Channel::control, write_of(values)));
  });
  const std::string reason = "rank 0 sends 4 bytes where rank 1 expects 8";
  EXPECT_EQ(sentences, (Sentences{reason, reason}));
}

TEST(ThreadGroup, AStuckRankMayOutliveTheGroup) {
  std::atomic<bool> go_on = false;
  std::string sentence;
  std::thread stuck;
  {
    ThreadGroup group(2, 0.2);
    const auto own = group.join(0);
    stuck = std::thread([&, other = group.join(1)] {
      while (!go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      try {
        other->barrier();
      } catch (const CommunicationError& error) {
        sentence = error.what();
      }
    });
    EXPECT_THROW(own->barrier(), CommunicationError);
  }
  go_on = true;
  stuck.join();
  EXPECT_EQ(sentence, "rank 1 did not answer for 0.2 s before its first step");
}

TEST(ThreadGroup, NobodyTouchesABufferAfterItsRankHasGivenUp) {
  for (int i = 0; i < 20; ++i) {  // the sanitizers look on
    ThreadGroup group(2, patient);
    run_ranks(group, 2, [i](Communicator& own) {
      std::vector<std::byte> bytes(1 << 20);
      std::vector<Communicator::Ticket> tickets;
      for (int m = 0; m < 8; ++m)
        tickets.push_back(own.rank() == 0 ? own.send(1, Channel::collective, bytes)
                                          : own.receive(0, Channel::collective, bytes));
      if (own.rank() == i % 2) return own.abort("enough");  // the bytes go at once
      for (const auto ticket : tickets) own.wait(ticket);
    });
  }
}

TEST(ThreadGroup, ThereIsNoRankTwiceAndNoneOutside) {
  ThreadGroup group(2, 1);
  const auto own = group.join(1);
  EXPECT_THROW(group.join(1), Error);
  EXPECT_THROW(group.join(2), Error);
  EXPECT_THROW(ThreadGroup(0, 1), Error);
  int value = 0;
  EXPECT_THROW(own->send(1, Channel::control, read_of(value)), Error);
  EXPECT_THROW(own->done(77), Error);
  group.abort("the owner has had enough");
  EXPECT_THROW(own->send(0, Channel::control, read_of(value)), CommunicationError);
}

}  // namespace
}  // namespace gpusizer
