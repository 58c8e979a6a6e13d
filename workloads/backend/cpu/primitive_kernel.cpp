// SPDX-License-Identifier: Apache-2.0
// Binding and running a oneDNN primitive.
#include "workloads/backend/cpu/primitive_kernel.hpp"

#include <fmt/format.h>

#include "gpusizer/error.hpp"

namespace gpusizer::cpu {

BoundPrimitive::BoundPrimitive(dnnl::primitive primitive, const std::vector<std::pair<int, dnnl::memory>>& arguments)
    : primitive_(std::move(primitive)) {
  for (const auto& [argument, memory] : arguments) {
    memories_.push_back(memory);
    arguments_.push_back({argument, memory.get()});
  }
}

// The C function, because the C++ one builds a hash map of arguments in every call.
void BoundPrimitive::run(const dnnl::stream& stream) const {
  const auto status = dnnl_primitive_execute(primitive_.get(), stream.get(), static_cast<int>(arguments_.size()),
                                             arguments_.data());
  if (status != dnnl_success) throw Error(Fault::failed, "oneDNN could not run a primitive", fmt::format("status {}", static_cast<int>(status)));
}

PrimitiveKernel::PrimitiveKernel(const KernelRequest& request) : engine_(request.engine), program_(request.program) {}

void PrimitiveKernel::declare(Argument a) {
  a.bound_input = program_.tensor(a.id).role == Role::input;
  if (!onednn::is_empty(a.wanted) && a.wanted != a.stored) {
    a.offset = workspace_bytes_;
    workspace_bytes_ += aligned(static_cast<int64_t>(a.wanted.get_size()));
  }
  arguments_.push_back(std::move(a));
}

void PrimitiveKernel::reads(int argument, TensorId id, const onednn::Desc& stored, const onednn::Desc& wanted) {
  declare({argument, id, stored, wanted});
}

void PrimitiveKernel::writes(int argument, TensorId id, const onednn::Desc& stored, const onednn::Desc& wanted) {
  declare({argument, id, stored, wanted, true});
}

void PrimitiveKernel::keeps(TensorId saved, const onednn::Desc& workspace, bool is_read) {
  saved_bytes_ = static_cast<int64_t>(workspace.get_size());
  declare({DNNL_ARG_WORKSPACE, saved, workspace, workspace, true});
  if (is_read) return;
  arguments_.back().scratch = true;
  arguments_.back().offset = workspace_bytes_;
  workspace_bytes_ += aligned(saved_bytes_);
}

void PrimitiveKernel::uses_kept(TensorId saved, const onednn::Desc& workspace) {
  declare({DNNL_ARG_WORKSPACE, saved, workspace, workspace});
}

void PrimitiveKernel::set_primitive(std::function<dnnl::primitive()> make, const onednn::Desc& scratchpad) {
  make_ = std::move(make);
  scratchpad_ = scratchpad;
  scratchpad_offset_ = workspace_bytes_;
  workspace_bytes_ += aligned(static_cast<int64_t>(scratchpad.get_size()));
}

dnnl::memory PrimitiveKernel::memory_for(const Argument& a, const Addresses& addresses) {
  if (a.scratch) return {a.stored, engine_.engine, addresses.workspace + a.offset};
  std::byte* const& slot = addresses.tensors[static_cast<size_t>(a.id.index)];
  dnnl::memory stored(a.stored, engine_.engine, a.bound_input ? DNNL_MEMORY_NONE : slot);
  if (a.bound_input) rebound_.push_back({stored, &slot});
  return a.offset < 0 ? stored : adapted(a, stored, addresses);
}

dnnl::memory PrimitiveKernel::adapted(const Argument& a, const dnnl::memory& stored, const Addresses& addresses) {
  dnnl::memory wanted(a.wanted, engine_.engine, addresses.workspace + a.offset);
  const dnnl::memory &from = a.output ? wanted : stored, &to = a.output ? stored : wanted;
  const dnnl::reorder::primitive_desc pd(engine_.engine, from.get_desc(), engine_.engine, to.get_desc());
  auto& list = a.output ? after_ : before_;
  list.emplace_back(dnnl::reorder(pd), std::vector<std::pair<int, dnnl::memory>>{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  return wanted;
}

void PrimitiveKernel::bind(const Addresses& addresses) {
  std::vector<std::pair<int, dnnl::memory>> bound;
  for (const Argument& a : arguments_) bound.emplace_back(a.argument, memory_for(a, addresses));
  if (scratchpad_.get_size() > 0)
    bound.emplace_back(DNNL_ARG_SCRATCHPAD,
                       dnnl::memory(scratchpad_, engine_.engine, addresses.workspace + scratchpad_offset_));
  main_.emplace_back(make_(), bound);
}

void PrimitiveKernel::run() {
  for (Rebound& r : rebound_) r.memory.set_data_handle(*r.slot);
  for (const auto* list : {&before_, &main_, &after_})
    for (const BoundPrimitive& p : *list) p.run(engine_.stream);
}

}  // namespace gpusizer::cpu
