// SPDX-License-Identifier: Apache-2.0
// Softmax cross-entropy on the CPU. Each row's largest logit and sum are kept for the backward, and how many rows
// count; the logits themselves are still there.
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
      : vector_(r.engine.vector.rows),
        a_(std::get<LossAttributes>(r.op.attributes)),
        rows_(r.input(0).shape[0]),
        classes_(r.input(0).shape[1]),
        layer_(r.op.layer),
        logits_(r, r.op.inputs[0]),
        labels_(r, r.op.inputs[1]),
        loss_(r, r.op.outputs[0]),
        correct_(r, r.op.outputs[1]) {
    if (r.is_read(r.op.outputs[2])) saved_.emplace(r, r.op.outputs[2]);
    if (a_.ignore_negative) count_.emplace(r, r.op.outputs[3]);
  }
  int64_t workspace_bytes() const override { return 2 * rows_ * static_cast<int64_t>(sizeof(double)); }
  int64_t saved_bytes() const override { return (2 * rows_ + 1) * static_cast<int64_t>(sizeof(float)); }
  void bind(const Addresses& a) override {
    for (Slot* s : {&logits_, &labels_, &loss_, &correct_}) s->bind(a);
    for (auto* s : {&saved_, &count_})
      if (*s) (*s)->bind(a);
    row_loss_ = reinterpret_cast<double*>(a.workspace);
    row_correct_ = row_loss_ + rows_;
  }

  void run() override {
    const auto counted = static_cast<double>(checked_labels());
#pragma omp parallel for schedule(static) if (rows_ * classes_ > 4096)
    for (int64_t n = 0; n < rows_; ++n) row(n);
    double loss = 0, correct = 0;
    for (int64_t n = 0; n < rows_; ++n) {
      loss += row_loss_[n];
      correct += row_correct_[n];
    }
    *loss_.floats() = counted > 0 ? static_cast<float>(loss / counted) : 0;
    *correct_.floats() = static_cast<float>(correct);
    if (count_) *count_->floats() = static_cast<float>(counted);
    if (saved_) saved_->floats()[2 * rows_] = static_cast<float>(counted);
  }

 private:
  // How many rows count.
  int64_t checked_labels() const {
    int64_t counted = 0;
    for (int64_t n = 0; n < rows_; ++n) {
      const int32_t label = labels_.ints()[n];
      if (label < 0 && a_.ignore_negative) continue;
      if (label < 0 || label >= classes_)
        throw Error(Fault::input, fmt::format("label {} of sample {} is not one of {} classes", label, n, classes_),
                    "layer " + layer_, "check --classes against the dataset");
      ++counted;
    }
    return counted;
  }

  void row(int64_t n) {
    const int32_t label = labels_.ints()[n];
    row_loss_[n] = row_correct_[n] = 0;
    if (label < 0) return;
    const float* x = logits_.floats() + n * classes_;
    const SoftmaxRow r = vector_.softmax_row(x, classes_, label, a_.label_smoothing > 0);
    row_correct_[n] = r.correct ? 1 : 0;
    row_loss_[n] = std::log(r.sum) - (1 - a_.label_smoothing) * static_cast<double>(x[label] - r.top) -
                   a_.label_smoothing * r.total / static_cast<double>(classes_);
    if (!saved_) return;
    saved_->floats()[2 * n] = r.top;
    saved_->floats()[2 * n + 1] = static_cast<float>(1 / r.sum);
  }

  const RowKernels& vector_;
  LossAttributes a_;
  int64_t rows_, classes_;
  std::string layer_;
  Slot logits_, labels_, loss_, correct_;
  std::optional<Slot> saved_, count_;
  double *row_loss_ = nullptr, *row_correct_ = nullptr;
};

// (d loss, labels, saved, logits) -> d logits
class CrossEntropyBackward final : public Kernel {
 public:
  explicit CrossEntropyBackward(const KernelRequest& r)
      : vector_(r.engine.vector.rows),
        smoothing_(static_cast<float>(std::get<LossAttributes>(r.op.attributes).label_smoothing)),
        rows_(r.output(0).shape[0]),
        classes_(r.output(0).shape[1]),
        dloss_(r, r.op.inputs[0]),
        labels_(r, r.op.inputs[1]),
        saved_(r, r.op.inputs[2]),
        logits_(r, r.op.inputs[3]),
        dx_(r, r.op.outputs[0]) {}
  void bind(const Addresses& a) override {
    for (Slot* s : {&dloss_, &labels_, &saved_, &logits_, &dx_}) s->bind(a);
  }
  void run() override {
    const float scale = *dloss_.floats() / saved_.floats()[2 * rows_];
#pragma omp parallel for schedule(static) if (rows_ * classes_ > 16384)
    for (int64_t n = 0; n < rows_; ++n) row(n, scale);
  }

 private:
  void row(int64_t n, float scale) const {
    const float* kept = saved_.floats() + 2 * n;
    const int32_t label = labels_.ints()[n];
    float* dx = dx_.floats() + n * classes_;
    if (label < 0) {
      std::fill(dx, dx + classes_, 0.f);
      return;
    }
    vector_.softmax_row_gradient(logits_.floats() + n * classes_, dx, classes_,
                                 {kept[0], kept[1], smoothing_ / static_cast<float>(classes_), scale});
    dx[label] -= (1 - smoothing_) * scale;
  }

  const RowKernels& vector_;
  float smoothing_;
  int64_t rows_, classes_;
  Slot dloss_, labels_, saved_, logits_, dx_;
};

}  // namespace

std::unique_ptr<Kernel> cross_entropy(const KernelRequest& r) { return std::make_unique<CrossEntropy>(r); }
std::unique_ptr<Kernel> cross_entropy_backward(const KernelRequest& r) {
  return std::make_unique<CrossEntropyBackward>(r);
}

}  // namespace gpusizer::cpu
