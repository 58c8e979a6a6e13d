// SPDX-License-Identifier: Apache-2.0
// Collects weights by name.
#include "bench/runner/inference_weights.hpp"

#include <fmt/format.h>

#include <functional>

#include "gpusizer/error.hpp"
#include "workloads/checkpoint/safetensors_reader.hpp"
#include "workloads/program/initial_values.hpp"

namespace gpusizer {
namespace {

TensorValues collect(const Program& program, const std::function<void(const Tensor&, std::span<float>)>& read) {
  const auto read_by = readers(program);
  TensorValues values;
  for (const Tensor& t : program.tensors) {
    if ((t.role != Role::parameter && t.role != Role::state) || read_by[static_cast<std::size_t>(t.id.index)].empty())
      continue;
    auto& one = values[t.name];
    one.resize(static_cast<std::size_t>(element_count(t.shape)));
    read(t, one);
  }
  return values;
}

}  // namespace

TensorValues weights_of(Executor& executor, const Program& program) {
  return collect(program, [&](const Tensor& t, std::span<float> values) { executor.read(t.name, values); });
}

TensorValues weights_from(const std::filesystem::path& path, const Program& program) {
  const SafetensorsReader file(path);
  return collect(program, [&](const Tensor& t, std::span<float> values) {
    const StoredTensor* stored = file.find(t.name);
    if (stored && stored->shape != t.shape)
      throw Error(
          Fault::input,
          fmt::format("'{}' is {} there, and {} in this model", t.name, to_string(stored->shape), to_string(t.shape)),
          path.string(), "use the weights of the same model");
    file.read(t.name, values);
  });
}

TensorValues random_weights(const Program& program, std::uint64_t seed) {
  return collect(program, [&](const Tensor& t, std::span<float> values) {
    std::ranges::copy(initial_values(t, seed), values.begin());
  });
}

}  // namespace gpusizer
