// SPDX-License-Identifier: Apache-2.0
// Parameter updates on the CPU: element by element in the parameter's own layout, gradient and state lying alike.
#include <cmath>

#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

// The operands that all updates have: parameter, gradient, learning rate, and where the gradients are scaled a factor,
// which comes last. A factor of 0 skips the step.
class Update : public Kernel {
 public:
  Update(const KernelRequest& r, const UpdateAttributes& a) : vector_(r.engine.vector.update), scaled_(a.scaled) {
    terms_ = {static_cast<float>(a.weight_decay), static_cast<float>(a.l1), 1.f};
    for (const TensorId id : r.op.inputs) slots_.emplace_back(r, id);
    count_ = element_count(r.input(0).shape);
  }
  void bind(const Addresses& a) override {
    for (Slot& s : slots_) s.bind(a);
  }
  void run() override {
    if (scaled_) terms_.factor = *slots_.back().floats();
    if (terms_.factor != 0) step();
  }

 protected:
  virtual void step() = 0;
  float* input(size_t i) const { return slots_[i].floats(); }
  float rate() const { return *input(2); }
  size_t operands() const { return slots_.size() - (scaled_ ? 1 : 0); }

  const UpdateKernels& vector_;
  UpdateTerms terms_;
  int64_t count_ = 0;

 private:
  bool scaled_;
  std::vector<Slot> slots_;
};

class Sgd final : public Update {
 public:
  explicit Sgd(const KernelRequest& r) : Sgd(r, std::get<SgdAttributes>(r.op.attributes)) {}
  Sgd(const KernelRequest& r, const SgdAttributes& a)
      : Update(r, {a.weight_decay, a.l1, a.scaled}), momentum_(static_cast<float>(a.momentum)) {}

 private:
  void step() override {
    vector_.sgd({input(0), input(1), operands() > 3 ? input(3) : nullptr, count_, rate(), momentum_, terms_});
  }
  float momentum_;
};

// (parameter, gradient, learning rate, m, v, steps)
class AdamBase : public Update {
 public:
  AdamBase(const KernelRequest& r, const AdamAttributes& a) : Update(r, a.update), a_(a) {}

 protected:
  AdamStep adam_step() const {
    AdamStep s{input(0), input(1), input(3), input(4), count_, rate()};
    const double steps = *input(5);
    s.beta1 = static_cast<float>(a_.beta1);
    s.beta2 = static_cast<float>(a_.beta2);
    s.epsilon = static_cast<float>(a_.epsilon);
    s.first_share = static_cast<float>(1 - a_.beta1);
    s.second_share = static_cast<float>(1 - a_.beta2);
    s.first_correction = static_cast<float>(1 / (1 - std::pow(a_.beta1, steps)));
    s.second_correction = static_cast<float>(1 / (1 - std::pow(a_.beta2, steps)));
    s.terms = terms_;
    return s;
  }
  AdamAttributes a_;
};

class Adam final : public AdamBase {
 public:
  explicit Adam(const KernelRequest& r) : AdamBase(r, std::get<AdamAttributes>(r.op.attributes)) {}

 private:
  void step() override {
    AdamStep s = adam_step();
    if (a_.decoupled) {
      s.shrink = 1 - rate() * terms_.weight_decay;
      s.terms.weight_decay = 0;
    }
    vector_.adam(s);
  }
};

class Lamb final : public AdamBase {
 public:
  explicit Lamb(const KernelRequest& r) : AdamBase(r, std::get<AdamAttributes>(r.op.attributes)) {}
  int64_t workspace_bytes() const override { return 2 * sum_blocks(count_) * static_cast<int64_t>(sizeof(double)); }
  void bind(const Addresses& a) override {
    Update::bind(a);
    partial_ = reinterpret_cast<double*>(a.workspace);
  }

 private:
  void step() override {
    LambStep s{adam_step(), terms_.weight_decay, partial_};
    s.adam.terms.weight_decay = 0;
    vector_.lamb(s);
  }
  double* partial_ = nullptr;
};

// (parameter, gradient, learning rate, sum of squares)
class Adagrad final : public Update {
 public:
  explicit Adagrad(const KernelRequest& r) : Adagrad(r, std::get<AdagradAttributes>(r.op.attributes)) {}
  Adagrad(const KernelRequest& r, const AdagradAttributes& a)
      : Update(r, a.update), epsilon_(static_cast<float>(a.epsilon)) {}

 private:
  void step() override { vector_.adagrad({input(0), input(1), input(3), count_, rate(), epsilon_, terms_}); }
  float epsilon_;
};

}  // namespace

std::unique_ptr<Kernel> sgd(const KernelRequest& r) { return std::make_unique<Sgd>(r); }
std::unique_ptr<Kernel> adam(const KernelRequest& r) { return std::make_unique<Adam>(r); }
std::unique_ptr<Kernel> lamb(const KernelRequest& r) { return std::make_unique<Lamb>(r); }
std::unique_ptr<Kernel> adagrad(const KernelRequest& r) { return std::make_unique<Adagrad>(r); }

}  // namespace gpusizer::cpu
