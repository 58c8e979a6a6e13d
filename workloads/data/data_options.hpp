// SPDX-License-Identifier: Apache-2.0
// What a caller may ask of a data source: which split, and the shapes that the model takes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/data/image_source.hpp"

namespace gpusizer {

enum class Split { train, test };

// What the samples are, and so which models can learn from them.
enum class DataKind { images, text, series };
std::string_view to_string(DataKind kind);  // "images"

struct TextOptions {
  int64_t sequence = 0;          // tokens of a sample, padding included; 0: the longest bucket, else 128
  int64_t predictions = 0;       // masked positions of a sample; 0: 15 % of its tokens, rounded up
  std::vector<int64_t> buckets;  // lengths that samples are padded to, ascending; empty: all to `sequence`
  std::string vocabulary_file;   // vocab.txt: one word piece a line; empty: the source's own way
  int64_t vocabulary = 0;        // word pieces; 0: the file's, else the source's own choice
  std::string head;              // what the model learns: "pretraining" (also when empty) or "classification"
};

struct SeriesOptions {
  int64_t window = 0, horizon = 0;    // time steps in, time steps out; 0: the source's own
  std::vector<std::string> columns;   // features, by name; empty: every column of numbers
  std::vector<std::string> targets;   // columns to forecast; empty: the first feature
  int64_t features = 0;               // of made-up series; 0: the source's own
  std::string date_column{};          // by name; empty: the first column that begins with a date
  std::string target_base{};          // what targets are counted from: "none" (also when empty), "last", "season"
  std::string rows{};                 // "symbol=MSFT": only rows with this value in this column; empty: all
};

struct DataOptions {
  Split split = Split::train;
  // The shape that the model takes; 0 leaves a dimension to the source. Sources with images of one size pad them with
  // black to a larger size and copy one channel to three; any other difference is refused.
  ImageShape wanted{0, 0, 0};
  int64_t classes = 0;            // outputs of the model; 0 leaves it to the source; fewer than the data has is refused
  uint64_t seed = 0;              // of made-up samples
  int64_t synthetic_samples = 0;  // 0: the kind's own; images: as many as ImageNet has, 1,281,167 or 50,000 (test)
  DataKind kind = DataKind::images;  // what the model takes; a source of another kind is refused
  TextOptions text{};
  SeriesOptions series{};
};

// The shape to hand out for images stored as `stored`: padded and with the channel repeated where `wanted` says so.
// Throws Error(usage) naming both shapes and `source` when that cannot be done.
ImageShape fit_shape(const ImageShape& stored, const ImageShape& wanted, const std::string& source);

// Throws Error(usage) when the model has fewer outputs (`wanted`, 0: not said) than the data has classes.
void check_classes(int64_t classes, int64_t wanted, const std::string& source);

}  // namespace gpusizer
