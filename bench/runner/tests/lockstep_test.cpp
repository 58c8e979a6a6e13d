// SPDX-License-Identifier: Apache-2.0
// What processes agree on, with threads in their place; how cores are shared out; tensors gathered and given back.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "bench/runner/cores.hpp"
#include "bench/runner/lockstep.hpp"
#include "workloads/backend/communicator/thread_group.hpp"

namespace gpusizer {
namespace {

void on_ranks(int ranks, const std::function<void(Communicator&)>& work) {
  ThreadGroup group(ranks, 20);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      const auto own = group.join(rank);
      work(*own);
      own->barrier();
    });
  for (std::thread& thread : threads) thread.join();
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const OutOfMemory& error) {
    return std::string("oom: ") + error.what();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Lockstep, AFaultOfOneIsEverybodys) {
  on_ranks(3, [](Communicator& others) {
    const Lockstep lockstep(&others);
    const int rank = others.rank();
    EXPECT_EQ(message_of([&] { lockstep.together([] {}); }), "");
    const std::string said = message_of([&] {
      lockstep.together([&] {
        if (rank == 1) throw Error(Fault::usage, "no such thing", "--flag", "leave it out");
      });
    });
    EXPECT_EQ(said, rank == 1 ? "no such thing (--flag); leave it out" : "rank 1: no such thing (--flag); leave it out");
    const std::string full = message_of([&] {
      lockstep.together([&] {
        if (rank == 2) throw OutOfMemory("too large");
      });
    });
    EXPECT_EQ(full, rank == 2 ? "oom: too large" : "oom: rank 2: too large");
  });
}

TEST(Lockstep, TheLeadersWordCountsAndOptionsMustBeTheSame) {
  on_ranks(2, [](Communicator& others) {
    const Lockstep lockstep(&others);
    EXPECT_EQ(lockstep.leads(), others.rank() == 0);
    EXPECT_EQ(lockstep.of_leader(others.rank() == 0 ? "go" : "stay"), "go");
    EXPECT_EQ(message_of([&] { lockstep.require_same("--batch 8"); }), "");
    EXPECT_NE(message_of([&] { lockstep.require_same(others.rank() == 0 ? "a\n--batch 8" : "a\n--batch 4"); })
                  .find("rank 1 was started with '--batch 4', and rank 0 with '--batch 8'"), std::string::npos);
    EXPECT_NE(message_of([&] { lockstep.require_same(others.rank() == 0 ? "a\nb" : "a"); })
                  .find("rank 1 was started with 'nothing more', and rank 0 with 'b'"), std::string::npos);
    EXPECT_GT(lockstep.neighbours_cpu_seconds().value_or(-1), 0) << "the neighbour is this very process";
    EXPECT_EQ(lockstep.local().only, others.rank());
    EXPECT_EQ(lockstep.local().neighbours, 2);
    EXPECT_EQ(lockstep.local().place, others.rank());
    EXPECT_FALSE(lockstep.missing());  // this process runs
  });
}

TEST(Lockstep, AloneNobodyIsAsked) {
  const Lockstep alone;
  EXPECT_TRUE(alone.leads());
  EXPECT_EQ(alone.neighbours_cpu_seconds(), 0);
  EXPECT_EQ(alone.of_leader("mine"), "mine");
  EXPECT_EQ(message_of([&] { alone.together([] { throw OutOfMemory("full"); }); }), "oom: full");
  EXPECT_FALSE(alone.local().only);
}

TEST(Cores, AreSharedOutInOrder) {
  const std::vector<int> cores{2, 3, 5, 7, 11};
  const auto part = [&](int parts, int place) {
    const auto own = part_of(cores, parts, place);
    return std::vector<int>(own.begin(), own.end());
  };
  EXPECT_EQ(part(2, 0), (std::vector<int>{2, 3, 5}));
  EXPECT_EQ(part(2, 1), (std::vector<int>{7, 11}));
  EXPECT_EQ(part(5, 4), (std::vector<int>{11}));
  EXPECT_EQ(part(7, 5), (std::vector<int>{2}));  // more parts than cores
  EXPECT_GE(usable_cores().size(), 1u);
}

}  // namespace
}  // namespace gpusizer
