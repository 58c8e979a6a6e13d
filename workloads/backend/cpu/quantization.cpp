// SPDX-License-Identifier: Apache-2.0
// Inference with eight-bit integers on the CPU: products through oneDNN, which sums them exactly in 32 bits.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "gpusizer/error.hpp"
#include "workloads/backend/cpu/int8_products.hpp"
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"
#include "workloads/backend/cpu/primitive_kernel.hpp"

namespace gpusizer::cpu {

namespace {

// (x, largest [1]) -> largest in place. What pads blocks of channels is zero and changes nothing.
class RecordRange final : public Kernel {
 public:
  explicit RecordRange(const KernelRequest& r)
      : x_(r, r.op.inputs[0]), largest_(r, r.op.inputs[1]), count_(stored_floats(r, r.op.inputs[0])) {}
  void bind(const Addresses& a) override {
    x_.bind(a);
    largest_.bind(a);
  }
  void run() override {
    const float* x = x_.floats();
    float largest = *largest_.floats();
    int64_t unordered = 0;
#pragma omp parallel for reduction(max : largest) reduction(+ : unordered)
    for (int64_t i = 0; i < count_; ++i) {
      largest = std::max(largest, std::abs(x[i]));
      unordered += std::isnan(x[i]) ? 1 : 0;
    }
    *largest_.floats() = unordered > 0 ? NAN : largest;
  }

 private:
  Slot x_, largest_;
  int64_t count_;
};

// Values by a reorder that scales and rounds.
std::unique_ptr<Kernel> scaled_reorder(const KernelRequest& r, double factor) {
  const onednn::Desc from = r.layouts.stored(r.op.inputs[0]), to = r.layouts.stored(r.op.outputs[0]);
  const auto pd = onednn::scaled_reorder(r.engine.engine, from, to, static_cast<float>(factor));
  auto kernel = std::make_unique<PrimitiveKernel>(r);
  kernel->reads(DNNL_ARG_FROM, r.op.inputs[0], from, from);
  kernel->writes(DNNL_ARG_TO, r.op.outputs[0], to, to);
  kernel->set_primitive([pd] { return dnnl::reorder(pd); }, pd.scratchpad_desc());
  return kernel;
}

// Lays the residual where the result will be: the convolution adds to what it finds there.
class OntoResidual final : public Kernel {
 public:
  OntoResidual(const KernelRequest& r, std::unique_ptr<Kernel> convolution)
      : convolution_(std::move(convolution)),
        residual_(r, r.op.inputs[3]),
        y_(r, r.op.outputs[0]),
        bytes_(element_count(r.output(0).shape)) {}
  int64_t workspace_bytes() const override { return convolution_->workspace_bytes(); }
  void bind(const Addresses& a) override {
    convolution_->bind(a);
    residual_.bind(a);
    y_.bind(a);
  }
  void run() override {
    constexpr int64_t piece = int64_t{1} << 16;
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < bytes_; at += piece)
      std::memcpy(y_.bytes() + at, residual_.bytes() + at, static_cast<size_t>(std::min(piece, bytes_ - at)));
    convolution_->run();
  }

 private:
  std::unique_ptr<Kernel> convolution_;
  Slot residual_, y_;
  int64_t bytes_;
};

struct IntegerWindow {
  int64_t batch, rows, columns, channels, out_rows, out_columns, kernel, stride, padding;
};

// The largest of each window, channel by channel. A window always meets the image.
template <class T>
void pool_row(const IntegerWindow& w, const T* image, T* y, int64_t p) {
  const int64_t top = std::max<int64_t>(0, p * w.stride - w.padding);
  const int64_t bottom = std::min(w.rows, p * w.stride - w.padding + w.kernel);
  for (int64_t q = 0; q < w.out_columns; ++q, y += w.channels) {
    const int64_t left = std::max<int64_t>(0, q * w.stride - w.padding);
    const int64_t right = std::min(w.columns, q * w.stride - w.padding + w.kernel);
    std::copy_n(image + (top * w.columns + left) * w.channels, w.channels, y);
    for (int64_t h = top; h < bottom; ++h)
      for (int64_t v = left; v < right; ++v) {
        const T* x = image + (h * w.columns + v) * w.channels;
        for (int64_t c = 0; c < w.channels; ++c) y[c] = std::max(y[c], x[c]);
      }
  }
}

template <class T>
class IntegerMaxPool final : public Kernel {
 public:
  explicit IntegerMaxPool(const KernelRequest& r) : x_(r, r.op.inputs[0]), y_(r, r.op.outputs[0]) {
    const auto& a = std::get<PoolAttributes>(r.op.attributes);
    const Shape &x = r.input(0).shape, &y = r.output(0).shape;
    window_ = {x[0], x[2], x[3], x[1], y[2], y[3], a.kernel, a.stride, a.padding};
  }
  void bind(const Addresses& a) override {
    x_.bind(a);
    y_.bind(a);
  }
  void run() override {
    const IntegerWindow& w = window_;
    const auto* x = reinterpret_cast<const T*>(x_.bytes());
    auto* y = reinterpret_cast<T*>(y_.bytes());
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < w.batch * w.out_rows; ++row)
      pool_row(w, x + row / w.out_rows * w.rows * w.columns * w.channels, y + row * w.out_columns * w.channels,
               row % w.out_rows);
  }

