// SPDX-License-Identifier: Apache-2.0
// Who started this process, and as which of how many ranks: from the environment alone.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/backend/communicator/communicator.hpp"

namespace gpusizer {

// The value of a variable; none where it is not set. An empty value counts as not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;
Environment process_environment();

struct World {
  // alone: one process, whose ranks are threads if there are several.
  enum class Join { alone, tcp, mpi } join = Join::alone;
  int rank = 0, size = 1;
  std::string launcher;  // for people: "mpirun (Open MPI)", "srun", "torchrun", "RANK and WORLD_SIZE"; alone: ""
  std::string address;   // tcp: where rank 0 listens
  int port = 0;
  std::string run;         // tcp: names the run, so that two of them cannot mix; may be ""
  std::string mpi_module;  // mpi: the file of the module; "": libgpusizer_mpi.so beside the program
};

// The first of these that is there counts; a launcher that started one rank only counts as none:
//   RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT   tcp: torchrun, or whoever sets all four. Under a torchrun whose agent
//                                                holds that port (TORCHELASTIC_USE_AGENT_STORE), the port above it
//   OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE   mpi: mpirun of Open MPI
//   SLURM_PROCID, SLURM_STEP_NUM_TASKS           with PMIX_RANK mpi (srun --mpi=pmix); else tcp (any other srun), at
//                                                MASTER_ADDR and MASTER_PORT where they are set, else at the first of
//                                                SLURM_STEP_NODELIST and a port made of SLURM_JOB_ID and SLURM_STEP_ID
//   PMI_RANK, PMI_SIZE                           mpi: Hydra's mpirun
// GPUSIZER_MPI_MODULE names the MPI module where it is not beside the program.
// Throws Error(usage) where ranks were started that cannot be joined: variables that are missing, no numbers, out of
// range, or contradict each other.
World find_world(const Environment& environment);

// Joins the other ranks, within timeout_seconds; null where this process is alone. Throws Error(environment), with the
// reason, where ranks were started that cannot be joined: there is never one run in each of them.
std::unique_ptr<Communicator> open_communicator(const World& world, double timeout_seconds);

}  // namespace gpusizer
