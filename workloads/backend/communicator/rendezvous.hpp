// SPDX-License-Identifier: Apache-2.0
// How processes find each other without a launcher's help: through rank 0, which listens where everybody looks.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "workloads/backend/communicator/communicator.hpp"
#include "workloads/backend/communicator/socket.hpp"

namespace gpusizer {

struct RendezvousPlace {
  int rank = 0, size = 1;
  std::string address;  // rank 0's, as the others reach it
  int port = 0;
  std::string run;  // names the run; those of another one are turned away
};

// One connection for each channel, and one for notices.
inline constexpr int connection_count = channel_count + 1;
inline constexpr int notice_connection = channel_count;
using PeerConnections = std::array<Socket, connection_count>;

// Returns, by rank, the connections to all other ranks; not blocking. Whoever connects without our magic number and
// version is turned away, and so are those of another run; two processes that say they are the same rank, or that count
// the ranks differently, end the rendezvous for all of them.
// Throws Error(environment), naming the ranks that did not come, when not all are joined within timeout_seconds.
std::vector<PeerConnections> meet(const RendezvousPlace& place, double timeout_seconds);

}  // namespace gpusizer
