// SPDX-License-Identifier: Apache-2.0
// Fully connected layers as matrix products through oneDNN. (Its inner product's weight gradient is far slower.)
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"
#include "workloads/backend/cpu/primitive_kernel.hpp"

namespace gpusizer::cpu {

namespace {

using onednn::Desc;

Desc matrix(int64_t rows, int64_t columns) { return plain_desc({rows, columns}); }
// The same bytes as matrix(columns, rows), seen transposed.
Desc transposed(int64_t rows, int64_t columns) { return {{rows, columns}, dnnl::memory::data_type::f32, {1, rows}}; }

struct Operand {
  TensorId id;
  Desc view;
};

// c = a b (+ bias), each seen as the description says.
std::unique_ptr<PrimitiveKernel> product(const KernelRequest& r, const Operand& a, const Operand& b, const Operand& c,
                                         std::optional<TensorId> bias = {}) {
  const Desc row = bias ? matrix(1, r.program.tensor(*bias).shape[0]) : Desc{};
  const auto pd = onednn::matmul(r.engine.engine, a.view, b.view, row, c.view);
  auto kernel = std::make_unique<PrimitiveKernel>(r);
  kernel->reads(DNNL_ARG_SRC, a.id, a.view, a.view);
  kernel->reads(DNNL_ARG_WEIGHTS, b.id, b.view, b.view);
  if (bias) kernel->reads(DNNL_ARG_BIAS, *bias, row, row);
  kernel->writes(DNNL_ARG_DST, c.id, c.view, c.view);
  kernel->set_primitive([pd] { return dnnl::matmul(pd); }, pd.scratchpad_desc());
  return kernel;
}

// The gradient of a bias is the sum of the result's gradient over the rows.
class WeightsAndBias final : public Kernel {
 public:
  WeightsAndBias(const KernelRequest& r, std::unique_ptr<Kernel> weights)
      : weights_(std::move(weights)), sum_(r.engine.vector.column_sums), dy_(r, r.op.inputs[1]), db_(r, r.op.outputs[1]),
        rows_(r.input(1).shape[0]), columns_(r.input(1).shape[1]) {}
  int64_t workspace_bytes() const override { return weights_->workspace_bytes(); }
  void bind(const Addresses& addresses) override {
    weights_->bind(addresses);
    dy_.bind(addresses);
    db_.bind(addresses);
  }
  void run() override {
    weights_->run();
    sum_(dy_.floats(), db_.floats(), rows_, columns_);
  }

 private:
  std::unique_ptr<Kernel> weights_;
  void (*sum_)(const float*, float*, int64_t, int64_t);
  Slot dy_, db_;
  int64_t rows_, columns_;
};

}  // namespace

std::unique_ptr<Kernel> linear(const KernelRequest& r) {
  const int64_t n = r.input(0).shape[0], in = r.input(1).shape[1], out = r.input(1).shape[0];
  const auto bias = r.op.inputs.size() > 2 ? std::optional(r.op.inputs[2]) : std::nullopt;
  return product(r, {r.op.inputs[0], matrix(n, in)}, {r.op.inputs[1], transposed(in, out)},
                 {r.op.outputs[0], matrix(n, out)}, bias);
}

std::unique_ptr<Kernel> linear_backward_data(const KernelRequest& r) {
  const int64_t n = r.input(0).shape[0], out = r.input(1).shape[0], in = r.input(1).shape[1];
  return product(r, {r.op.inputs[0], matrix(n, out)}, {r.op.inputs[1], matrix(out, in)}, {r.op.outputs[0], matrix(n, in)});
}

std::unique_ptr<Kernel> linear_backward_weights(const KernelRequest& r) {
  const int64_t n = r.input(0).shape[0], in = r.input(0).shape[1], out = r.input(1).shape[1];
  auto weights = product(r, {r.op.inputs[1], transposed(out, n)}, {r.op.inputs[0], matrix(n, in)},
                         {r.op.outputs[0], matrix(out, in)});
  if (r.op.outputs.size() == 1) return weights;
  return std::make_unique<WeightsAndBias>(r, std::move(weights));
}

}  // namespace gpusizer::cpu
