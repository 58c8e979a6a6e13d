// SPDX-License-Identifier: Apache-2.0
// Operations of cuDNN graphs that move or make values: another view of the same memory, and random numbers.
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "workloads/backend/cuda/emulated/dnn/tensor.hpp"

namespace gpusizer::emulated {
namespace {

// Positions (row-major) of a tensor's elements by their place in memory; -1 where there is none.
std::vector<int64_t> positions_in_memory(const DnnTensor& t) {
  std::vector<int64_t> positions(t.bytes() / element_bytes(t.type), -1);
  for_each_index(t.dims, [&](int64_t position, const Dims& index) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * t.strides[d];
    positions[static_cast<size_t>(offset)] = position;
  });
  return positions;
}

// A generator that answers for any place by itself, so that both ways of a graph see the same numbers. Not cuDNN's own
// generator: what depends on it can only be compared statistically.
double uniform_at(uint64_t seed, uint64_t offset, uint64_t place) {
  uint64_t z = seed * 0x9e3779b97f4a7c15u + offset * 0xd1342543de82ef95u + place + 1;
  for (int i = 0; i < 2; ++i) {
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
  }
  return static_cast<double>(z >> 11) * 0x1p-53;
}

uint64_t number_or_tensor(const DnnDescriptor& op, int name, GraphValues& values) {
  if (const DnnPointer tensor = op.descriptor(name))
    return static_cast<uint64_t>(values.get(tensor_of(*tensor)).front());
  return static_cast<uint64_t>(op.value<int64_t>(name));
}

}  // namespace

void run_reshape(const DnnDescriptor& op, GraphValues& values) {
  const DnnTensor x = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_RESHAPE_XDESC));
  DnnTensor y = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_RESHAPE_YDESC));
  if (x.count() != y.count()) throw std::runtime_error("a reshape keeps the number of elements");
  y.type = x.type;  // only places count here
  const std::vector<int64_t> from = positions_in_memory(x), to = positions_in_memory(y);
  const Values& source = values.get(x);
  Values result(source.size());
  for (size_t place = 0; place < to.size(); ++place) {
    if (to[place] < 0) continue;
    if (place >= from.size() || from[place] < 0) throw std::runtime_error("a reshape needs the same memory");
    result[static_cast<size_t>(to[place])] = source[static_cast<size_t>(from[place])];
  }
  values.put(tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_RESHAPE_YDESC)), std::move(result));
}

void run_rng(const DnnDescriptor& op, GraphValues& values) {
  const DnnTensor y = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_RNG_YDESC));
  const DnnDescriptor& rng = *op.descriptor(CUDNN_ATTR_OPERATION_RNG_DESC);
  const auto kind = rng.value<cudnnRngDistribution_t>(CUDNN_ATTR_RNG_DISTRIBUTION);
  const uint64_t seed = number_or_tensor(op, CUDNN_ATTR_OPERATION_RNG_SEED, values);
  const uint64_t offset = number_or_tensor(op, CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, values);
  Values result(static_cast<size_t>(y.count()));
  for (size_t i = 0; i < result.size(); ++i) {
    const double u = uniform_at(seed, offset, i);
    if (kind == CUDNN_RNG_DISTRIBUTION_BERNOULLI) {
      result[i] = u < rng.number(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.5) ? 1.0f : 0.0f;
    } else if (kind == CUDNN_RNG_DISTRIBUTION_UNIFORM) {
      const double low = rng.number(CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, 0);
      result[i] = static_cast<float>(low + u * (rng.number(CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, 1) - low));
    } else {
      const double v = uniform_at(~seed, offset, i);
      const double normal = std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * std::numbers::pi * v);
      result[i] = static_cast<float>(rng.number(CUDNN_ATTR_RNG_NORMAL_DIST_MEAN, 0) +
                                     normal * rng.number(CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, 1));
    }
  }
  values.put(y, std::move(result));
}

}  // namespace gpusizer::emulated
