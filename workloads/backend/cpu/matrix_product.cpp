// SPDX-License-Identifier: Apache-2.0
// Matrix products on given addresses.
#include "workloads/backend/cpu/matrix_product.hpp"

namespace gpusizer::cpu {

namespace {

onednn::Desc view(const MatrixProduct::Operand& o) {
  const onednn::Dims strides = o.transposed ? onednn::Dims{1, o.rows} : onednn::Dims{o.columns, 1};
  return {{o.rows, o.columns}, dnnl::memory::data_type::f32, strides};
}

}  // namespace

MatrixProduct::MatrixProduct(const Engine& engine, const Operand& a, const Operand& b, const Operand& c)
    : engine_(engine), description_(onednn::matmul(engine.engine, view(a), view(b), {}, view(c))),
      a_(view(a), engine.engine, DNNL_MEMORY_NONE), b_(view(b), engine.engine, DNNL_MEMORY_NONE),
      c_(view(c), engine.engine, DNNL_MEMORY_NONE) {}

int64_t MatrixProduct::scratch_bytes() const {
  return aligned(static_cast<int64_t>(description_.scratchpad_desc().get_size()));
}

void MatrixProduct::bind(std::byte* scratch) {
  std::vector<std::pair<int, dnnl::memory>> arguments{{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}};
  if (scratch_bytes() > 0)
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, dnnl::memory(description_.scratchpad_desc(), engine_.engine, scratch));
  primitive_.emplace(dnnl::matmul(description_), arguments);
}

void MatrixProduct::run(const float* a, const float* b, float* c) {
  a_.set_data_handle(const_cast<float*>(a));
  b_.set_data_handle(const_cast<float*>(b));
  c_.set_data_handle(c);
  primitive_->run(engine_.stream);
}

}  // namespace gpusizer::cpu
