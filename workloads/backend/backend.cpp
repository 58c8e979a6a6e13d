// SPDX-License-Identifier: Apache-2.0
// The table of backends, in the order in which they are shown. To add one: its folder, its header, its line.
#include "workloads/backend/backend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/backend/cpu/cpu_backend.hpp"
#include "workloads/backend/cuda/cuda_backend.hpp"
#include "workloads/backend/reference/reference_backend.hpp"

namespace gpusizer {

namespace {

constexpr std::unique_ptr<Backend> (*table[])() = {
    make_cpu_backend,
    make_cuda_backend,
#if defined(GPUSIZER_WITH_EMULATED_CUDA)
    make_emulated_cuda_backend,
#endif
    make_reference_backend,
};

// How many letters of `name` are at their place in `known`: enough to tell a slip from another word.
size_t likeness(std::string_view known, std::string_view name) {
  size_t same = 0;
  for (size_t i = 0; i < std::min(known.size(), name.size()); ++i) same += known[i] == name[i];
  return same;
}

}  // namespace

std::vector<std::unique_ptr<Backend>> make_backends() {
  std::vector<std::unique_ptr<Backend>> backends;
  for (const auto make : table) backends.push_back(make());
  return backends;
}

std::unique_ptr<Backend> make_backend(std::string_view name) {
  std::string names, nearest;
  for (auto& backend : make_backends()) {
    if (backend->name() == name) return std::move(backend);
    names += (names.empty() ? "" : ", ") + std::string(backend->name());
    if (nearest.empty() || likeness(backend->name(), name) > likeness(nearest, name)) nearest = backend->name();
  }
  throw Error(Fault::usage, fmt::format("there is no backend '{}'", name), "--device",
              fmt::format("did you mean {}? there are: {}", nearest, names));
}

}  // namespace gpusizer
