// SPDX-License-Identifier: Apache-2.0
// The table of models. To add one: a file beside this one with a build function, and a line in the table of models.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "workloads/program/program.hpp"

namespace gpusizer {

enum class Mode : uint8_t { train, evaluate };  // evaluate: running statistics, no dropout, nothing kept for a backward

// What a person may change about a model. 0 and "" mean the model's own default, or that the family has no such thing.
struct ModelOptions {
  int64_t classes = 0;
  // cnn
  int64_t image_size = 0;  // height and width
  int64_t channels = 0;    // of the input images
  std::string stem{};      // "imagenet": 7x7 stride 2 and max-pool; "cifar": 3x3, no pool
  // bert and forecaster
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t feed_forward = 0;  // width of the middle of a Transformer's layer
  // bert
  int64_t vocabulary = 0;
  int64_t sequence = 0;     // tokens of a sample, padding included
  int64_t predictions = 0;  // masked positions of a sample
  std::string head{};       // "pretraining" or "classification"
  // forecaster
  int64_t window = 0;    // time steps in
  int64_t horizon = 0;   // time steps out
  int64_t features = 0;  // values per time step
  std::string loss{};    // "mse" or "pinball"
  // training only; empty: the model's own default, or that it has no such thing
  std::optional<double> dropout{};          // rate, in [0, 1)
  std::optional<double> label_smoothing{};  // share of the right answer that goes to all classes evenly, in [0, 1)

  bool operator==(const ModelOptions&) const = default;
};

struct ModelEntry {
  std::string_view name;
  std::string_view family;       // "cnn", "bert", "forecaster"
  std::string_view sample_unit;  // what one sample is called in a throughput: "images"
  std::string_view description;
  ModelOptions defaults;
  // The forward program with loss set. Its inputs are [batch, ...] and named like the fields of the family's data; cnn:
  // "images" f32 [batch, channels, size, size] and "labels" i32 [batch], and correct set. `options` are complete (see
  // with_defaults).
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
