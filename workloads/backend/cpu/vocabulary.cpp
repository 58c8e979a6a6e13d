// SPDX-License-Identifier: Apache-2.0
// Softmax cross-entropy on the CPU where each rank has the logits of its part of the vocabulary: what a part says of
// each row, the loss from what all parts say, and the gradient of this part.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpusizer/error.hpp"
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

const VocabularyAttributes& vocabulary_of(const KernelRequest& r) {
  return std::get<VocabularyAttributes>(r.op.attributes);
}

// (logits, labels) -> [numbers, N]: see rules/vocabulary.cpp
class VocabularyLossPart final : public Kernel {
 public:
  explicit VocabularyLossPart(const KernelRequest& r)
      : vector_(r.engine.vector.rows),
        a_(vocabulary_of(r)),
        rows_(r.input(0).shape[0]),
        words_(r.input(0).shape[1]),
        logits_(r, r.op.inputs[0]),
        labels_(r, r.op.inputs[1]),
        part_(r, r.op.outputs[0]) {}
  void bind(const Addresses& a) override {
    for (Slot* s : {&logits_, &labels_, &part_}) s->bind(a);
  }
  void run() override {
#pragma omp parallel for schedule(static) if (rows_ * words_ > 4096)
    for (int64_t n = 0; n < rows_; ++n) row(n);
  }

 private:
  void row(int64_t n) const {
    const float* x = logits_.floats() + n * words_;
    float* out = part_.floats() + n;
    const int64_t place = labels_.ints()[n] - a_.first;
    const bool here = place >= 0 && place < words_;
    const SoftmaxRow r = vector_.softmax_row(x, words_, here ? place : 0, a_.loss.label_smoothing > 0);
    out[0] = r.top;
    out[rows_] = static_cast<float>(r.sum);
    out[2 * rows_] = here ? x[place] : -std::numeric_limits<float>::infinity();
    out[3 * rows_] = static_cast<float>(a_.first + (std::find(x, x + words_, r.top) - x));
    if (a_.loss.label_smoothing > 0) out[4 * rows_] = static_cast<float>(r.total);
  }

  const RowKernels& vector_;
  VocabularyAttributes a_;
  int64_t rows_, words_;
  Slot logits_, labels_, part_;
};

// What all parts say of one row.
struct JoinedRow {
  float top = -std::numeric_limits<float>::infinity(), place = 0, label = -std::numeric_limits<float>::infinity();
  double sum = 0, total = 0;
};

// Kept for the backward: each row's largest logit and inverse sum, how many rows count, how many words there are.
class VocabularyLoss final : public Kernel {
 public:
  explicit VocabularyLoss(const KernelRequest& r)
      : a_(vocabulary_of(r)),
        rows_(r.input(0).shape[0]),
        words_(r.input(0).shape[1]),
        ranks_(r.input(1).shape.size() == 3 ? r.input(1).shape[0] : 1),
        layer_(r.op.layer),
        parts_(r, r.op.inputs[1]),
        labels_(r, r.op.inputs[2]),
        loss_(r, r.op.outputs[0]),
        correct_(r, r.op.outputs[1]) {
    if (r.is_read(r.op.outputs[2])) saved_.emplace(r, r.op.outputs[2]);
    if (a_.loss.ignore_negative) count_.emplace(r, r.op.outputs[3]);
  }
  int64_t saved_bytes() const override { return (2 * rows_ + 2) * static_cast<int64_t>(sizeof(float)); }
  void bind(const Addresses& a) override {
    for (Slot* s : {&parts_, &labels_, &loss_, &correct_}) s->bind(a);
    for (auto* s : {&saved_, &count_})
      if (*s) (*s)->bind(a);
  }

  void run() override {
    double loss = 0, correct = 0, counted = 0;
    for (int64_t n = 0; n < rows_; ++n) {
      const JoinedRow row = joined(n);
      if (saved_) {
        saved_->floats()[2 * n] = row.top;
        saved_->floats()[2 * n + 1] = static_cast<float>(1 / row.sum);
      }
      const int32_t label = labels_.ints()[n];
      if (label < 0 && a_.loss.ignore_negative) continue;
      check(label, n);
      loss += row_loss(row);
      correct += static_cast<int32_t>(row.place) == label;
      ++counted;
    }
    write(counted > 0 ? loss / counted : 0, correct, counted);
  }

