// SPDX-License-Identifier: Apache-2.0
// Changes a program operation by operation: who writes and reads a tensor, replacing, merging and removing operations.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

// Keeps only the operations in `order` (old indices), in that order, and renumbers the pairs of forward and backward;
// a backward operation whose forward operation is gone gets -1.
void reorder(Program& program, const std::vector<int32_t>& order);

// Indices stay what they were in the program given until finish(), whatever was removed in between.
class Rewriter {
 public:
  explicit Rewriter(Program& program);

  int32_t size() const { return static_cast<int32_t>(program_.operations.size()); }
  const Program& program() const { return program_; }
  const Operation& operation(int32_t index) const { return program_.operations[static_cast<size_t>(index)]; }
  bool removed(int32_t index) const { return merged_[static_cast<size_t>(index)] != index; }

  // The operation that makes the tensor, or -1: bound, persistent, or made by a removed operation.
  int32_t writer(TensorId id) const { return writers_[static_cast<size_t>(id.index)]; }
  // The only operation that reads the tensor; -1 where none or several do, or where the tensor is the program's result.
  int32_t only_reader(TensorId id) const;
  const std::vector<int32_t>& readers(TensorId id) const { return readers_[static_cast<size_t>(id.index)]; }
  // The one backward operation of that kind of a forward operation; -1 where there is none (or several).
  int32_t backward(int32_t forward_op, OpKind kind) const;
  // Whether an operation may go to another place, as far as persistent tensors are concerned: nothing on the way writes
  // one that it touches, or reads one that it writes.
  bool may_move(int32_t index, int32_t to) const;

  void replace(int32_t index, Operation operation);
  // Removes an operation whose work `into` does from now on; backward operations of the one become those of the other.
  void merge(int32_t index, int32_t into);
  void remove(int32_t index) { merge(index, -1); }
  void finish();

 private:
  void count();

  Program& program_;
  std::vector<int32_t> merged_;  // by operation: itself, or what took it over, or -1
  std::vector<int32_t> writers_;
  std::vector<std::vector<int32_t>> readers_;
};

// Offers every operation of a kind to `fuse`, which rewrites around it and says whether it did. Returns how often.
int rewrite_each(Program& program, OpKind kind, bool (*fuse)(Rewriter& rewriter, int32_t index));

}  // namespace gpusizer
