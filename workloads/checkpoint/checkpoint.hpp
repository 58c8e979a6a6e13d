// SPDX-License-Identifier: Apache-2.0
// Everything that a run needs to go on where it stood: its persistent tensors, its place, and its history.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/backend/backend.hpp"
#include "workloads/checkpoint/stored_tensor.hpp"

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

// The tensors of a checkpoint, wherever they are: on one executor, or spread over ranks.
class TensorStore {
 public:
  virtual ~TensorStore() = default;
  // Each of them whole, as F32, whatever part of it is where.
  virtual std::vector<StoredTensor> tensors() const = 0;
  // Row-major, exactly the tensor's elements.
  virtual void read(const std::string& name, std::span<float> values) = 0;
  virtual void write(const std::string& name, std::span<const float> values) = 0;
};

// The persistent tensors of the executor's programs (parameters, running statistics, optimizer state) by their names in
// the program, each once, without scalars; the executor must outlive the store.
std::vector<Tensor> persistent_tensors(const Executor& executor, int program_count);
std::unique_ptr<TensorStore> executor_tensors(Executor& executor, int program_count);

// One safetensors file: the tensors of the store by their names, row-major F32, so in no backend's or rank's layout;
// each history as F64 "run/NAME"; the rest as words, the config's with "config." before the name. Holds one tensor at a
// time beside the store's own. Returns the file's bytes. Throws Error(environment), leaving what was there, when the file
// cannot be written.
std::int64_t save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint, TensorStore& tensors);
std::int64_t save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint, Executor& executor,
                             int program_count);

// What is beside the tensors. Throws Error(input) for a damaged file and for one that is no checkpoint of gpusizer or
// has no checksum.
Checkpoint read_checkpoint(const std::filesystem::path& path);

// Gives the store the stored values. Throws Error(input) as read_checkpoint() does, and when the file's tensors are not
// exactly the store's; then these are unchanged.
Checkpoint load_checkpoint(const std::filesystem::path& path, TensorStore& tensors);
Checkpoint load_checkpoint(const std::filesystem::path& path, Executor& executor, int program_count);

}  // namespace gpusizer
