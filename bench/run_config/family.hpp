// SPDX-License-Identifier: Apache-2.0
// The families of models: what kind of data each of them learns from, and what its options are called.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "workloads/data/data_options.hpp"
#include "workloads/models/models.hpp"

namespace gpusizer {

struct Family {
  std::string_view name;  // "cnn", as in ModelEntry
  DataKind data;
};

std::span<const Family> families();
// Of a model in the table of models.
const Family& family_of(const ModelEntry& model);

}  // namespace gpusizer
