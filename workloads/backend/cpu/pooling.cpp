// SPDX-License-Identifier: Apache-2.0
// Average pooling (and max pooling over very large windows) through oneDNN, max pooling by our own kernel, and flatten
// as a reorder from blocks of channels to rows.
#include <algorithm>

#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"
#include "workloads/backend/cpu/primitive_kernel.hpp"

namespace gpusizer::cpu {

namespace {

onednn::PoolShape pool_shape(const KernelRequest& r, const Shape& x, const Shape& y, bool max) {
  const auto& a = std::get<PoolAttributes>(r.op.attributes);
  // The last window may end before the padded image does: what lies beyond it is not padding to oneDNN.
  const auto end = [&](int64_t input, int64_t output) {
    return std::max<int64_t>(0, (output - 1) * a.stride + a.kernel - input - a.padding);
  };
  return {max ? dnnl::algorithm::pooling_max : dnnl::algorithm::pooling_avg_exclude_padding,
          blocked_desc(x, r.layouts.block()),
          blocked_desc(y, r.layouts.block()),
          {a.stride, a.stride},
          {a.kernel, a.kernel},
          {a.padding, a.padding},
          {end(x[2], y[2]), end(x[3], y[3])}};
}

bool fits_own_kernel(const KernelRequest& r) {
  const int64_t kernel = std::get<PoolAttributes>(r.op.attributes).kernel;
  return kernel * kernel <= 256;  // the chosen place is kept in a byte
}

MaxPoolShape max_pool_shape(const KernelRequest& r, const Shape& x, const Shape& y) {
  const auto& a = std::get<PoolAttributes>(r.op.attributes);
  const int64_t block = r.layouts.block();
  return {x[0] * round_up(x[1], block) / block, x[2], x[3], y[2], y[3], a.kernel, a.stride, a.padding};
}

class MaxPool final : public Kernel {
 public:
  explicit MaxPool(const KernelRequest& r)
      : vector_(r.engine.vector), shape_(max_pool_shape(r, r.input(0).shape, r.output(0).shape)), x_(r, r.op.inputs[0], 0),
        y_(r, r.op.outputs[0]) {
    if (r.is_read(r.op.outputs[1])) saved_.emplace(r, r.op.outputs[1]);
  }
  int64_t saved_bytes() const override { return shape_.images * shape_.rows * shape_.columns * vector_.lanes; }
  int64_t workspace_bytes() const override { return x_.workspace_bytes() + (saved_ ? 0 : saved_bytes()); }
  void bind(const Addresses& a) override {
    workspace_ = a.workspace + x_.workspace_bytes();
    x_.bind(a);
    y_.bind(a);
    if (saved_) saved_->bind(a);
  }
  void run() override {
    std::byte* chosen = saved_ ? saved_->bytes() : workspace_;
    vector_.max_pool_forward(shape_, x_.load(), y_.floats(), reinterpret_cast<uint8_t*>(chosen));
  }

 private:
  const VectorKernels& vector_;
  MaxPoolShape shape_;
  BlockedImage x_;
  Slot y_;
  std::optional<Slot> saved_;
  std::byte* workspace_ = nullptr;
};

class MaxPoolBackward final : public Kernel {
 public:
  explicit MaxPoolBackward(const KernelRequest& r)
      : vector_(r.engine.vector), shape_(max_pool_shape(r, r.output(0).shape, r.input(0).shape)), dy_(r, r.op.inputs[0]),
        saved_(r, r.op.inputs[1]), dx_(r, r.op.outputs[0]) {}
  void bind(const Addresses& a) override {
    for (Slot* s : {&dy_, &saved_, &dx_}) s->bind(a);
  }
  void run() override {
    vector_.max_pool_backward(shape_, dy_.floats(), reinterpret_cast<const uint8_t*>(saved_.bytes()), dx_.floats());
  }

 private:
  const VectorKernels& vector_;
  MaxPoolShape shape_;
  Slot dy_, saved_, dx_;
};

}  // namespace

std::unique_ptr<Kernel> pooling(const KernelRequest& r) {
  const Tensor &x = r.input(0), &y = r.output(0);
  const bool max = r.op.kind == OpKind::max_pool;
  if (max && (x.dtype == DType::i8 || x.dtype == DType::u8)) return integer_max_pool(r);
  if (max && fits_own_kernel(r)) return std::make_unique<MaxPool>(r);
  const auto pd = onednn::pool_forward(r.engine.engine, pool_shape(r, x.shape, y.shape, max));
  auto kernel = std::make_unique<PrimitiveKernel>(r);
  kernel->reads(DNNL_ARG_SRC, x.id, r.layouts.stored(x.id), pd.src_desc());
  kernel->writes(DNNL_ARG_DST, y.id, r.layouts.stored(y.id), pd.dst_desc());
  if (max) kernel->keeps(r.op.outputs[1], pd.workspace_desc(), r.is_read(r.op.outputs[1]));
  kernel->set_primitive([pd] { return dnnl::pooling_forward(pd); }, pd.scratchpad_desc());
  return kernel;
}

std::unique_ptr<Kernel> pooling_backward(const KernelRequest& r) {
  const Tensor &dy = r.input(0), &dx = r.output(0);
  const bool max = r.op.kind == OpKind::max_pool_backward;
  if (max && fits_own_kernel(r)) return std::make_unique<MaxPoolBackward>(r);
  const auto shape = pool_shape(r, dx.shape, dy.shape, max);
  const auto forward = onednn::pool_forward(r.engine.engine, shape);
  const auto pd = onednn::pool_backward(r.engine.engine, shape, forward);
  auto kernel = std::make_unique<PrimitiveKernel>(r);
  kernel->reads(DNNL_ARG_DIFF_DST, dy.id, r.layouts.stored(dy.id), pd.diff_dst_desc());
  kernel->writes(DNNL_ARG_DIFF_SRC, dx.id, r.layouts.stored(dx.id), pd.diff_src_desc());
  if (max) kernel->uses_kept(r.op.inputs[1], forward.workspace_desc());
  kernel->set_primitive([pd] { return dnnl::pooling_backward(pd); }, pd.scratchpad_desc());
  return kernel;
}

// [N, C, H, W] <-> [N, C * H * W]: the rows are the image in row-major order.
std::unique_ptr<Kernel> flatten(const KernelRequest& r) {
  const Tensor &from = r.input(0), &to = r.output(0);
  const Shape& image = r.op.kind == OpKind::flatten ? from.shape : to.shape;
  const auto view = [&](const Tensor& t) {
    return t.shape.size() == image.size() ? r.layouts.stored(t.id) : row_major_desc(image, t.dtype);
  };
  const onednn::Desc from_desc = view(from), to_desc = view(to);
  auto kernel = std::make_unique<PrimitiveKernel>(r);
  kernel->reads(DNNL_ARG_FROM, from.id, from_desc, from_desc);
  kernel->writes(DNNL_ARG_TO, to.id, to_desc, to_desc);
  const dnnl::reorder::primitive_desc pd(r.engine.engine, from_desc, r.engine.engine, to_desc, onednn::user_scratchpad());
  kernel->set_primitive([pd] { return dnnl::reorder(pd); }, pd.scratchpad_desc());
  return kernel;
}

}  // namespace gpusizer::cpu