 private:
  Slot x_, y_;
  IntegerWindow window_;
};

void require_exact_sums() {
  if (onednn::sums_integers_exactly()) return;
  throw Error(Fault::environment, "this processor has no instructions for sums of eight-bit products (VNNI)", "int8",
              "use fp32, or a processor with AVX512-VNNI or AVX-VNNI");
}

template <class PrimitiveDesc>
std::unique_ptr<PrimitiveKernel> weighted(const KernelRequest& r, const PrimitiveDesc& pd, const onednn::Desc& bias) {
  auto kernel = std::make_unique<PrimitiveKernel>(r);
  kernel->reads(DNNL_ARG_SRC, r.op.inputs[0], r.layouts.stored(r.op.inputs[0]), pd.src_desc());
  kernel->reads(DNNL_ARG_WEIGHTS, r.op.inputs[1], r.layouts.stored(r.op.inputs[1]), pd.weights_desc());
  kernel->reads(DNNL_ARG_BIAS, r.op.inputs[2], bias, bias);
  kernel->writes(DNNL_ARG_DST, r.op.outputs[0], r.layouts.stored(r.op.outputs[0]), pd.dst_desc());
  return kernel;
}

}  // namespace

std::unique_ptr<Kernel> record_range(const KernelRequest& r) { return std::make_unique<RecordRange>(r); }

std::unique_ptr<Kernel> quantize(const KernelRequest& r) {
  return scaled_reorder(r, 1 / std::get<QuantizeAttributes>(r.op.attributes).scale);
}

std::unique_ptr<Kernel> dequantize(const KernelRequest& r) {
  return scaled_reorder(r, std::get<QuantizeAttributes>(r.op.attributes).scale);
}

std::unique_ptr<Kernel> integer_max_pool(const KernelRequest& r) {
  if (r.input(0).dtype == DType::u8) return std::make_unique<IntegerMaxPool<uint8_t>>(r);
  return std::make_unique<IntegerMaxPool<int8_t>>(r);
}

std::unique_ptr<Kernel> convolution_int8(const KernelRequest& r) {
  require_exact_sums();
  const auto pd = int8_convolution(r.engine.engine, r.program, r.op);
  auto kernel = weighted(r, pd, plain_desc(r.input(2).shape));
  kernel->set_primitive([pd] { return dnnl::convolution_forward(pd); }, pd.scratchpad_desc());
  if (!std::get<Int8Attributes>(r.op.attributes).residual) return kernel;
  return std::make_unique<OntoResidual>(r, std::move(kernel));
}

std::unique_ptr<Kernel> linear_int8(const KernelRequest& r) {
  require_exact_sums();
  const auto pd = int8_product(r.engine.engine, r.program, r.op);
  auto kernel = weighted(r, pd, plain_desc({1, r.input(2).shape[0]}));
  if (std::get<Int8Attributes>(r.op.attributes).residual) {
    const onednn::Desc residual = r.layouts.stored(r.op.inputs[3]);
    kernel->reads(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, r.op.inputs[3], residual, residual);
  }
  kernel->set_primitive([pd] { return dnnl::matmul(pd); }, pd.scratchpad_desc());
  return kernel;
}

}  // namespace gpusizer::cpu
