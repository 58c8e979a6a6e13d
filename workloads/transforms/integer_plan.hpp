// SPDX-License-Identifier: Apache-2.0
// Which operations of an inference program are done in integers, and which tensors become integers by that.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

// A convolution or fully connected layer with what follows it in the same kernel; indices of operations, -1: none.
struct IntegerLayer {
  int32_t product = -1, add = -1, activation = -1;
  TensorId result;        // what the last of them writes
  TensorId residual{-1};  // the other addend

  int32_t last() const { return activation >= 0 ? activation : add >= 0 ? add : product; }
};

class IntegerPlan {
 public:
  explicit IntegerPlan(const Program& program);

  const std::vector<IntegerLayer>& layers() const { return layers_; }
  // The layer that ends at the operation; nullptr: none does.
  const IntegerLayer* ends_at(int32_t op) const;
  bool is_absorbed(int32_t op) const { return absorbed_[static_cast<size_t>(op)]; }  // done by a layer
  // Whether some layer reads the tensor as integers, directly or through operations that pass integers on.
  bool wants_integers(TensorId id) const { return wanted_[static_cast<size_t>(id.index)]; }
  // A max-pool or flattening of integers: its result has its input's scale.
  bool passes_on(int32_t op) const;
  bool is_never_negative(TensorId id) const { return never_negative_[static_cast<size_t>(id.index)]; }
  // Tensors whose range must be known: integers that are not just passed on.
  std::vector<TensorId> ranged() const;

 private:
  void find_layers();
  IntegerLayer layer_of(int32_t product) const;
  int32_t only_reader(TensorId id) const;
  void mark_signs();
  void mark_wanted();

  const Program& program_;
  std::vector<std::vector<int32_t>> readers_;
  std::vector<IntegerLayer> layers_;
  std::vector<bool> absorbed_, wanted_, never_negative_;
};

}  // namespace gpusizer
