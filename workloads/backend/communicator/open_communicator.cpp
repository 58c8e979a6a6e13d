// SPDX-License-Identifier: Apache-2.0
// Joins the ranks that a launcher started.
#include "workloads/backend/communicator/mpi_communicator.hpp"
#include "workloads/backend/communicator/tcp_communicator.hpp"
#include "workloads/backend/communicator/world.hpp"

namespace gpusizer {

std::unique_ptr<Communicator> open_communicator(const World& world, double timeout_seconds) {
  if (world.join == World::Join::tcp)
    return open_tcp({world.rank, world.size, world.address, world.port, world.run}, timeout_seconds);
  if (world.join == World::Join::mpi)
    return open_mpi(open_mpi_module(world.mpi_module), world.launcher, world.rank, world.size, timeout_seconds);
  return nullptr;
}

}  // namespace gpusizer
