// SPDX-License-Identifier: Apache-2.0
// The layers that models are written in: each adds its parameters and its operation to the program, and returns the result.
#pragma once

#include <string>

#include "workloads/program/builder.hpp"

namespace gpusizer {

struct ConvOptions {
  int64_t channels = 0, kernel = 1, stride = 1, padding = 0, groups = 1;
  bool bias = false;
};

// Weight "<layer>.weight" drawn from a normal distribution with variance 2 / (channels x kernel^2) (He et al. 2015,
// fan out, as torchvision's ResNet); bias "<layer>.bias" uniform in +-1/sqrt(fan in).
TensorId conv2d(ProgramBuilder& b, const std::string& layer, TensorId x, const ConvOptions& options);
// Parameters "<layer>.weight" (1), "<layer>.bias" (0); state "<layer>.running_mean" (0), "<layer>.running_var" (1).
TensorId batch_norm(ProgramBuilder& b, const std::string& layer, TensorId x, bool training);
TensorId relu(ProgramBuilder& b, const std::string& layer, TensorId x);
TensorId add(ProgramBuilder& b, const std::string& layer, TensorId x, TensorId y);
TensorId max_pool(ProgramBuilder& b, const std::string& layer, TensorId x, PoolAttributes window);
TensorId avg_pool(ProgramBuilder& b, const std::string& layer, TensorId x, PoolAttributes window);
TensorId global_avg_pool(ProgramBuilder& b, const std::string& layer, TensorId x);  // square images only
TensorId flatten(ProgramBuilder& b, const std::string& layer, TensorId x);
// Weight and bias uniform in +-1/sqrt(in), as PyTorch's Linear.
TensorId linear(ProgramBuilder& b, const std::string& layer, TensorId x, int64_t features, bool bias = true);
// The scalar input "random_state" (i32 [2]: seed, step); adds it once.
TensorId random_state(ProgramBuilder& b);
// The number of the next operation that draws random numbers: each has its own sequence.
uint32_t next_random_stream(const ProgramBuilder& b);
TensorId dropout(ProgramBuilder& b, const std::string& layer, TensorId x, double rate);
// Sets the program's loss and count of correct samples.
void classification_loss(ProgramBuilder& b, TensorId logits, TensorId labels, double label_smoothing = 0);

}  // namespace gpusizer
