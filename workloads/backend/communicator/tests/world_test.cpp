// SPDX-License-Identifier: Apache-2.0
// The launchers by the variables they leave, and those who contradict themselves.
#include "workloads/backend/communicator/world.hpp"

#include <gtest/gtest.h>

#include <map>

namespace gpusizer {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;
using Join = World::Join;

Environment environment_of(const Variables& variables) {
  return [variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

struct Launch {
  std::string name;
  Variables variables;
  World world;
};

const Variables in_batch_job{
    {"SLURM_JOB_ID", "1234"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_JOB_NUM_NODES", "1"}};

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

const Variables step = with(in_batch_job, {{"SLURM_PROCID", "3"},
                                           {"SLURM_STEP_ID", "2"},
                                           {"SLURM_STEP_NUM_TASKS", "4"},
                                           {"SLURM_STEP_NUM_NODES", "1"},
                                           {"SLURM_STEP_NODELIST", "node1"}});
const Variables four{{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "10.0.0.5"}, {"MASTER_PORT", "29500"}};
const Variables open_mpi{
    {"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "2"}, {"PMIX_NAMESPACE", "99"}};

const std::vector<Launch> launches{
    {"nobody", {}, {}},
    {"empty values", {{"RANK", ""}, {"WORLD_SIZE", ""}}, {}},
    {"only a place", {{"MASTER_ADDR", "10.0.0.5"}, {"MASTER_PORT", "29500"}}, {}},
    {"all four", four, {Join::tcp, 1, 4, "RANK and WORLD_SIZE", "10.0.0.5", 29500, "", ""}},
    {"one rank of one", {{"RANK", "0"}, {"WORLD_SIZE", "1"}}, {}},
    {"torchrun",
     with(four, {{"TORCHELASTIC_RUN_ID", "none"}, {"LOCAL_RANK", "1"}}),
     {Join::tcp, 1, 4, "torchrun", "10.0.0.5", 29500, "none", ""}},
    {"torchrun whose agent holds the port",
     with(four, {{"TORCHELASTIC_RUN_ID", "7"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}}),
     {Join::tcp, 1, 4, "torchrun", "10.0.0.5", 29501, "7", ""}},
    {"mpirun of Open MPI", open_mpi, {Join::mpi, 2, 4, "mpirun (Open MPI)", "", 0, "", ""}},
    {"its module elsewhere",
     with(open_mpi, {{"GPUSIZER_MPI_MODULE", "lib/mine.so"}}),
     {Join::mpi, 2, 4, "mpirun (Open MPI)", "", 0, "", "lib/mine.so"}},
    {"mpirun -np 1", {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}, {"PMIX_RANK", "0"}}, {}},
    {"mpirun with a place that agrees",
     with(open_mpi, with(four, {{"RANK", "2"}})),
     {Join::tcp, 2, 4, "RANK and WORLD_SIZE", "10.0.0.5", 29500, "", ""}},
    {"mpirun with ranks but no place",
     with(open_mpi, {{"RANK", "2"}, {"WORLD_SIZE", "4"}}),
     {Join::mpi, 2, 4, "mpirun (Open MPI)", "", 0, "", ""}},
    {"mpirun in a batch job", with(in_batch_job, open_mpi), {Join::mpi, 2, 4, "mpirun (Open MPI)", "", 0, "", ""}},
    {"Hydra",
     {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"PMI_FD", "9"}},
     {Join::mpi, 1, 2, "mpirun (PMI)", "", 0, "", ""}},
    {"a batch job's script", in_batch_job, {}},
    {"srun", step, {Join::tcp, 3, 4, "srun", "127.0.0.1", 20000 + (1234 * 7 + 2) % 12000, "slurm 1234.2", ""}},
    {"srun --mpi=pmi2",
     with(step, {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}}),
     {Join::tcp, 3, 4, "srun", "127.0.0.1", 28640, "slurm 1234.2", ""}},
    {"srun --mpi=pmix", with(step, {{"PMIX_RANK", "3"}}), {Join::mpi, 3, 4, "srun (PMIx)", "", 0, "", ""}},
    {"srun over nodes",
     with(step, {{"SLURM_STEP_NUM_NODES", "3"}, {"SLURM_STEP_NODELIST", "node[03-05,9],other"}}),
     {Join::tcp, 3, 4, "srun", "node03", 28640, "slurm 1234.2", ""}},
    {"srun over nodes with two names",
     with(step, {{"SLURM_STEP_NUM_NODES", "2"}, {"SLURM_STEP_NODELIST", "a1,b2"}}),
     {Join::tcp, 3, 4, "srun", "a1", 28640, "slurm 1234.2", ""}},
    {"srun with a place",
     with(step, {{"MASTER_ADDR", "head"}, {"MASTER_PORT", "4000"}}),
     {Join::tcp, 3, 4, "srun", "head", 4000, "slurm 1234.2", ""}},
    {"srun -n 1", with(step, {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}}), {}},
};

TEST(World, IsWhatTheLauncherSays) {
  for (const Launch& launch : launches) {
    SCOPED_TRACE(launch.name);
    const World world = find_world(environment_of(launch.variables));
    EXPECT_EQ(static_cast<int>(world.join), static_cast<int>(launch.world.join));
    EXPECT_EQ(world.rank, launch.world.rank);
    EXPECT_EQ(world.size, launch.world.size);
    EXPECT_EQ(world.launcher, launch.world.launcher);
    EXPECT_EQ(world.address, launch.world.address);
    EXPECT_EQ(world.port, launch.world.port);
    EXPECT_EQ(world.run, launch.world.run);
    EXPECT_EQ(world.mpi_module, launch.world.mpi_module);
  }
}

struct Refusal {
  Variables variables;
  std::string sentence;
};

TEST(World, RanksThatCannotBeJoinedAreAnError) {
  const std::vector<Refusal> refusals{
      {{{"WORLD_SIZE", "4"}}, "WORLD_SIZE is set and RANK is not (RANK); set both, or neither to run alone"},
      {{{"RANK", "4"}, {"WORLD_SIZE", "4"}}, "there is no rank 4 among 4 (RANK, WORLD_SIZE); ranks are counted from 0"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "0"}}, "there is no rank 0 among 0 (RANK, WORLD_SIZE); ranks are counted from 0"},
      {with(four, {{"RANK", "one"}}), "RANK is 'one', which is no count (RANK); unset it or correct it"},
      {with(four, {{"RANK", "-1"}}), "RANK is '-1', which is no count (RANK); unset it or correct it"},
      {with(four, {{"MASTER_PORT", "99999"}}),
       "MASTER_PORT is 99999, which is no port (MASTER_PORT); use 1024 to 65535"},
      {with(four, {{"MASTER_PORT", ""}}),
       "rank 1 of 4 cannot find the others: MASTER_PORT is not set (MASTER_PORT); set MASTER_ADDR and MASTER_PORT to "
       "where rank 0 can listen, the same for all ranks"},
      {with(open_mpi, four),
       "RANK and WORLD_SIZE say rank 1 of 4, and mpirun (Open MPI) says rank 2 of 4 (RANK, "
       "WORLD_SIZE); unset the ones that are not meant"},
      {with(step, {{"RANK", "3"}, {"WORLD_SIZE", "8"}}),
       "RANK and WORLD_SIZE say rank 3 of 8, and srun says rank 3 of 4 (RANK, WORLD_SIZE); unset the ones that are not "
       "meant"},
      {{{"PMIX_RANK", "1"}},
       "PMIX_RANK is set, and nothing says how many ranks there are (PMIX_RANK); use mpirun of Open MPI, srun, or "
       "RANK, "
       "WORLD_SIZE, MASTER_ADDR and MASTER_PORT"},
      {{{"OMPI_COMM_WORLD_SIZE", "4"}},
       "OMPI_COMM_WORLD_SIZE is set and OMPI_COMM_WORLD_RANK is not (OMPI_COMM_WORLD_RANK); set both, or neither to "
       "run "
       "alone"},
  };
  for (const Refusal& refusal : refusals) {
    try {
      find_world(environment_of(refusal.variables));
      ADD_FAILURE() << refusal.sentence;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), refusal.sentence);
      EXPECT_EQ(error.fault(), Fault::usage);
    }
  }
}

}  // namespace
}  // namespace gpusizer
