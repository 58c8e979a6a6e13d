// SPDX-License-Identifier: Apache-2.0
// The table of models. To add one: a file beside this one with a build function, and a line in the table of models.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "workloads/program/program.hpp"

namespace gpusizer {

enum class Mode : uint8_t { train, evaluate };  // evaluate: running statistics, no dropout, nothing kept for a backward

// What a person may change about a model. 0 and "" mean the model's own default.
struct ModelOptions {
  int64_t classes = 0;
  int64_t image_size = 0;  // height and width
  int64_t channels = 0;    // of the input images
  std::string stem;        // "imagenet": 7x7 stride 2 and max-pool; "cifar": 3x3, no pool
};

struct ModelEntry {
  std::string_view name;
  std::string_view family;       // "cnn"
  std::string_view sample_unit;  // what one sample is called in a throughput: "images"
  std::string_view description;
  ModelOptions defaults;
  // The forward program with the inputs "images" f32 [batch, channels, size, size] and "labels" i32 [batch], and with
  // loss and correct set. `options` are complete (see with_defaults).
  Program (*build)(const ModelEntry& entry, const ModelOptions& options, int64_t batch, Mode mode);
};

std::span<const ModelEntry> models();
// Throws Error(usage) naming the closest known models.
const ModelEntry& find_model(std::string_view name);
// Fills what the person left open.
ModelOptions with_defaults(const ModelEntry& entry, ModelOptions options);
// build() with defaults filled in.
Program build_model(const ModelEntry& entry, const ModelOptions& options, int64_t batch, Mode mode);

}  // namespace gpusizer
