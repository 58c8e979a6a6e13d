// SPDX-License-Identifier: Apache-2.0
// Tensors of a step program: a name, a shape, an element type and the part the tensor plays in a training step.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpusizer {

using Shape = std::vector<int64_t>;  // outermost dimension first; images are N, C, H, W; {} is a scalar

// Number of elements; 1 for a scalar.
int64_t element_count(const Shape& shape);
// "[8, 64, 56, 56]"
std::string to_string(const Shape& shape);

enum class DType : uint8_t {
  f32,
  f16,
  bf16,
  tf32,  // four bytes of which ten bits of the mantissa count: what tensor cores read of f32 operands
  i32,
  i8,  // integers that stand for real numbers by a scale: see QuantizeAttributes
  u8,
  opaque,  // what a backend keeps between a forward operation and its backward; lowering decides form and size
};
std::string_view to_string(DType dtype);
int64_t element_bytes(DType dtype);  // 0 for opaque

enum class Role : uint8_t {
  input,            // bound anew at every step: samples, labels
  scalar,           // bound when it changes: learning rate, random state
  parameter,        // trained; lives from step to step
  state,            // not trained but lives from step to step: running statistics
  optimizer_state,  // lives from step to step: momentum
  activation,       // made in the forward phase
  saved,            // made in the forward phase for one backward operation only
  gradient,         // made in the backward phase
};
std::string_view to_string(Role role);
// Whether a tensor of this role keeps its value from one step to the next.
bool is_persistent(Role role);

// How a persistent tensor starts. Random values depend on (seed, tensor name, element) alone, so that they are the
// same whatever the backend, the layout or the number of ranks.
struct Initializer {
  enum class Kind : uint8_t { constant, normal, uniform } kind = Kind::constant;
  double value = 0;  // the constant, the standard deviation, or the bound of [-value, value)
};

struct TensorId {
  int32_t index = -1;
  friend auto operator<=>(TensorId, TensorId) = default;
};

// Which part of a whole tensor a rank holds where a layout splits it: along `axis` the whole consists of `blocks` equal
// blocks (query, key and value, say), each is cut into `count` equal pieces, and the rank holds piece `index` of each.
struct Part {
  Shape whole;
  int64_t axis = 0, blocks = 1, index = 0, count = 1;

  bool operator==(const Part&) const = default;
};

struct Tensor {
  TensorId id;
  std::string name;  // unique in its program; parameters are named as PyTorch names them: "layer1.0.conv1.weight"
  Shape shape;
  DType dtype = DType::f32;
  Role role = Role::activation;
  Initializer initial;  // persistent tensors only
  std::optional<Part> part{};  // persistent tensors that are split among ranks: the name is the whole tensor's
};

}  // namespace gpusizer
