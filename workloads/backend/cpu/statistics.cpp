// SPDX-License-Identifier: Apache-2.0
// Batch normalisation whose statistics go over several ranks, in blocks of channels: what this rank's samples say, the
// result from what all ranks say, and the same in the backward. Sums are in float over one image, in double over
// images, and do not depend on the threads.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/own_kernel.hpp"

namespace gpusizer::cpu {

namespace {

// One number for each channel of a block.
template <int lanes>
using LaneSums = std::array<double, lanes>;
template <int lanes>
using LaneFactors = std::array<float, lanes>;

// Calls visit(block, number of lanes as a constant) for each block of channels; threads share the blocks.
template <class Visit>
void each_block(const BlockedShape& s, int lanes, Visit visit) {
#pragma omp parallel for schedule(static)
  for (int64_t block = 0; block < s.blocks; ++block) {
    if (lanes == 16)
      visit(block, std::integral_constant<int, 16>{});
    else
      visit(block, std::integral_constant<int, 8>{});
  }
}

// Walks one block of channels, pixel by pixel: visit(element of its first lane).
template <int lanes, class Visit>
void each_pixel(const BlockedShape& s, int64_t block, Visit visit) {
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t p = 0; p < s.spatial; ++p) visit(((n * s.blocks + block) * s.spatial + p) * lanes);
}

// Adds up value(element) over one block of channels.
template <int lanes, class Value>
LaneSums<lanes> block_sums(const BlockedShape& s, int64_t block, Value value) {
  LaneSums<lanes> all{};
  for (int64_t n = 0; n < s.batch; ++n) {
    float image[lanes] = {};
    const int64_t start = (n * s.blocks + block) * s.spatial * lanes;
    for (int64_t at = start; at < start + s.spatial * lanes; at += lanes) {
#pragma omp simd
      for (int i = 0; i < lanes; ++i) image[i] += value(at + i, i);
    }
    for (size_t i = 0; i < lanes; ++i) all[i] += double{image[i]};
  }
  return all;
}

double own_count(const BlockedShape& s) { return static_cast<double>(s.batch * s.spatial); }

// What the forward keeps: mean and inverse deviation of each (padded) channel, and over how many values.
struct KeptMoments {
  int64_t channels;

  KeptMoments(const BlockedShape& s, int64_t lanes) : channels(s.blocks * lanes) {}
  int64_t bytes() const { return aligned(2 * channels * 4) + 8; }
  float* mean(std::byte* p) const { return reinterpret_cast<float*>(p); }
  float* inverse_deviation(std::byte* p) const { return mean(p) + channels; }
  double* count(std::byte* p) const { return reinterpret_cast<double*>(p + aligned(2 * channels * 4)); }
};

// x -> [3, C]: count, mean, squared deviations; the mean first, so that no digits cancel
class BatchNormStatistics final : public Kernel {
 public:
  explicit BatchNormStatistics(const KernelRequest& r)
      : lanes_(r.engine.vector.lanes),
        shape_(blocked_shape(r, r.input(0).shape)),
        x_(r, r.op.inputs[0], 0),
        statistics_(r, r.op.outputs[0]) {}
  int64_t workspace_bytes() const override { return x_.workspace_bytes(); }
  void bind(const Addresses& a) override {
    x_.bind(a);
    statistics_.bind(a);
  }
  void run() override {
    const float* x = x_.load();
    each_block(shape_, lanes_, [&](int64_t block, auto lanes) { one_block<lanes()>(x, block); });
  }

 private:
  // As differences from the first pixel, and then from the mean, so that no digits cancel.
  template <int lanes>
  void one_block(const float* x, int64_t block) const {
    const float* origin = x + block * shape_.spatial * lanes;
    const auto sums = block_sums<lanes>(shape_, block, [&](int64_t at, int i) { return x[at] - origin[i]; });
    LaneFactors<lanes> mean;
    for (size_t i = 0; i < lanes; ++i) mean[i] = static_cast<float>(double{origin[i]} + sums[i] / own_count(shape_));
    const auto squares = block_sums<lanes>(shape_, block, [&](int64_t at, int i) {
      const float d = x[at] - mean[static_cast<size_t>(i)];
      return d * d;
    });
    float* out = statistics_.floats();
    for (int64_t i = 0, c = block * lanes; i < lanes && c < shape_.channels; ++i, ++c) {
      out[c] = static_cast<float>(own_count(shape_));
      out[shape_.channels + c] = mean[static_cast<size_t>(i)];
      out[2 * shape_.channels + c] = static_cast<float>(squares[static_cast<size_t>(i)]);
    }
  }

  int lanes_;
  BlockedShape shape_;
  BlockedImage x_;
  Slot statistics_;
};

struct JoinedMoments {
  double count = 0, mean = 0, squares = 0;

  // Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983.
  void add(double other_count, double other_mean, double other_squares) {
    const double distance = other_mean - mean, together = count + other_count;
    mean += distance * other_count / together;
    squares += other_squares + distance * distance * count * other_count / together;
    count = together;
  }
};

// (x, scale, shift, running_mean, running_variance, statistics) -> y, saved, running_mean, running_variance
class BatchNormApply final : public Kernel {
 public:
  explicit BatchNormApply(const KernelRequest& r)
      : lanes_(r.engine.vector.lanes),
        a_(std::get<NormAttributes>(r.op.attributes)),
        shape_(blocked_shape(r, r.input(0).shape)),
        ranks_(r.input(5).shape.size() == 3 ? r.input(5).shape[0] : 1),
        kept_(shape_, lanes_),
        x_(r, r.op.inputs[0], 0),
        scale_(r, r.op.inputs[1]),
        shift_(r, r.op.inputs[2]),
        running_mean_(r, r.op.inputs[3]),
        running_variance_(r, r.op.inputs[4]),
        statistics_(r, r.op.inputs[5]),
        y_(r, r.op.outputs[0]) {
    if (r.is_read(r.op.outputs[1])) saved_.emplace(r, r.op.outputs[1]);
  }
  int64_t workspace_bytes() const override { return kept_offset() + (saved_ ? 0 : kept_.bytes()); }
  int64_t saved_bytes() const override { return kept_.bytes(); }
  void bind(const Addresses& a) override {
    x_.bind(a);
    for (Slot* s : {&scale_, &shift_, &running_mean_, &running_variance_, &statistics_, &y_}) s->bind(a);
    if (saved_) saved_->bind(a);
    workspace_ = a.workspace;
  }
  void run() override {
    const float* x = x_.load();
    std::byte* kept = saved_ ? saved_->bytes() : workspace_ + kept_offset();
    settle_moments(kept);
    each_block(shape_, lanes_, [&](int64_t block, auto lanes) { one_block<lanes()>(x, kept, block); });
  }

 private:
  int64_t kept_offset() const { return aligned(x_.workspace_bytes()); }

  void settle_moments(std::byte* kept) const {
    const auto momentum = static_cast<float>(a_.momentum);
    float *mean = kept_.mean(kept), *inverse = kept_.inverse_deviation(kept);
    std::fill(mean, mean + 2 * kept_.channels, 0.f);
    for (int64_t c = 0; c < shape_.channels; ++c) {
      const JoinedMoments m = joined(c);
      mean[c] = static_cast<float>(m.mean);
      inverse[c] = static_cast<float>(1 / std::sqrt(m.squares / m.count + a_.epsilon));
      float &running = running_mean_.floats()[c], &variance = running_variance_.floats()[c];
      running += momentum * (mean[c] - running);
      variance += momentum * (static_cast<float>(m.squares / (m.count - 1)) - variance);
      *kept_.count(kept) = m.count;
    }
  }

  JoinedMoments joined(int64_t c) const {
    JoinedMoments all;
    for (int64_t rank = 0; rank < ranks_; ++rank) {
      const float* own = statistics_.floats() + rank * 3 * shape_.channels + c;
      all.add(double{own[0]}, double{own[shape_.channels]}, double{own[2 * shape_.channels]});
    }
    return all;
  }

  // Lanes beyond the last channel have the factor 0.
  template <int lanes>
  void one_block(const float* x, std::byte* kept, int64_t block) const {
    const float *mean = kept_.mean(kept) + block * lanes, *inverse = kept_.inverse_deviation(kept) + block * lanes;
    LaneFactors<lanes> factor{}, shift{};
    for (int64_t i = 0, c = block * lanes; i < lanes && c < shape_.channels; ++i, ++c) {
      factor[static_cast<size_t>(i)] = scale_.floats()[c] * inverse[i];
      shift[static_cast<size_t>(i)] = shift_.floats()[c];
    }
    float* y = y_.floats();
    each_pixel<lanes>(shape_, block, [&](int64_t at) {
#pragma omp simd
      for (size_t i = 0; i < lanes; ++i) {
        const auto e = at + static_cast<int64_t>(i);
        y[e] = (x[e] - mean[i]) * factor[i] + shift[i];
      }
    });
  }

  int lanes_;
  NormAttributes a_;
  BlockedShape shape_;
  int64_t ranks_;
  KeptMoments kept_;
  BlockedImage x_;
  Slot scale_, shift_, running_mean_, running_variance_, statistics_, y_;
  std::optional<Slot> saved_;  // empty: nothing reads it, so it stays in the workspace
  std::byte* workspace_ = nullptr;
};

// (dy, x, saved) -> [2, C]
class BatchNormSums final : public Kernel {
 public:
  explicit BatchNormSums(const KernelRequest& r)
      : lanes_(r.engine.vector.lanes),
        shape_(blocked_shape(r, r.input(1).shape)),
        kept_(shape_, lanes_),
        dy_(r, r.op.inputs[0]),
        x_(r, r.op.inputs[1], 0),
        saved_(r, r.op.inputs[2]),
        sums_(r, r.op.outputs[0]) {}
  int64_t workspace_bytes() const override { return x_.workspace_bytes(); }
  void bind(const Addresses& a) override {
    x_.bind(a);
    for (Slot* s : {&dy_, &saved_, &sums_}) s->bind(a);
  }
  void run() override {
    const float* x = x_.load();
    each_block(shape_, lanes_, [&](int64_t block, auto lanes) { one_block<lanes()>(x, block); });
  }

