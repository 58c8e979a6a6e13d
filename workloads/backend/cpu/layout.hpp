// SPDX-License-Identifier: Apache-2.0
// How the tensors of a program lie in memory on the CPU: images in blocks of channels, all else in rows.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "workloads/backend/cpu/onednn.hpp"
#include "workloads/program/program.hpp"

namespace gpusizer::cpu {

// Activations and gradients [N, C, H, W] lie as [N, C / b, H, W, b] with b channels side by side (b: the vector width in
// floats), channels padded with zeros to a multiple of b. So they go from operation to operation without reordering.
// Element types shorter than f32 are stored as f32 words, so they lie alike.
// Integers i8 and u8 of images lie with the channels side by side, [N, H, W, C]; their weights as oneDNN wants them.
// Weights of convolutions whose channels fill whole blocks, their gradients and their optimizer's state lie as
// [K / b, C / b, R, S, b (C), b (K)]. Bound inputs and everything else is row-major.
class Layouts {
 public:
  // Names of persistent tensors that lie as a convolution's weights do.
  using WeightNames = std::set<std::string, std::less<>>;

  // `weights`: those that lie so because of other programs that share them with this one.
  Layouts(const Program& program, int block, const WeightNames& weights = {});
  void add_weights(WeightNames& names) const;

  // How the tensor is stored. Not for opaque tensors.
  onednn::Desc stored(TensorId id) const;
  // The same bytes seen as a grouped convolution's weight [groups, K / groups, C / groups, R, S].
  onednn::Desc stored_weight(TensorId id, int64_t groups) const;
  // Row-major, as people and files see it.
  onednn::Desc plain(TensorId id) const;
  bool is_blocked(TensorId id) const { return kind_[static_cast<size_t>(id.index)] == Kind::blocked; }
  int block() const { return block_; }

 private:
  enum class Kind : uint8_t { plain, blocked, weight, channels_last, int8_weight };
  const Operation& int8_reader(TensorId weight) const;
  void classify(const WeightNames& weights);
  void follow_parameters();
  void follow_gradients();

  const Program& program_;
  int block_;
  std::vector<Kind> kind_;
};

int64_t round_up(int64_t value, int64_t multiple);
onednn::Dims dims(const Shape& shape);
onednn::Desc plain_desc(const Shape& shape);  // f32, row-major
onednn::Desc row_major_desc(const Shape& shape, DType dtype);
// [N, C, H, W] with the channels side by side.
onednn::Desc channels_last_desc(const Shape& shape, DType dtype);
// [N, C, H, W] in blocks of `block` channels.
onednn::Desc blocked_desc(const Shape& shape, int block);

}  // namespace gpusizer::cpu
