// SPDX-License-Identifier: Apache-2.0
// Everything that a run needs to go on where it stood: its persistent tensors, its place, and its history.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "workloads/backend/backend.hpp"

namespace gpusizer {

// What is stored beside the tensors.
struct Checkpoint {
  std::string case_id;                        // "resnet8/synthetic/b8/fp32/cpu"
  std::map<std::string, std::string> config;  // all that decides the run's losses: only the same run may go on from it
  std::uint64_t seed = 0;
  std::int64_t step = 0;                               // finished steps
  std::int64_t epoch = 0, epoch_step = 0;              // where the next step stands in the data
  std::array<std::int32_t, 2> random_state{};          // of the next step
  std::map<std::string, std::vector<double>> history;  // of the run so far, by name: its losses, its step times

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// One safetensors file: the persistent tensors of the executor's programs (parameters, running statistics, optimizer
// state) by their names in the program, row-major F32, so in no backend's or rank's layout; each history as F64
// "run/NAME"; the rest as words, the config's with "config." before the name. Holds one tensor at a time beside the
// executor's own. Returns the file's bytes. Throws Error(environment), leaving what was there, when the file cannot be
// written.
std::int64_t save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint, Executor& executor,
                             int program_count);

// What is beside the tensors. Throws Error(input) for a damaged file and for one that is no checkpoint of gpusizer or
// has no checksum.
Checkpoint read_checkpoint(const std::filesystem::path& path);

// Gives the executor the stored values. Throws Error(input) as read_checkpoint() does, and when the file's tensors are
// not exactly the executor's; then the executor is unchanged.
Checkpoint load_checkpoint(const std::filesystem::path& path, Executor& executor, int program_count);

}  // namespace gpusizer
