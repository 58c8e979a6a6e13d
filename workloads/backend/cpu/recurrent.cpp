// SPDX-License-Identifier: Apache-2.0
// An LSTM layer on the CPU: the recurrence is ours, the gradients of weights and input are one matrix product each.
#include <algorithm>

#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/matrix_product.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

constexpr auto float_bytes = static_cast<int64_t>(sizeof(float));

LstmShape lstm_shape(const KernelRequest& r, const Tensor& x, const Tensor& weight_hh) {
  const int64_t steps = std::get<LstmAttributes>(r.op.attributes).steps;
  return {steps, x.shape[0] / steps, x.shape[1], weight_hh.shape[1], r.engine.threads};
}

// What the forward keeps for each row: the four gates of all rows first, then the cells of all rows.
int64_t gate_floats(const LstmShape& s) { return s.steps * s.batch * 4 * s.hidden; }
int64_t kept_bytes(const LstmShape& s) { return gate_floats(s) * 5 / 4 * float_bytes; }

class LstmLayer final : public Kernel {
 public:
  explicit LstmLayer(const KernelRequest& r)
      : vector_(r.engine.vector.lstm), shape_(lstm_shape(r, r.input(0), r.input(2))), y_(r, r.op.outputs[0]),
        saved_(r, r.op.outputs[1]), keeps_(r.is_read(r.op.outputs[1])) {
    for (const TensorId id : r.op.inputs) inputs_.emplace_back(r, id);
  }
  int64_t workspace_bytes() const override { return packed_bytes() + (keeps_ ? 0 : kept_bytes(shape_)); }
  int64_t saved_bytes() const override { return kept_bytes(shape_); }
  void bind(const Addresses& a) override {
    for (Slot& s : inputs_) s.bind(a);
    y_.bind(a);
    saved_.bind(a);
    packed_ = reinterpret_cast<float*>(a.workspace);
    scratch_ = reinterpret_cast<float*>(a.workspace + packed_bytes());
  }
  void run() override {
    float* kept = keeps_ ? saved_.floats() : scratch_;
    const auto in = [&](size_t i) { return inputs_[i].floats(); };
    float* cell = kept + gate_floats(shape_);
    vector_.forward({shape_, in(0), in(1), in(2), in(3), in(4), kept, cell, y_.floats(), packed_});
  }

 private:
  int64_t packed_bytes() const { return aligned(vector_.packed_floats(shape_) * float_bytes); }

  const LstmKernels& vector_;
  LstmShape shape_;
  std::vector<Slot> inputs_;
  Slot y_, saved_;
  bool keeps_;
  float *packed_ = nullptr, *scratch_ = nullptr;
};

// (dy, x, w_ih, w_hh, y, saved) -> dw_ih, dw_hh, db_ih, db_hh [, dx]. What was saved is used up: the gradients of the
// gates take the place of the gates, as nothing else reads them.
class LstmLayerBackward final : public Kernel {
 public:
  explicit LstmLayerBackward(const KernelRequest& r)
      : engine_(r.engine), shape_(lstm_shape(r, r.input(1), r.input(3))), gates_(4 * shape_.hidden),
        rows_(shape_.steps * shape_.batch), later_rows_(rows_ - shape_.batch),
        weight_ih_(r.engine, {gates_, rows_, true}, {rows_, shape_.in}, {gates_, shape_.in}) {
    for (const TensorId id : r.op.inputs) inputs_.emplace_back(r, id);
    for (const TensorId id : r.op.outputs) outputs_.emplace_back(r, id);
    if (later_rows_ > 0)
      weight_hh_.emplace(r.engine, Matrix{gates_, later_rows_, true}, Matrix{later_rows_, shape_.hidden},
                         Matrix{gates_, shape_.hidden});
    if (outputs_.size() > 4)
      input_.emplace(r.engine, Matrix{rows_, gates_}, Matrix{gates_, shape_.in}, Matrix{rows_, shape_.in});
  }

  int64_t workspace_bytes() const override { return packed_bytes() + state_bytes() + scratch_bytes(); }
  void bind(const Addresses& a) override {
    for (auto* slots : {&inputs_, &outputs_})
      for (Slot& s : *slots) s.bind(a);
    packed_ = reinterpret_cast<float*>(a.workspace);
    dcell_ = reinterpret_cast<float*>(a.workspace + packed_bytes());
    std::byte* scratch = a.workspace + packed_bytes() + state_bytes();  // the products run one after the other
    weight_ih_.bind(scratch);
    if (weight_hh_) weight_hh_->bind(scratch);
    if (input_) input_->bind(scratch);
  }

  void run() override {
    const auto in = [&](size_t i) { return inputs_[i].floats(); };
    const auto out = [&](size_t i) { return outputs_[i].floats(); };
    float* gates = in(5);
    engine_.vector.lstm.backward({shape_, in(0), in(3), gates + gate_floats(shape_), gates, dcell_, packed_});
    weight_ih_.run(gates, in(1), out(0));
    if (weight_hh_)
      weight_hh_->run(gates + shape_.batch * gates_, in(4), out(1));
    else
      std::fill_n(out(1), gates_ * shape_.hidden, 0.f);  // a single step has no step before it
    engine_.vector.column_sums(gates, out(2), rows_, gates_);
    std::copy_n(out(2), gates_, out(3));
    if (input_) input_->run(gates, in(2), out(4));
  }

 private:
  using Matrix = MatrixProduct::Operand;
  int64_t packed_bytes() const { return aligned(engine_.vector.lstm.packed_floats(shape_) * float_bytes); }
  int64_t state_bytes() const { return aligned(shape_.batch * shape_.hidden * float_bytes); }
  int64_t scratch_bytes() const {
    return std::max({weight_ih_.scratch_bytes(), weight_hh_ ? weight_hh_->scratch_bytes() : 0,
                     input_ ? input_->scratch_bytes() : 0});
  }

  const Engine& engine_;
  LstmShape shape_;
  int64_t gates_, rows_, later_rows_;
  MatrixProduct weight_ih_;
  std::optional<MatrixProduct> weight_hh_, input_;
  std::vector<Slot> inputs_, outputs_;
  float *packed_ = nullptr, *dcell_ = nullptr;
};

}  // namespace

std::unique_ptr<Kernel> lstm(const KernelRequest& r) { return std::make_unique<LstmLayer>(r); }
std::unique_ptr<Kernel> lstm_backward(const KernelRequest& r) { return std::make_unique<LstmLayerBackward>(r); }

}  // namespace gpusizer::cpu
