// SPDX-License-Identifier: Apache-2.0
// The whole tensors of a model that is spread over ranks, for checkpoints: whatever the layout, the file is the same.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workloads/backend/communicator/communicator.hpp"
#include "workloads/checkpoint/checkpoint.hpp"
#include "workloads/program/part.hpp"

namespace gpusizer {

// What one rank holds.
struct HeldTensors {
  Executor& executor;
  int program_count = 0;
  Communicator& others;
};

// Used on rank 0, while every other rank is in serve_tensors(). Each piece of a tensor is read from the lowest rank that
// holds it, and written to all that do.
class GatheredTensors final : public TensorStore {
 public:
  explicit GatheredTensors(const HeldTensors& own);
  ~GatheredTensors() override;  // lets the others go on; never throws
  GatheredTensors(const GatheredTensors&) = delete;
  GatheredTensors& operator=(const GatheredTensors&) = delete;

  std::vector<StoredTensor> tensors() const override;
  void read(const std::string& name, std::span<float> values) override;
  void write(const std::string& name, std::span<const float> values) override;

 private:
  HeldTensors own_;
  std::map<std::string, Part> held_;                                 // here
  std::vector<StoredTensor> tensors_;                                // of all ranks
  std::map<std::string, std::map<std::int64_t, int>> first_holder_;  // of each piece
};

// On all other ranks: answers until rank 0 has no store any more.
void serve_tensors(const HeldTensors& own);

}  // namespace gpusizer
