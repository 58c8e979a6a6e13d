// SPDX-License-Identifier: Apache-2.0
// Convolutional networks for images: the ResNet family and AlexNet.
#pragma once

#include "workloads/models/models.hpp"

namespace gpusizer::cnn {

Program resnet8(const ModelEntry& entry, const ModelOptions& options, int64_t batch, Mode mode);
Program resnet18(const ModelEntry& entry, const ModelOptions& options, int64_t batch, Mode mode);
Program resnet50(const ModelEntry& entry, const ModelOptions& options, int64_t batch, Mode mode);
Program alexnet(const ModelEntry& entry, const ModelOptions& options, int64_t batch, Mode mode);

}  // namespace gpusizer::cnn
