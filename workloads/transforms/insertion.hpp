// SPDX-License-Identifier: Apache-2.0
// Puts new operations between those of a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/program/builder.hpp"

namespace gpusizer {

// Places are indices of operations of the program given, whatever was inserted since; -1 is before all of them. Ids of
// tensors stay what they are.
class Insertion {
 public:
  explicit Insertion(Program program);

  // Directly after the operation at `place`, and after what was inserted there before. Returns the outputs.
  std::vector<TensorId> apply(int32_t place, OpKind kind, const std::string& layer, std::vector<TensorId> inputs,
                              Attributes attributes, Phase phase);
  TensorId scalar(const std::string& name, double value) { return builder_.scalar(name, value); }
  TensorId persistent(const std::string& name, const Shape& shape, Role role) {  // begins with zeros
    return builder_.persistent(name, shape, role, {});
  }

  // From now on operation `place` of the program given reads `to` instead of `from`.
  void replace_input(int32_t place, TensorId from, TensorId to);
  // The same for all operations of the program given, and for its loss, `correct` and outputs.
  void replace_everywhere(TensorId from, TensorId to);

  // As it was given: operations, and where each tensor is first written (-1: not by an operation).
  const std::vector<Operation>& operations() const { return operations_; }
  int32_t writer(TensorId id) const;
  // As it is now, the new tensors included; the new operations are at the end.
  const Program& program() const { return builder_.program(); }

  // The program with everything in its place. The object is not used afterwards.
  Program finish();

 private:
  struct Replacement {
    int32_t place;  // -1: everywhere
    TensorId from, to;
  };

  ProgramBuilder builder_;
  std::vector<Operation> operations_;
  std::vector<int32_t> writers_, places_;  // places of the new operations, in the order of their making
  std::vector<Replacement> replacements_;
};

}  // namespace gpusizer
