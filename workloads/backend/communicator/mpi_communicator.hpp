// SPDX-License-Identifier: Apache-2.0
// Ranks as processes that an MPI launcher started.
#pragma once

#include <memory>
#include <string>

#include "workloads/backend/communicator/communicator.hpp"
#include "workloads/backend/communicator/mpi_calls.hpp"

namespace gpusizer {

// Opens the module and keeps it open until the process ends. `file` "": libgpusizer_mpi.so beside the program.
// Throws Error(environment) where it cannot be opened or belongs to another version of the program.
const MpiCalls& open_mpi_module(const std::string& file);

// Starts MPI, once in the life of a process. `launcher` is what the environment says started it, with rank and size.
// Everything is asked for and nobody waits within MPI, so that a rank that is lost ends the others' waiting within
// timeout_seconds; MPI is not called any more after that, and the process then ends without MPI_Finalize. The
// destructor ends MPI where all ranks come to it within timeout_seconds. After a failure it lets rank 0, which writes
// what was found, end before the others, since launchers kill all when one ends this way.
// Throws Error(environment) where MPI sees other ranks than the launcher started.
std::unique_ptr<Communicator> open_mpi(const MpiCalls& calls, const std::string& launcher, int rank, int size,
                                       double timeout_seconds);

}  // namespace gpusizer
