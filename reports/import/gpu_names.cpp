// SPDX-License-Identifier: Apache-2.0
// Names with and without form factor and memory.
#include "reports/import/gpu_names.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <utility>

namespace gpusizer::import {
namespace {

constexpr std::pair<const char*, const char*> server_forms[] = {
    {"A100", "A100-SXM4"}, {"V100", "V100-SXM2"}, {"P100", "P100-SXM2"}, {"H100", "H100-SXM5"}, {"H200", "H200-SXM"}, {"B200", "B200-SXM"}};

}  // namespace

const cloud::Gpu* gpu_named(const cloud::Catalog& catalog, const std::string& name, const std::string& memory_gb) {
  std::string model = name;
  for (const auto& [plain, full] : server_forms)
    if (name == plain) model = full;
  const double memory = std::strtod(memory_gb.c_str(), nullptr);
  const cloud::Gpu* best = nullptr;
  for (const cloud::Gpu& gpu : catalog.gpus) {
    if (gpu.name != model && gpu.name != fmt::format("{}-{:g}GB", model, gpu.memory_gb)) continue;
    if (!best || std::abs(gpu.memory_gb - memory) < std::abs(best->memory_gb - memory)) best = &gpu;
  }
  return best ? best : cloud::find_gpu(catalog, name);
}

}  // namespace gpusizer::import
