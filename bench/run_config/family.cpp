// SPDX-License-Identifier: Apache-2.0
// The table of families.
#include "bench/run_config/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gpusizer {
namespace {

constexpr Family kFamilies[] = {
    {"cnn", DataKind::images},
    {"bert", DataKind::text},
    {"forecaster", DataKind::series},
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

const Family& family_of(const ModelEntry& model) {
  const auto it = std::ranges::find(kFamilies, model.family, &Family::name);
  if (it == std::end(kFamilies)) throw std::logic_error(fmt::format("the model {} is of no known family", model.name));
  return *it;
}

}  // namespace gpusizer
