// SPDX-License-Identifier: Apache-2.0
// One lowered operation on a GPU: sized without a device, bound to the arena once, launched many times.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "workloads/backend/cuda/module/kernels/array.hpp"
#include "workloads/backend/cuda/module/layout.hpp"
#include "workloads/program/program.hpp"

namespace gpusizer::cuda {

class Libraries;

// What lowering must know about a GPU; none is needed to have it.
struct Traits {
  int compute_capability = 0;  // 90
  int multiprocessors = 0;
};

// Where an executor has put everything.
struct Place {
  std::span<std::byte* const> tensors;  // by tensor of the program
  std::byte* workspace = nullptr;       // of this operation
  Libraries& libraries;

  std::byte* bytes(TensorId id) const { return tensors[static_cast<size_t>(id.index)]; }
  float* floats(TensorId id) const { return reinterpret_cast<float*>(bytes(id)); }
  const int32_t* ints(TensorId id) const { return reinterpret_cast<const int32_t*>(bytes(id)); }
  float* workspace_floats() const { return reinterpret_cast<float*>(workspace); }
};

// Queues the operation's work; may be captured into a graph. Whatever it needs stays alive with it.
class Work {
 public:
  virtual ~Work() = default;
  virtual void launch(cudaStream_t stream) const = 0;
};
using Launch = std::unique_ptr<Work>;

// From a callable(cudaStream_t).
template <class Call>
Launch work(Call call) {
  class Callable final : public Work {
   public:
    explicit Callable(Call c) : call_(std::move(c)) {}
    void launch(cudaStream_t stream) const override { call_(stream); }

   private:
    Call call_;
  };
  return std::make_unique<Callable>(std::move(call));
}

struct Prepared {
  int64_t workspace_bytes = 0;
  int64_t saved_bytes = 0;
  std::function<Launch(const Place&)> bind;
};

struct Request {
  const Traits& device;
  const Program& program;
  const Operation& op;

  const Tensor& input(size_t i) const { return program.tensor(op.inputs.at(i)); }
  const Tensor& output(size_t i) const { return program.tensor(op.outputs.at(i)); }
  template <class A>
  const A& attributes() const { return std::get<A>(op.attributes); }
  // Whether any operation reads the tensor: what no backward reads need not be kept.
  bool is_read(TensorId id) const;
  // Throws Error(failed) naming the operation and the layer.
  [[noreturn]] void refuse(const std::string& why) const;
};

// A tensor's elements as kernels are given them.
struct Slot {
  TensorId id;
  Element element;

  Slot(const Request& request, TensorId tensor) : id(tensor), element(element_of(request.program.tensor(tensor))) {}
  Array at(const Place& place) const { return {place.bytes(id), element}; }
};

// The operation for a GPU; throws Error(failed) with one sentence that names the operation where there is none.
Prepared prepare(const Request& request);

// Whether operations of this kind are updates that go into one launch with their neighbours.
bool is_update(OpKind kind);
// Neighbouring updates in one launch; all of them of one kind and with the same steering numbers: see same_launch().
Launch bind_updates(const Program& program, std::span<const Operation> updates, const Place& place);
bool same_launch(const Operation& a, const Operation& b);

}  // namespace gpusizer::cuda
