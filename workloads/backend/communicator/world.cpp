// SPDX-License-Identifier: Apache-2.0
// Reads what launchers leave in the environment.
#include "workloads/backend/communicator/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace gpusizer {

namespace {

using Text = std::optional<std::string>;

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& hint) {
  throw Error(Fault::usage, what, where, hint);
}

class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  Text text(std::string_view name) const {
    Text value = environment_(name);
    return value && value->empty() ? std::nullopt : value;
  }

  std::optional<int> number(std::string_view name) const {
    const Text value = text(name);
    if (!value) return std::nullopt;
    int result = 0;
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), result);
    if (error != std::errc{} || end != value->data() + value->size() || result < 0)
      refuse(fmt::format("{} is '{}', which is no count", name, *value), std::string(name), "unset it or correct it");
    return result;
  }

  int port(std::string_view name) const {
    const int value = number(name).value_or(0);
    if (value < 1 || value > 65535)
      refuse(fmt::format("{} is {}, which is no port", name, value), std::string(name), "use 1024 to 65535");
    return value;
  }

 private:
  const Environment& environment_;
};

struct Claim {  // of a launcher: this is rank `rank` of `size`
  int rank = 0, size = 1;
};

std::optional<Claim> claim(const Reader& read, std::string_view rank_name, std::string_view size_name) {
  const auto rank = read.number(rank_name), size = read.number(size_name);
  if (!rank && !size) return std::nullopt;
  if (!rank || !size)
    refuse(fmt::format("{} is set and {} is not", rank ? rank_name : size_name, rank ? size_name : rank_name),
           std::string(rank ? size_name : rank_name), "set both, or neither to run alone");
  if (*size < 1 || *rank >= *size)
    refuse(fmt::format("there is no rank {} among {}", *rank, *size), fmt::format("{}, {}", rank_name, size_name),
           "ranks are counted from 0");
  return Claim{*rank, *size};
}

// Where RANK and WORLD_SIZE are set beside a launcher's own variables, both must mean the same.
void require_agreement(const Claim& own, const Claim& other, std::string_view launcher) {
  if (own.rank != other.rank || own.size != other.size)
    refuse(fmt::format("RANK and WORLD_SIZE say rank {} of {}, and {} says rank {} of {}", own.rank, own.size, launcher,
                       other.rank, other.size),
           "RANK, WORLD_SIZE", "unset the ones that are not meant");
}

// "node[03-05,9],other" -> "node03"
std::string first_host(const std::string& list) {
  const size_t bracket = list.find_first_of("[,");
  if (bracket == std::string::npos || list[bracket] == ',') return list.substr(0, bracket);
  return list.substr(0, bracket) + list.substr(bracket + 1, list.find_first_of("-,]", bracket) - bracket - 1);
}

World tcp_world(const Reader& read, const Claim& claim) {
  World world{.join = World::Join::tcp, .rank = claim.rank, .size = claim.size, .launcher = "RANK and WORLD_SIZE"};
  const Text address = read.text("MASTER_ADDR");
  for (const std::string_view name : {"MASTER_ADDR", "MASTER_PORT"})
    if (!read.text(name))
      refuse(fmt::format("rank {} of {} cannot find the others: {} is not set", claim.rank, claim.size, name),
             std::string(name), "set MASTER_ADDR and MASTER_PORT to where rank 0 can listen, the same for all ranks");
  world.address = *address;
  world.port = read.port("MASTER_PORT");
  if (const Text id = read.text("TORCHELASTIC_RUN_ID")) {
    world.launcher = "torchrun";
    world.run = *id;
    // The agent holds the port itself.
    if (read.text("TORCHELASTIC_USE_AGENT_STORE") == "True") world.port += world.port < 65535 ? 1 : -1;
  }
  return world;
}

World mpi_world(const Reader& read, const Claim& claim, std::string launcher) {
  return {.join = World::Join::mpi,
          .rank = claim.rank,
          .size = claim.size,
          .launcher = std::move(launcher),
          .mpi_module = read.text("GPUSIZER_MPI_MODULE").value_or("")};
}

World slurm_world(const Reader& read, const Claim& claim) {
  World world{.join = World::Join::tcp, .rank = claim.rank, .size = claim.size, .launcher = "srun"};
  const int job = read.number("SLURM_JOB_ID").value_or(0), step = read.number("SLURM_STEP_ID").value_or(0);
  world.run = fmt::format("slurm {}.{}", job, step);
  if (const Text address = read.text("MASTER_ADDR"))
    world.address = *address;
  else if (read.number("SLURM_STEP_NUM_NODES").value_or(1) == 1)
    world.address = "127.0.0.1";
  else if (const Text nodes = read.text("SLURM_STEP_NODELIST"))
    world.address = first_host(*nodes);
  else
    refuse("srun does not say on which nodes its ranks are", "SLURM_STEP_NODELIST", "set MASTER_ADDR and MASTER_PORT");
  // Below the ports that systems give out by themselves.
  world.port =
      read.text("MASTER_PORT") ? read.port("MASTER_PORT") : 20000 + static_cast<int>((int64_t{job} * 7 + step) % 12000);
  return world;
}

// srun sets these for each of its ranks, and not for the script of a batch job.
std::optional<Claim> slurm_claim(const Reader& read) {
  if (!read.text("SLURM_STEP_NUM_TASKS")) return std::nullopt;
  return claim(read, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
}

}  // namespace

Environment process_environment() {
  return [](std::string_view name) -> Text {
    const char* value = std::getenv(std::string(name).c_str());
    return value ? Text(value) : std::nullopt;
  };
}

World find_world(const Environment& environment) {
  const Reader read(environment);
  const auto named = claim(read, "RANK", "WORLD_SIZE");
  const auto slurm = slurm_claim(read);
  std::optional<World> launched;
  if (const auto open_mpi = claim(read, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"))
    launched = mpi_world(read, *open_mpi, "mpirun (Open MPI)");
  else if (slurm && read.text("PMIX_RANK"))
    launched = mpi_world(read, *slurm, "srun (PMIx)");
  else if (slurm)
    launched = slurm_world(read, *slurm);
  else if (const auto hydra = claim(read, "PMI_RANK", "PMI_SIZE"))
    launched = mpi_world(read, *hydra, "mpirun (PMI)");
  if (!named && !launched && read.text("PMIX_RANK"))
    refuse("PMIX_RANK is set, and nothing says how many ranks there are", "PMIX_RANK",
           "use mpirun of Open MPI, srun, or RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
  if (named && launched) require_agreement(*named, {launched->rank, launched->size}, launched->launcher);
  const bool placed = read.text("MASTER_ADDR") && read.text("MASTER_PORT");
  World world;
  if (named && (placed || !launched))
    world = named->size > 1 ? tcp_world(read, *named) : World{};
  else if (launched)
    world = *launched;
  return world.size > 1 ? world : World{};
}

}  // namespace gpusizer
