// SPDX-License-Identifier: Apache-2.0
// Softmax cross-entropy on the CPU: probabilities are kept for the backward.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "gpusizer/error.hpp"
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

// Each row's loss and whether its largest logit is the label; the rows are summed in order afterwards, so that the
// result does not depend on the number of threads.
class CrossEntropy final : public Kernel {
 public:
  explicit CrossEntropy(const KernelRequest& r)
      : smoothing_(std::get<LossAttributes>(r.op.attributes).label_smoothing), rows_(r.input(0).shape[0]),
        classes_(r.input(0).shape[1]), layer_(r.op.layer), logits_(r, r.op.inputs[0]), labels_(r, r.op.inputs[1]),
        loss_(r, r.op.outputs[0]), correct_(r, r.op.outputs[1]), saved_(r, r.op.outputs[2]),
        keeps_(r.is_read(r.op.outputs[2])) {}
  int64_t workspace_bytes() const override { return 2 * rows_ * static_cast<int64_t>(sizeof(double)); }
  int64_t saved_bytes() const override { return rows_ * classes_ * static_cast<int64_t>(sizeof(float)); }
  void bind(const Addresses& a) override {
    for (Slot* s : {&logits_, &labels_, &loss_, &correct_, &saved_}) s->bind(a);
    row_loss_ = reinterpret_cast<double*>(a.workspace);
    row_correct_ = row_loss_ + rows_;
  }

  void run() override {
    require_labels();
#pragma omp parallel for schedule(static) if (rows_ * classes_ > 4096)
    for (int64_t n = 0; n < rows_; ++n) row(n);
    double loss = 0, correct = 0;
    for (int64_t n = 0; n < rows_; ++n) {
      loss += row_loss_[n];
      correct += row_correct_[n];
    }
    *loss_.floats() = static_cast<float>(loss / static_cast<double>(rows_));
    *correct_.floats() = static_cast<float>(correct);
  }

 private:
  void require_labels() const {
    for (int64_t n = 0; n < rows_; ++n)
      if (labels_.ints()[n] < 0 || labels_.ints()[n] >= classes_)
        throw Error(Fault::input, fmt::format("label {} of sample {} is not one of {} classes", labels_.ints()[n], n, classes_),
                    "layer " + layer_, "check --classes against the dataset");
  }

  void row(int64_t n) {
    const float* x = logits_.floats() + n * classes_;
    const auto label = static_cast<int64_t>(labels_.ints()[n]);
    const float* largest = std::max_element(x, x + classes_);
    const float top = *largest;
    double sum = 0, total = 0;
    for (int64_t k = 0; k < classes_; ++k) {
      sum += std::exp(static_cast<double>(x[k] - top));
      total += static_cast<double>(x[k] - top);
    }
    const double log_sum = std::log(sum);
    row_correct_[n] = largest - x == label ? 1 : 0;
    row_loss_[n] = log_sum - (1 - smoothing_) * static_cast<double>(x[label] - top) -
                   smoothing_ * total / static_cast<double>(classes_);
    if (!keeps_) return;
    float* p = saved_.floats() + n * classes_;
    for (int64_t k = 0; k < classes_; ++k) p[k] = static_cast<float>(std::exp(static_cast<double>(x[k] - top) - log_sum));
  }

  double smoothing_;
  int64_t rows_, classes_;
  std::string layer_;
  Slot logits_, labels_, loss_, correct_, saved_;
  bool keeps_;
  double *row_loss_ = nullptr, *row_correct_ = nullptr;
};

class CrossEntropyBackward final : public Kernel {
 public:
  explicit CrossEntropyBackward(const KernelRequest& r)
      : smoothing_(static_cast<float>(std::get<LossAttributes>(r.op.attributes).label_smoothing)),
        rows_(r.output(0).shape[0]), classes_(r.output(0).shape[1]), dloss_(r, r.op.inputs[0]), labels_(r, r.op.inputs[1]),
        saved_(r, r.op.inputs[2]), dx_(r, r.op.outputs[0]) {}
  void bind(const Addresses& a) override {
    for (Slot* s : {&dloss_, &labels_, &saved_, &dx_}) s->bind(a);
  }
  void run() override {
    const float scale = *dloss_.floats() / static_cast<float>(rows_);
    const float everywhere = smoothing_ / static_cast<float>(classes_);
#pragma omp parallel for schedule(static) if (rows_ * classes_ > 16384)
    for (int64_t n = 0; n < rows_; ++n) {
      const float* p = saved_.floats() + n * classes_;
      float* dx = dx_.floats() + n * classes_;
      for (int64_t k = 0; k < classes_; ++k) dx[k] = (p[k] - everywhere) * scale;
      dx[labels_.ints()[n]] -= (1 - smoothing_) * scale;
    }
  }

 private:
  float smoothing_;
  int64_t rows_, classes_;
  Slot dloss_, labels_, saved_, dx_;
};

}  // namespace

std::unique_ptr<Kernel> cross_entropy(const KernelRequest& r) { return std::make_unique<CrossEntropy>(r); }
std::unique_ptr<Kernel> cross_entropy_backward(const KernelRequest& r) {
  return std::make_unique<CrossEntropyBackward>(r);
}

}  // namespace gpusizer::cpu
