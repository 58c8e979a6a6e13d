// SPDX-License-Identifier: Apache-2.0
// The options of models by name: in a record, on the command line, in a case's id.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "workloads/models/models.hpp"

namespace gpusizer {

struct NamedNumber {
  std::string_view name;       // in a record: "image_size"
  std::string_view flag;       // "--image-size"
  std::string_view id_suffix;  // "px": 32px in a case's id
  int64_t ModelOptions::*member;
  int64_t most;
};

struct NamedWord {
  std::string_view name, flag;
  std::string ModelOptions::*member;
  std::string_view allowed[2];
};

struct NamedShare {
  std::string_view name, flag;
  std::optional<double> ModelOptions::*member;  // in [0, 1)
};

// To add an option: its member in ModelOptions, a line here and one in the table of settings.cpp.
std::span<const NamedNumber> number_options();
std::span<const NamedWord> word_options();
std::span<const NamedShare> share_options();

// Whether a setting of that name changes the program of a model: its options and its batch.
bool shapes_program(std::string_view setting_name);

// Throws Error(usage) for an option that the model does not have (its default is 0 or empty), or one out of range.
void check_model_options(const ModelEntry& model, const ModelOptions& options);

// What follows from the options that were given: four times the hidden size in the middle of a layer, 15 % of a
// sequence masked.
ModelOptions derived_options(const ModelEntry& model, ModelOptions options);

// "/32px/10classes": the options that were given and do not follow from others.
std::string id_words(const ModelOptions& options);

}  // namespace gpusizer
