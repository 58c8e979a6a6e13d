// SPDX-License-Identifier: Apache-2.0
// One lowered operation on the CPU: sized without memory, bound to the arena once, run many times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "workloads/backend/cpu/layout.hpp"
#include "workloads/backend/cpu/onednn.hpp"
#include "workloads/backend/cpu/vector/vector_kernels.hpp"
#include "workloads/program/program.hpp"

namespace gpusizer {
class BackgroundCollectives;
class Communicator;
}

namespace gpusizer::cpu {

// The fastest of our kernels for the instruction set that oneDNN uses here (ONEDNN_MAX_CPU_ISA lowers it).
const VectorKernels& matching_vector_kernels();

// What kernels compute with. One per executor; also used to size programs.
struct Engine {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  const VectorKernels& vector = matching_vector_kernels();
  int threads = 1;
};

// Where the tensors are. A slot of a bound input changes from step to step, so kernels read it when they run.
struct Addresses {
  std::span<std::byte* const> tensors;  // by tensor of the program
  std::byte* workspace = nullptr;
  Communicator* communicator = nullptr;  // of programs of several ranks, as is what goes on between steps
  BackgroundCollectives* background = nullptr;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual int64_t workspace_bytes() const { return 0; }
  virtual int64_t saved_bytes() const { return 0; }
  virtual void bind(const Addresses& addresses) = 0;
  virtual void run() = 0;
};

struct KernelRequest {
  const Engine& engine;
  const Layouts& layouts;
  const Program& program;
  const Operation& op;

  const Tensor& input(size_t i) const { return program.tensor(op.inputs.at(i)); }
  const Tensor& output(size_t i) const { return program.tensor(op.outputs.at(i)); }
  // Whether any operation reads the tensor: what no backward reads need not be kept.
  bool is_read(TensorId id) const;
};

// The kernel of one operation; throws Error(failed) naming the layer when the CPU has none.
std::unique_ptr<Kernel> make_kernel(const KernelRequest& request);

constexpr int64_t alignment_bytes = 64;
inline int64_t aligned(int64_t bytes) { return (bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes; }

}  // namespace gpusizer::cpu
