// SPDX-License-Identifier: Apache-2.0
// Rows picked by index, their gradient, and rows in another order.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "gpusizer/error.hpp"
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

// Which row of the source each row of the result is.
class PickedRows {
 public:
  PickedRows(const KernelRequest& r, size_t indices, int64_t source_rows)
      : a_(std::get<GatherAttributes>(r.op.attributes)), layer_(r.op.layer), source_rows_(source_rows) {
    if (r.op.inputs.size() > indices) indices_.emplace(r, r.op.inputs[indices]);
  }
  void bind(const Addresses& a) {
    if (indices_) indices_->bind(a);
  }
  // Throws Error(input) for an index that is no row.
  void check() const {
    if (!indices_) return;
    for (int64_t i = 0; i < a_.rows; ++i) {
      const int64_t first = i / a_.group_indices * a_.group_rows;
      const int64_t all = a_.part ? a_.all_rows : source_rows_;
      const int64_t rows = a_.group_rows > 0 ? std::min(a_.group_rows, source_rows_ - first) : all;
      const int32_t index = indices_->ints()[i];
      if (index < 0 || index >= rows)
        throw Error(Fault::input, fmt::format("index {} at place {} is not one of the {} rows", index, i, rows),
                    "layer " + layer_, "indices count from 0; give the model as many rows as the data refers to");
    }
  }
  // Not among the source's rows where the row is in another part of the table.
  int64_t row(int64_t i) const {
    if (indices_) return i / a_.group_indices * a_.group_rows + indices_->ints()[i] - a_.first;
    const int64_t numbered = a_.offset + i * a_.stride;
    return a_.period > 0 ? numbered % a_.period : numbered;
  }
  bool is_here(int64_t row) const { return row >= 0 && row < source_rows_; }
  int64_t count() const { return a_.rows; }

 private:
  GatherAttributes a_;
  std::string layer_;
  int64_t source_rows_;
  std::optional<Slot> indices_;
};

class GatherRows final : public Kernel {
 public:
  explicit GatherRows(const KernelRequest& r)
      : rows_(r, 1, r.input(0).shape[0]),
        width_(r.input(0).shape[1]),
        source_(r, r.op.inputs[0]),
        y_(r, r.op.outputs[0]) {}
  void bind(const Addresses& a) override {
    rows_.bind(a);
    source_.bind(a);
    y_.bind(a);
  }
  void run() override {
    rows_.check();
    const float* source = source_.floats();
    float* y = y_.floats();
#pragma omp parallel for schedule(static) if (rows_.count() * width_ > 16384)
    for (int64_t i = 0; i < rows_.count(); ++i) {
      const auto bytes = static_cast<size_t>(width_) * sizeof(float);
      if (const int64_t row = rows_.row(i); rows_.is_here(row))
        std::memcpy(y + i * width_, source + row * width_, bytes);
      else
        std::memset(y + i * width_, 0, bytes);
    }
  }

 private:
  PickedRows rows_;
  int64_t width_;
  Slot source_, y_;
};

// Columns are shared out among the threads, so that rows may be picked several times and always add up in the same
// order.
class GatherRowsBackward final : public Kernel {
 public:
  explicit GatherRowsBackward(const KernelRequest& r)
      : rows_(r, 2, r.output(0).shape[0]),
        source_rows_(r.output(0).shape[0]),
        width_(r.output(0).shape[1]),
        stripes_(std::clamp<int64_t>(width_ / 64, 1, r.engine.threads)),
        dy_(r, r.op.inputs[0]),
        dx_(r, r.op.outputs[0]) {}
  void bind(const Addresses& a) override {
    rows_.bind(a);
    dy_.bind(a);
    dx_.bind(a);
  }
  void run() override {
    rows_.check();
#pragma omp parallel for schedule(static) if (source_rows_ * width_ > 16384)
    for (int64_t row = 0; row < source_rows_; ++row)
      std::memset(dx_.floats() + row * width_, 0, static_cast<size_t>(width_) * sizeof(float));
#pragma omp parallel for schedule(static) if (rows_.count() * width_ > 16384)
    for (int64_t s = 0; s < stripes_; ++s) add_stripe(width_ * s / stripes_, width_ * (s + 1) / stripes_);
  }

 private:
  void add_stripe(int64_t first, int64_t last) const {
    for (int64_t i = 0; i < rows_.count(); ++i) {
      const int64_t row = rows_.row(i);
      if (!rows_.is_here(row)) continue;
      const float* from = dy_.floats() + i * width_;
      float* to = dx_.floats() + row * width_;
      for (int64_t c = first; c < last; ++c) to[c] += from[c];
    }
  }

  PickedRows rows_;
  int64_t source_rows_, width_, stripes_;
  Slot dy_, dx_;
};

// A row is all that belongs to one place of the first dimension, whatever its layout.
class SwapAxes final : public Kernel {
 public:
  explicit SwapAxes(const KernelRequest& r)
      : a_(std::get<SwapAttributes>(r.op.attributes)),
        x_(r, r.op.inputs[0], 0),
        y_(r, r.op.outputs[0]),
        row_(stored_floats(r, r.op.outputs[0]) / (a_.outer * a_.inner)) {}
  int64_t workspace_bytes() const override { return x_.workspace_bytes(); }
  void bind(const Addresses& a) override {
    x_.bind(a);
    y_.bind(a);
  }
  void run() override {
    const float* x = x_.load();
    float* y = y_.floats();
#pragma omp parallel for schedule(static) if (a_.outer * a_.inner * row_ > 16384)
    for (int64_t i = 0; i < a_.inner; ++i)
      for (int64_t o = 0; o < a_.outer; ++o)
        std::memcpy(y + (i * a_.outer + o) * row_, x + (o * a_.inner + i) * row_,
                    static_cast<size_t>(row_) * sizeof(float));
  }

 private:
  SwapAttributes a_;
  BlockedImage x_;
  Slot y_;
  int64_t row_;
};

}  // namespace

std::unique_ptr<Kernel> gather_rows(const KernelRequest& r) { return std::make_unique<GatherRows>(r); }
std::unique_ptr<Kernel> gather_rows_backward(const KernelRequest& r) { return std::make_unique<GatherRowsBackward>(r); }
std::unique_ptr<Kernel> swap_axes(const KernelRequest& r) { return std::make_unique<SwapAxes>(r); }

}  // namespace gpusizer::cpu
