// SPDX-License-Identifier: Apache-2.0
// Where the weights of an inference case come from: a training that was just done, a file, or nowhere.
#pragma once

#include <filesystem>

#include "workloads/backend/backend.hpp"
#include "workloads/transforms/tensor_values.hpp"

namespace gpusizer {

// The values of every weight and running statistic that `program` reads, from an executor that has them.
TensorValues weights_of(Executor& executor, const Program& program);

// From a safetensors file: a checkpoint of gpusizer, or one of another program with PyTorch's names. Other tensors in
// it are passed over. Throws Error(input) naming the file and the tensor for a damaged file, and for a tensor that is
// not there or has another shape.
TensorValues weights_from(const std::filesystem::path& file, const Program& program);

// Throws as weights_from() does, before anything is run.
void check_weights(const std::filesystem::path& file, const Program& program);

// As training would start.
TensorValues random_weights(const Program& program, std::uint64_t seed);

}  // namespace gpusizer
