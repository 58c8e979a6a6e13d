// SPDX-License-Identifier: Apache-2.0
// The table from operation kind to the plain loops that compute it. To add one: a row in the file of its family.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer::reference {

// One tensor as a kernel sees it. Values are row-major; of an opaque tensor the shape says nothing, the values' number
// is what the row's `saved_elements` asked for.
template <class Value>
struct View {
  const Shape* shape;
  std::span<Value> values;

  Value& operator[](int64_t element) const { return values[static_cast<size_t>(element)]; }
  int64_t extent(size_t axis) const { return shape->at(axis); }
  int64_t size() const { return static_cast<int64_t>(values.size()); }
};

// One operation with its tensors. An output that is also an input shares its values.
struct Call {
  const Operation* operation;
  std::vector<View<const double>> inputs;
  std::vector<View<double>> outputs;

  template <class A>
  const A& attributes() const { return std::get<A>(operation->attributes); }
};

struct Kernel {
  OpKind kind;
  // Throws Error(input) for values that cannot be: a label that is no class.
  void (*run)(const Call&);
  // Forward operations with a `saved` output: how many values they keep in it for their backward.
  int64_t (*saved_elements)(const Program&, const Operation&) = nullptr;
};

std::span<const Kernel> convolution();
std::span<const Kernel> normalization();
std::span<const Kernel> pointwise();
std::span<const Kernel> pooling();
std::span<const Kernel> linear();
std::span<const Kernel> loss();
std::span<const Kernel> gather();
std::span<const Kernel> layer_norm();
std::span<const Kernel> attention();
std::span<const Kernel> recurrent();
std::span<const Kernel> regression();
std::span<const Kernel> mixed_precision();
std::span<const Kernel> quantization();
std::span<const Kernel> optimizer();
std::span<const Kernel> shares();
std::span<const Kernel> vocabulary();
std::span<const Kernel> statistics();

// Throws Error(usage) for a kind without a row.
const Kernel& kernel(OpKind kind);

}  // namespace gpusizer::reference
