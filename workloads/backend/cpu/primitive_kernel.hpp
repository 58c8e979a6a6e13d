// SPDX-License-Identifier: Apache-2.0
// A kernel made of one oneDNN primitive, with reorders where a tensor is stored otherwise than the primitive wants it.
#pragma once

#include <functional>
#include <optional>

#include "workloads/backend/cpu/kernel.hpp"

namespace gpusizer::cpu {

// A primitive with its arguments, executed without allocating.
class BoundPrimitive {
 public:
  BoundPrimitive(dnnl::primitive primitive, const std::vector<std::pair<int, dnnl::memory>>& arguments);
  void run(const dnnl::stream& stream) const;

 private:
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

class PrimitiveKernel final : public Kernel {
 public:
  explicit PrimitiveKernel(const KernelRequest& request);

  // Declares arguments: `stored` is how the tensor lies in the arena, `wanted` how the primitive takes it.
  void reads(int argument, TensorId id, const onednn::Desc& stored, const onednn::Desc& wanted);
  void writes(int argument, TensorId id, const onednn::Desc& stored, const onednn::Desc& wanted);
  // What a forward keeps for its backward, in the primitive's own form; in the workspace when nothing reads it.
  void keeps(TensorId saved, const onednn::Desc& workspace, bool is_read);
  void uses_kept(TensorId saved, const onednn::Desc& workspace);
  // The primitive itself, made when the kernel is bound: making one compiles machine code.
  void set_primitive(std::function<dnnl::primitive()> make, const onednn::Desc& scratchpad);

  int64_t workspace_bytes() const override { return workspace_bytes_; }
  int64_t saved_bytes() const override { return saved_bytes_; }
  void bind(const Addresses& addresses) override;
  void run() override;

 private:
  struct Argument {
    int argument;
    TensorId id;
    onednn::Desc stored, wanted;
    bool output = false, bound_input = false, scratch = false;
    int64_t offset = -1;  // into the workspace, where the primitive's form differs from the stored one
  };
  // A bound input's memory is set anew before each run.
  struct Rebound {
    dnnl::memory memory;
    std::byte* const* slot;
  };

  void declare(Argument argument);
  dnnl::memory memory_for(const Argument& argument, const Addresses& addresses);
  dnnl::memory adapted(const Argument& argument, const dnnl::memory& stored, const Addresses& addresses);

  const Engine& engine_;
  const Program& program_;
  std::vector<Argument> arguments_;
  std::function<dnnl::primitive()> make_;
  onednn::Desc scratchpad_;
  int64_t scratchpad_offset_ = 0, workspace_bytes_ = 0, saved_bytes_ = 0;
  std::vector<Rebound> rebound_;
  std::vector<BoundPrimitive> before_, main_, after_;
};

}  // namespace gpusizer::cpu