 private:
  template <int lanes>
  void one_block(const float* x, int64_t block) const {
    const float *mean = kept_.mean(saved_.bytes()) + block * lanes, *dy = dy_.floats();
    const auto sum = block_sums<lanes>(shape_, block, [&](int64_t at, int) { return dy[at]; });
    const auto product =
        block_sums<lanes>(shape_, block, [&](int64_t at, int i) { return dy[at] * (x[at] - mean[i]); });
    for (int64_t i = 0, c = block * lanes; i < lanes && c < shape_.channels; ++i, ++c) {
      const double inverse = double{kept_.inverse_deviation(saved_.bytes())[c]};
      sums_.floats()[c] = static_cast<float>(sum[static_cast<size_t>(i)]);
      sums_.floats()[shape_.channels + c] = static_cast<float>(product[static_cast<size_t>(i)] * inverse);
    }
  }

  int lanes_;
  BlockedShape shape_;
  KeptMoments kept_;
  Slot dy_;
  BlockedImage x_;
  Slot saved_, sums_;
};

// (dy, x, scale, saved, sums, all ranks' sums) -> dx, dscale, dshift
class BatchNormApplyBackward final : public Kernel {
 public:
  explicit BatchNormApplyBackward(const KernelRequest& r)
      : lanes_(r.engine.vector.lanes),
        shape_(blocked_shape(r, r.input(1).shape)),
        kept_(shape_, lanes_),
        dy_(r, r.op.inputs[0]),
        x_(r, r.op.inputs[1], 0),
        scale_(r, r.op.inputs[2]),
        saved_(r, r.op.inputs[3]),
        own_(r, r.op.inputs[4]),
        all_(r, r.op.inputs[5]),
        dx_(r, r.op.outputs[0]),
        dscale_(r, r.op.outputs[1]),
        dshift_(r, r.op.outputs[2]) {}
  int64_t workspace_bytes() const override { return x_.workspace_bytes(); }
  void bind(const Addresses& a) override {
    x_.bind(a);
    for (Slot* s : {&dy_, &scale_, &saved_, &own_, &all_, &dx_, &dscale_, &dshift_}) s->bind(a);
  }
  void run() override {
    const float* x = x_.load();
    std::copy_n(own_.floats(), shape_.channels, dshift_.floats());
    std::copy_n(own_.floats() + shape_.channels, shape_.channels, dscale_.floats());
    each_block(shape_, lanes_, [&](int64_t block, auto lanes) { one_block<lanes()>(x, block); });
  }

 private:
  // dx = g * a + (x - mean) * b + c for the lanes of a block; zero in lanes beyond the last channel.
  template <int lanes>
  void one_block(const float* x, int64_t block) const {
    const float *mean = kept_.mean(saved_.bytes()) + block * lanes, *dy = dy_.floats();
    const double count = *kept_.count(saved_.bytes());
    LaneFactors<lanes> a{}, b{}, shift{};
    for (int64_t lane = 0, c = block * lanes; lane < lanes && c < shape_.channels; ++lane, ++c) {
      const auto i = static_cast<size_t>(lane);
      const double inverse = double{kept_.inverse_deviation(saved_.bytes())[c]},
                   factor = double{scale_.floats()[c]} * inverse;
      a[i] = static_cast<float>(factor);
      b[i] = static_cast<float>(-factor * inverse * double{all_.floats()[shape_.channels + c]} / count);
      shift[i] = static_cast<float>(-factor * double{all_.floats()[c]} / count);
    }
    float* dx = dx_.floats();
    each_pixel<lanes>(shape_, block, [&](int64_t at) {
#pragma omp simd
      for (size_t i = 0; i < lanes; ++i) {
        const auto e = at + static_cast<int64_t>(i);
        dx[e] = dy[e] * a[i] + ((x[e] - mean[i]) * b[i] + shift[i]);
      }
    });
  }

  int lanes_;
  BlockedShape shape_;
  KeptMoments kept_;
  Slot dy_;
  BlockedImage x_;
  Slot scale_, saved_, own_, all_, dx_, dscale_, dshift_;
};

}  // namespace

std::unique_ptr<Kernel> batch_norm_statistics(const KernelRequest& r) {
  return std::make_unique<BatchNormStatistics>(r);
}
std::unique_ptr<Kernel> batch_norm_apply(const KernelRequest& r) { return std::make_unique<BatchNormApply>(r); }
std::unique_ptr<Kernel> batch_norm_sums(const KernelRequest& r) { return std::make_unique<BatchNormSums>(r); }
std::unique_ptr<Kernel> batch_norm_apply_backward(const KernelRequest& r) {
  return std::make_unique<BatchNormApplyBackward>(r);
}

}  // namespace gpusizer::cpu