 private:
  int64_t all_words() const { return ranks_ * words_; }

  void check(int32_t label, int64_t n) const {
    if (label < 0 || label >= all_words())
      throw Error(Fault::input, fmt::format("label {} of sample {} is not one of {} classes", label, n, all_words()),
                  "layer " + layer_, "check --classes against the dataset");
  }

  // In the order of the ranks, so that the first of equal logits counts as the largest.
  JoinedRow joined(int64_t n) const {
    const bool smoothing = a_.loss.label_smoothing > 0;
    const int64_t each = (smoothing ? 5 : 4) * rows_;
    JoinedRow row;
    for (int64_t rank = 0; rank < ranks_; ++rank) {
      const float* part = parts_.floats() + rank * each + n;
      if (part[0] > row.top) row.place = part[3 * rows_];
      row.top = std::max(row.top, part[0]);
      row.label = std::max(row.label, part[2 * rows_]);
    }
    for (int64_t rank = 0; rank < ranks_; ++rank) {
      const float* part = parts_.floats() + rank * each + n;
      const double down = double{part[0]} - double{row.top};
      row.sum += std::exp(down) * double{part[rows_]};
      if (smoothing) row.total += double{part[4 * rows_]} + down * static_cast<double>(words_);
    }
    return row;
  }

  double row_loss(const JoinedRow& row) const {
    const double smoothing = a_.loss.label_smoothing;
    return std::log(row.sum) - (1 - smoothing) * static_cast<double>(row.label - row.top) -
           smoothing * row.total / static_cast<double>(all_words());
  }

  void write(double loss, double correct, double counted) const {
    *loss_.floats() = static_cast<float>(loss);
    *correct_.floats() = static_cast<float>(correct);
    if (count_) *count_->floats() = static_cast<float>(counted);
    if (!saved_) return;
    saved_->floats()[2 * rows_] = static_cast<float>(counted);
    saved_->floats()[2 * rows_ + 1] = static_cast<float>(all_words());
  }

  VocabularyAttributes a_;
  int64_t rows_, words_, ranks_;
  std::string layer_;
  Slot parts_, labels_, loss_, correct_;
  std::optional<Slot> saved_, count_;
};

// (d loss, labels, saved, logits) -> d logits
class VocabularyLossBackward final : public Kernel {
 public:
  explicit VocabularyLossBackward(const KernelRequest& r)
      : vector_(r.engine.vector.rows),
        a_(vocabulary_of(r)),
        rows_(r.output(0).shape[0]),
        words_(r.output(0).shape[1]),
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
    const float everywhere = static_cast<float>(a_.loss.label_smoothing) / saved_.floats()[2 * rows_ + 1];
#pragma omp parallel for schedule(static) if (rows_ * words_ > 16384)
    for (int64_t n = 0; n < rows_; ++n) row(n, scale, everywhere);
  }

 private:
  void row(int64_t n, float scale, float everywhere) const {
    const float* kept = saved_.floats() + 2 * n;
    float* dx = dx_.floats() + n * words_;
    const int32_t label = labels_.ints()[n];
    if (label < 0) {
      std::fill(dx, dx + words_, 0.f);
      return;
    }
    vector_.softmax_row_gradient(logits_.floats() + n * words_, dx, words_, {kept[0], kept[1], everywhere, scale});
    const int64_t place = label - a_.first;
    if (place >= 0 && place < words_) dx[place] -= (1 - static_cast<float>(a_.loss.label_smoothing)) * scale;
  }

  const RowKernels& vector_;
  VocabularyAttributes a_;
  int64_t rows_, words_;
  Slot dloss_, labels_, saved_, logits_, dx_;
};

}  // namespace

std::unique_ptr<Kernel> vocabulary_loss_part(const KernelRequest& r) { return std::make_unique<VocabularyLossPart>(r); }
std::unique_ptr<Kernel> vocabulary_loss(const KernelRequest& r) { return std::make_unique<VocabularyLoss>(r); }
std::unique_ptr<Kernel> vocabulary_loss_backward(const KernelRequest& r) {
  return std::make_unique<VocabularyLossBackward>(r);
}

}  // namespace gpusizer::cpu
