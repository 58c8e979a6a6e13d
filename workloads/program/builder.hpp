// SPDX-License-Identifier: Apache-2.0
// Builds a step program operation by operation; what does not fit is refused here, naming the layer and both shapes.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

class ProgramBuilder {
 public:
  ProgramBuilder(std::string name, int64_t batch);
  // Goes on building an existing program (autodiff and optimizers add to it).
  explicit ProgramBuilder(Program program);

  TensorId input(const std::string& name, Shape shape, DType dtype = DType::f32);
  TensorId scalar(const std::string& name, double value, DType dtype = DType::f32, Shape shape = {});
  TensorId persistent(const std::string& name, Shape shape, Role role, Initializer initial, DType dtype = DType::f32);

  // Appends one operation, makes its new outputs by the kind's rule, and returns all outputs in order.
  std::vector<TensorId> apply(OpKind kind, const std::string& layer, std::vector<TensorId> inputs,
                              Attributes attributes = {}, Phase phase = Phase::forward, int32_t forward_op = -1);

  const Program& program() const { return program_; }
  const Shape& shape(TensorId id) const { return program_.tensor(id).shape; }
  void set_loss(TensorId loss, TensorId correct = {});
  void add_output(ProgramOutput output);

  // Hands over the finished program. The builder is empty afterwards.
  Program finish();

 private:
  TensorId add_tensor(Tensor tensor);

  Program program_;
  std::unordered_set<std::string> names_;
};

}  // namespace gpusizer
