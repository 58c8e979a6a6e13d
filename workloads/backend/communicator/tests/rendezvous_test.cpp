// SPDX-License-Identifier: Apache-2.0
// Ranks that find each other, and the strangers, namesakes and latecomers that they turn away.
#include "workloads/backend/communicator/rendezvous.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fmt/format.h>

#include "workloads/backend/communicator/greeting.hpp"
#include "workloads/backend/communicator/rank_signs.hpp"
#include "workloads/backend/communicator/tests/process_ranks.hpp"

namespace gpusizer {
namespace {

using testing::free_port;
using testing::run_processes;
using Words = std::vector<std::string>;

std::string meet_as(const RendezvousPlace& place, double seconds = 30) {
  const auto peers = meet(place, seconds);
  for (int r = 0; r < place.size; ++r)
    for (const Socket& socket : peers[static_cast<size_t>(r)])
      if (static_cast<bool>(socket) == (r == place.rank)) return "a connection is wrong";
  return "met";
}

Address address_of(int port) { return resolve("127.0.0.1", port).front(); }

Socket connect_when_it_listens(int port) {
  const double deadline = steady_seconds() + 30;
  for (;;) {
    if (Socket socket = connect_once(address_of(port), deadline)) return socket;
    if (steady_seconds() > deadline) return {};
    ::usleep(10000);
  }
}

TEST(Rendezvous, RanksMeetWhoeverComesFirst) {
  const int port = free_port();
  EXPECT_EQ(run_processes(4,
                          [&](int rank) {
                            ::usleep(static_cast<useconds_t>((3 - rank) * 50000));
                            return meet_as({rank, 4, "localhost", port, ""});
                          }),
            Words(4, "met"));
}

TEST(Rendezvous, OneRankMeetsNobody) { EXPECT_EQ(meet_as({0, 1, "127.0.0.1", free_port(), ""}), "met"); }

TEST(Rendezvous, StrangersAreTurnedAway) {
  const int port = free_port();
  const auto said = run_processes(
      2,
      [&](int rank) {
        ::usleep(static_cast<useconds_t>(rank * 400000));  // the strangers come first
        return meet_as({rank, 2, "127.0.0.1", port, ""});
      },
      [&](const std::vector<int>&) {
        const double deadline = steady_seconds() + 30;
        const Socket silent = connect_when_it_listens(port), browser = connect_when_it_listens(port);
        const std::string request = "GET / HTTP/1.1\r\nHost: example\r\n\r\n" + std::string(4096, 'x');
        write_all(browser, std::as_bytes(std::span(request)), deadline);
        Hello other_version;
        other_version.rank = 1;
        other_version.size = 2;
        other_version.version = 99;
        const Socket old = connect_when_it_listens(port);
        write_all(old, std::as_bytes(std::span(&other_version, 1)), deadline);
        std::byte one{};
        EXPECT_FALSE(read_all(browser, std::span(&one, 1), deadline));
        EXPECT_FALSE(read_all(old, std::span(&one, 1), deadline));
      });
  EXPECT_EQ(said, Words(2, "met"));
}

TEST(Rendezvous, RanksThatDoNotComeAreNamed) {
  const int port = free_port();
  const auto said = run_processes(2, [&](int rank) {
    return meet_as({rank * 2, 4, "127.0.0.1", port, ""}, rank == 0 ? 0.5 : 30);
  });
  EXPECT_EQ(said, Words(2, fmt::format("ranks 1, 3 of 4 did not come to 127.0.0.1:{} within 0.5 s", port)));
}

TEST(Rendezvous, ARankWithoutRankZeroSaysSo) {
  const int port = free_port();
  try {
    meet({1, 2, "127.0.0.1", port, ""}, 0.2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), fmt::format("rank 1 could not reach rank 0 at 127.0.0.1:{} within 0.2 s: Connection "
                                        "refused; check MASTER_ADDR and MASTER_PORT",
                                        port));
    EXPECT_EQ(error.fault(), Fault::environment);
  }
}

TEST(Rendezvous, APortInUseIsRefused) {
  const int port = free_port();
  const Socket other = listen_at(address_of(port));
  try {
    meet({0, 2, "127.0.0.1", port, ""}, 5);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(),
              fmt::format("rank 0 cannot listen at 127.0.0.1:{}: the port is in use; is another run using "
                          "it? choose another MASTER_PORT",
                          port));
  }
}

TEST(Rendezvous, AnotherCountOfRanksEndsItForAll) {
  const int port = free_port();
  const auto said = run_processes(2, [&](int rank) { return meet_as({rank, 2 + rank, "127.0.0.1", port, ""}); });
  EXPECT_EQ(said, Words(2, "rank 1 was told that there are 3 ranks, and rank 0 that there are 2; check WORLD_SIZE"));
}

TEST(Rendezvous, TwoOfTheSameRankEndItForAll) {
  const int port = free_port();
  const auto said = run_processes(3, [&](int i) { return meet_as({i == 0 ? 0 : 1, 3, "127.0.0.1", port, ""}); });
  EXPECT_EQ(said, Words(3, fmt::format("two processes say that they are rank 1; check RANK, or choose another "
                                       "MASTER_PORT if two runs use 127.0.0.1:{}",
                                       port)));
}

TEST(Rendezvous, AnotherRunIsTurnedAwayAndTheFirstGoesOn) {
  const int port = free_port();
  const auto said = run_processes(3, [&](int i) {
    if (i == 1) ::usleep(400000);
    return meet_as({i == 0 ? 0 : 1, 2, "127.0.0.1", port, i == 2 ? "job 8" : "job 7"});
  });
  EXPECT_EQ(said,
            (Words{"met", "met", fmt::format("another run is using 127.0.0.1:{}; choose another MASTER_PORT", port)}));
}

TEST(Rendezvous, SomethingElseThatListensIsNotRankZero) {
  const int port = free_port();
  const Socket listener = listen_at(address_of(port));
  const auto said = run_processes(
      1,
      [&](int) {
        return meet_as({1, 2, "127.0.0.1", port, ""}, 10);
      },
      [&](const std::vector<int>&) {
        Socket guest;
        const double deadline = steady_seconds() + 30;
        while (!guest && steady_seconds() < deadline) guest = accept_one(listener);
        const std::string banner = "SSH-2.0-something-that-is-longer-than-an-answer\r\n";
        write_all(guest, std::as_bytes(std::span(banner)), deadline);
        std::byte one{};
        while (read_all(guest, std::span(&one, 1), deadline)) continue;
      });
  EXPECT_EQ(said, Words(1, fmt::format("what listens at 127.0.0.1:{} is not this version of gpusizer; choose another "
                                       "MASTER_PORT",
                                       port)));
}

TEST(Rendezvous, PlacesThatCannotBeAreRefused) {
  EXPECT_THROW(meet({2, 2, "127.0.0.1", 29500, ""}, 1), Error);
  EXPECT_THROW(meet({0, 2, "127.0.0.1", 0, ""}, 1), Error);
  EXPECT_THROW(meet({0, 2, std::string(300, 'x'), 29500, ""}, 1), Error);
}

}  // namespace
}  // namespace gpusizer
