// SPDX-License-Identifier: Apache-2.0
// The table of models, and looking them up.
#include "workloads/models/models.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/models/bert.hpp"
#include "workloads/models/cnn.hpp"
#include "workloads/models/forecaster.hpp"

namespace gpusizer {

namespace {

ModelOptions image_size(int64_t classes, int64_t size, int64_t channels, std::string stem) {
  return {.classes = classes, .image_size = size, .channels = channels, .stem = std::move(stem), .label_smoothing = 0};
}

ModelOptions with_dropout(ModelOptions options, double rate) {
  options.dropout = rate;
  return options;
}

// Pre-training at sequence length 128 with 15 % of the positions masked, as BERT's first phase.
ModelOptions bert_size(int64_t layers, int64_t hidden, int64_t heads) {
  return {.classes = 2, .layers = layers, .hidden = hidden, .heads = heads, .feed_forward = 4 * hidden,
          .vocabulary = 30522, .sequence = 128, .predictions = 20, .head = "pretraining", .dropout = 0.1,
          .label_smoothing = 0};
}

const ModelEntry table[] = {
    {"resnet8", "cnn", "images", "ResNet of 3 stages x 1 basic block, 32-64-128 channels: learns small images quickly",
     image_size(10, 28, 1, "cifar"), cnn::resnet8},
    {"resnet18", "cnn", "images", "ResNet-18 (He et al. 2015), basic blocks", image_size(1000, 224, 3, "imagenet"),
     cnn::resnet18},
    {"resnet50", "cnn", "images", "ResNet-50 v1.5: bottleneck blocks, stride in the 3x3 convolution",
     image_size(1000, 224, 3, "imagenet"), cnn::resnet50},
    {"alexnet", "cnn", "images", "AlexNet, single-column form (Krizhevsky 2014)",
     with_dropout(image_size(1000, 224, 3, "imagenet"), 0.5), cnn::alexnet},
    {"bert-mini", "bert", "sequences", "BERT of 4 layers, hidden 256: learns in minutes", bert_size(4, 256, 4), bert::build},
    {"bert-base", "bert", "sequences", "BERT-base: 12 layers, hidden 768", bert_size(12, 768, 12), bert::build},
    {"bert-large", "bert", "sequences", "BERT-large: 24 layers, hidden 1024", bert_size(24, 1024, 16), bert::build},
    {"bert-1b", "bert", "sequences", "BERT of a billion parameters: 24 layers, hidden 1792", bert_size(24, 1792, 28),
     bert::build},
    {"lstm", "forecaster", "windows", "LSTM over a window of a series, one linear layer on its last state",
     {.layers = 2, .hidden = 256, .window = 96, .horizon = 24, .features = 1, .loss = "mse"}, forecaster::lstm},
    {"temporal", "forecaster", "windows", "Transformer encoder over a window of a series",
     {.layers = 2, .hidden = 128, .heads = 4, .feed_forward = 512, .window = 96, .horizon = 24, .features = 1,
      .loss = "mse", .dropout = 0.1}, forecaster::temporal},
};

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j)
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])}));
  }
  return row.back();
}

}  // namespace

std::span<const ModelEntry> models() { return table; }

const ModelEntry& find_model(std::string_view name) {
  const auto it = std::ranges::find(table, name, &ModelEntry::name);
  if (it != std::end(table)) return *it;
  const auto nearest = std::ranges::min_element(table, {}, [&](const ModelEntry& e) { return edit_distance(e.name, name); });
  throw Error(Fault::usage, fmt::format("there is no model '{}'", name), "--model",
              fmt::format("did you mean {}? `gpusizer list models` shows all", nearest->name));
}

ModelOptions with_defaults(const ModelEntry& entry, ModelOptions options) {
  constexpr int64_t ModelOptions::*numbers[] = {
      &ModelOptions::classes,  &ModelOptions::image_size,   &ModelOptions::channels,   &ModelOptions::layers,
      &ModelOptions::hidden,   &ModelOptions::heads,        &ModelOptions::feed_forward, &ModelOptions::vocabulary,
      &ModelOptions::sequence, &ModelOptions::predictions,  &ModelOptions::window,     &ModelOptions::horizon,
      &ModelOptions::features};
  constexpr std::string ModelOptions::*words[] = {&ModelOptions::stem, &ModelOptions::head, &ModelOptions::loss};
  for (const auto member : numbers)
    if (options.*member == 0) options.*member = entry.defaults.*member;
  for (const auto member : {&ModelOptions::dropout, &ModelOptions::label_smoothing})
    if (!(options.*member)) options.*member = entry.defaults.*member;
  for (const auto member : words)
    if ((options.*member).empty()) options.*member = entry.defaults.*member;
  return options;
}

Program build_model(const ModelEntry& entry, const ModelOptions& options, int64_t batch, Mode mode) {
  return entry.build(entry, with_defaults(entry, options), batch, mode);
}

}  // namespace gpusizer
