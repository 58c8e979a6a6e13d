// SPDX-License-Identifier: Apache-2.0
// The repeated blocks of a model, by the names of their layers: encoder blocks, residual blocks, LSTM layers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

// The block that a layer belongs to: "bert.encoder.layer.3" of "bert.encoder.layer.3.output.dense", "layer2.0" of
// "layer2.0.conv1", "lstm.1" of itself; "" where the layer is outside of all blocks.
std::string_view block_of(std::string_view layer);

// What recompute() adds to the names of what is computed a second time.
inline constexpr std::string_view again_suffix = ":again";
// The name without it.
std::string_view without_again(std::string_view layer);

// Whether the operation compares predictions with what they should be.
bool judges_predictions(OpKind kind);

// For each operation whether it belongs to the backward pass: by its phase, or because it reads what that pass made (a
// gradient that ranks exchange, say).
std::vector<bool> after_loss(const Program& program);

}  // namespace gpusizer
