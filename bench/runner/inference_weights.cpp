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

// What stays from request to request and is read: weights and running statistics.
std::vector<const Tensor*> weights(const Program& program) {
  const auto read_by = readers(program);
  std::vector<const Tensor*> list;
  for (const Tensor& t : program.tensors)
    if ((t.role == Role::parameter || t.role == Role::state) && !read_by[static_cast<std::size_t>(t.id.index)].empty())
      list.push_back(&t);
  return list;
}

TensorValues collect(const Program& program, const std::function<void(const Tensor&, std::span<float>)>& read) {
  TensorValues values;
  for (const Tensor* t : weights(program)) {
    auto& one = values[t->name];
    one.resize(static_cast<std::size_t>(element_count(t->shape)));
    read(*t, one);
  }
  return values;
}

void check_shape(const SafetensorsReader& file, const Tensor& t) {
  const StoredTensor* stored = file.find(t.name);
  if (stored && stored->shape == t.shape) return;
  const std::string what = stored ? fmt::format("'{}' is {} there, and {} in this model", t.name,
                                                to_string(stored->shape), to_string(t.shape))
                                  : fmt::format("there is no tensor '{}'", t.name);
  throw Error(Fault::input, what, file.path().string(), "use the weights of the same model");
}

}  // namespace

TensorValues weights_of(Executor& executor, const Program& program) {
  return collect(program, [&](const Tensor& t, std::span<float> values) { executor.read(t.name, values); });
}

void check_weights(const std::filesystem::path& path, const Program& program) {
  const SafetensorsReader file(path);
  for (const Tensor* t : weights(program)) check_shape(file, *t);
}

TensorValues weights_from(const std::filesystem::path& path, const Program& program) {
  const SafetensorsReader file(path);
  return collect(program, [&](const Tensor& t, std::span<float> values) {
    check_shape(file, t);
    file.read(t.name, values);
  });
}

TensorValues random_weights(const Program& program, std::uint64_t seed) {
  return collect(program, [&](const Tensor& t, std::span<float> values) {
    std::ranges::copy(initial_values(t, seed), values.begin());
  });
}

}  // namespace gpusizer
