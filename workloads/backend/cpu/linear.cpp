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

// Left to the primitive: it is reordered to what is fastest before each run.
Desc any_layout(const Desc& view) { return {view.dims(), dnnl::memory::data_type::f32, dnnl::memory::format_tag::any}; }

// Reordering a weight costs as much as some 70 to 150 rows of its product, and saves a tenth to a fifth of all.
constexpr int64_t rows_worth_reordering = 512;

// c = a b (+ bias), each seen as the description says; `wanted_a` and `wanted_b` are what the primitive may ask for.
std::unique_ptr<PrimitiveKernel> product(const KernelRequest& r, const Operand& a, const Operand& b, const Operand& c,
                                         const Desc& wanted_a, const Desc& wanted_b,
                                         std::optional<TensorId> bias = {}) {
  const Desc row = bias ? matrix(1, r.program.tensor(*bias).shape[0]) : Desc{};
  const auto pd = onednn::matmul(r.engine.engine, wanted_a, wanted_b, row, c.view);
  auto kernel = std::make_unique<PrimitiveKernel>(r);
  kernel->reads(DNNL_ARG_SRC, a.id, a.view, pd.src_desc());
  kernel->reads(DNNL_ARG_WEIGHTS, b.id, b.view, pd.weights_desc());
  if (bias) kernel->reads(DNNL_ARG_BIAS, *bias, row, row);
  kernel->writes(DNNL_ARG_DST, c.id, c.view, c.view);
  kernel->set_primitive([pd] { return dnnl::matmul(pd); }, pd.scratchpad_desc());
  return kernel;
}

// The gradient of a bias is the sum of the result's gradient over the rows.
class WeightsAndBias final : public Kernel {
 public:
  WeightsAndBias(const KernelRequest& r, std::unique_ptr<Kernel> weights)
      : weights_(std::move(weights)),
        sum_(r.engine.vector.column_sums),
        dy_(r, r.op.inputs[1]),
        db_(r, r.op.outputs[1]),
        rows_(r.input(1).shape[0]),
        columns_(r.input(1).shape[1]) {}
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
  const Desc x = matrix(n, in), w = transposed(in, out);
  return product(r, {r.op.inputs[0], x}, {r.op.inputs[1], w}, {r.op.outputs[0], matrix(n, out)}, x,
                 n >= rows_worth_reordering ? any_layout(w) : w, bias);
}

std::unique_ptr<Kernel> linear_backward_data(const KernelRequest& r) {
  const int64_t n = r.input(0).shape[0], out = r.input(1).shape[0], in = r.input(1).shape[1];
  const Desc dy = matrix(n, out), w = matrix(out, in);
  return product(r, {r.op.inputs[0], dy}, {r.op.inputs[1], w}, {r.op.outputs[0], matrix(n, in)}, dy,
                 n >= rows_worth_reordering ? any_layout(w) : w);
}

std::unique_ptr<Kernel> linear_backward_weights(const KernelRequest& r) {
  const int64_t n = r.input(0).shape[0], in = r.input(0).shape[1], out = r.input(1).shape[1];
  const Desc dy = transposed(out, n), x = matrix(n, in);
  const bool reorders = in > out && n >= rows_worth_reordering;  // wide gradients are slow to make from plain operands
  auto weights = product(r, {r.op.inputs[1], dy}, {r.op.inputs[0], x}, {r.op.outputs[0], matrix(out, in)},
                         reorders ? any_layout(dy) : dy, reorders ? any_layout(x) : x);
  if (r.op.outputs.size() == 1) return weights;
  return std::make_unique<WeightsAndBias>(r, std::move(weights));
}

}  // namespace gpusizer::cpu
