// SPDX-License-Identifier: Apache-2.0
// The rules of each operation family, one file each; collected into the table of operations.cpp.
#pragma once

#include <span>

#include "workloads/program/operations.hpp"

namespace gpusizer::rules {

std::span<const OperationRule> convolution();
std::span<const OperationRule> normalization();
std::span<const OperationRule> pointwise();
std::span<const OperationRule> pooling();
std::span<const OperationRule> linear();
std::span<const OperationRule> loss();
std::span<const OperationRule> gather();
std::span<const OperationRule> layer_norm();
std::span<const OperationRule> attention();
std::span<const OperationRule> recurrent();
std::span<const OperationRule> regression();
std::span<const OperationRule> quantization();
std::span<const OperationRule> optimizer();
std::span<const OperationRule> collective();
std::span<const OperationRule> shares();
std::span<const OperationRule> vocabulary();
std::span<const OperationRule> statistics();

}  // namespace gpusizer::rules
