// SPDX-License-Identifier: Apache-2.0
// What ranks do together, on the CPU: tensors go from arena to arena as they are stored.
#include "workloads/backend/streams/communication.hpp"

#include <fmt/format.h>

#include "gpusizer/error.hpp"
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"
#include "workloads/backend/cpu/rounding.hpp"
#include "workloads/program/rounding.hpp"

namespace gpusizer::cpu {

namespace {

// The other side knows shape, role and element type of a tensor and nothing else: its layout must follow from these.
void require_same_everywhere(const KernelRequest& r, TensorId id) {
  const Tensor& t = r.program.tensor(id);
  const auto refuse = [&](const char* why) {
    throw Error(Fault::failed, fmt::format("'{}' cannot go to other ranks: {}", t.name, why), "layer " + r.op.layer);
  };
  if (t.role == Role::input) refuse("it is bound anew at every step");
  if (t.dtype == DType::opaque) refuse("only one rank knows what is in it");
  const bool message = r.op.kind == OpKind::send || r.op.kind == OpKind::receive;
  const bool image =
      t.shape.size() == 4 && t.dtype != DType::i32 && (t.role == Role::activation || t.role == Role::gradient);
  if (message && image && !r.layouts.is_blocked(id)) refuse("it does not lie in blocks of channels as images do");
  if (r.op.kind == OpKind::all_gather && r.layouts.is_blocked(id)) refuse("images are not gathered");
  const bool summed = r.op.kind == OpKind::all_reduce || r.op.kind == OpKind::delayed_all_reduce ||
                      r.op.kind == OpKind::reduce_scatter;
  if (summed && t.dtype == DType::i32) refuse("integers are not summed");
}

class Communication final : public Kernel, public CommunicationTask {
 public:
  explicit Communication(const KernelRequest& r) : op_(r.op) {
    const auto bytes = [&](TensorId id) { return r.layouts.stored(id).get_size(); };
    for (const TensorId id : r.op.inputs) {
      require_same_everywhere(r, id);
      input_bytes_.push_back(bytes(id));
    }
    for (const TensorId id : r.op.outputs) {
      if (r.op.kind != OpKind::all_gather) require_same_everywhere(r, id);
      output_bytes_.push_back(bytes(id));
      const DType dtype = r.program.tensor(id).dtype;
      round_.push_back(is_rounded(dtype) ? round_kernel(r.engine.vector, dtype) : nullptr);
    }
  }
  int64_t workspace_bytes() const override {
    return static_cast<int64_t>(communication_staging_bytes(op_, input_bytes_));
  }
  void bind(const Addresses& a) override {
    for (size_t i = 0; i < op_.inputs.size(); ++i) buffers_.inputs.push_back(memory(a, op_.inputs[i], input_bytes_[i]));
    for (size_t i = 0; i < op_.outputs.size(); ++i)
      buffers_.outputs.push_back(memory(a, op_.outputs[i], output_bytes_[i]));
    buffers_.staging = {a.workspace, static_cast<size_t>(workspace_bytes())};
    task_ = communication_task(op_, *a.communicator, buffers_, *a.background);
  }
  void run() override { throw Error(Fault::failed, "a communication is started, not run", "layer " + op_.layer); }

  void start() override { task_->start(); }
  bool advance() override {
    if (!task_->advance()) return false;
    for (size_t i = 0; i < round_.size(); ++i) {
      auto* values = reinterpret_cast<float*>(buffers_.outputs[i].data());
      if (round_[i]) round_[i](values, values, static_cast<int64_t>(output_bytes_[i] / sizeof(float)));
    }
    return true;
  }

 private:
  static std::span<std::byte> memory(const Addresses& a, TensorId id, size_t bytes) {
    return {a.tensors[static_cast<size_t>(id.index)], bytes};
  }

  Operation op_;
  std::vector<size_t> input_bytes_, output_bytes_;
  std::vector<RoundKernel> round_;  // by result; none where it is f32
  CommunicationBuffers buffers_;
  std::unique_ptr<CommunicationTask> task_;
};

}  // namespace

std::unique_ptr<Kernel> communication(const KernelRequest& r) { return std::make_unique<Communication>(r); }

}  // namespace gpusizer::cpu
