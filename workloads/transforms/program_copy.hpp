// SPDX-License-Identifier: Apache-2.0
// Copying a forward program operation by operation, so that a transform can put others between them or in their place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/program/builder.hpp"
#include "workloads/program/tensor.hpp"

namespace gpusizer {

// Tensor ids given are those of the program that is copied; those of the copy come from at() and from what is applied.
class ProgramCopy {
 public:
  // Throws Error(usage) for a program that is differentiated already; `what` is what must come before that.
  ProgramCopy(const Program& from, const std::string& what);

  ProgramBuilder& builder() { return builder_; }
  // The tensor in the copy; inputs, scalars and persistent tensors are made where they are first asked for.
  TensorId at(TensorId original);
  // From here on the copy has this in the tensor's place.
  void replace(TensorId original, TensorId copy) { place_[original] = copy; }
  // The copy has a part of a persistent tensor; before anything asks for it.
  void split(TensorId original, Part part) { parts_[original] = std::move(part); }

  // The same operation on what stands for its inputs.
  void copy(const Operation& op) { copy(op, op.attributes); }
  void copy(const Operation& op, Attributes attributes);

  // The finished copy, with the original's loss and outputs. What nobody asked for is not in it, but for inputs.
  Program finish();

 private:
  const Program& from_;
  ProgramBuilder builder_;
  std::map<TensorId, TensorId> place_;
  std::map<TensorId, Part> parts_;
  std::map<TensorId, Part> made_;  // by the copy's ids
};

}  // namespace gpusizer
