// SPDX-License-Identifier: Apache-2.0
// Pointwise operations of cuDNN graphs, with broadcasting, and the gradients of activations.
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "workloads/backend/cuda/emulated/dnn/tensor.hpp"

namespace gpusizer::emulated {
namespace {

struct Mode {
  cudnnPointwiseMode_t mode;
  double lower_clip, upper_clip, lower_slope, elu_alpha, softplus_beta, swish_beta;
  int64_t axis;
};

Mode mode_of(const DnnDescriptor& pointwise) {
  return {pointwise.value<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE),
          pointwise.number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0),
          pointwise.number(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, 3.4e38),
          pointwise.number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0),
          pointwise.number(CUDNN_ATTR_POINTWISE_ELU_ALPHA, 1),
          pointwise.number(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, 1),
          pointwise.number(CUDNN_ATTR_POINTWISE_SWISH_BETA, 1),
          pointwise.value<int64_t>(CUDNN_ATTR_POINTWISE_AXIS)};
}

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float normal_below(float x) { return 0.5f * std::erfc(-x * std::numbers::sqrt2_v<float> / 2); }
float normal_density(float x) {
  return std::exp(-0.5f * x * x) * std::numbers::inv_sqrtpi_v<float> / std::numbers::sqrt2_v<float>;
}
const float tanh_root = std::sqrt(2.0f * std::numbers::inv_pi_v<float>);
float tanh_inner(float x) { return std::tanh(tanh_root * (x + 0.044715f * x * x * x)); }

float one_input(const Mode& m, float x) {
  switch (m.mode) {
    case CUDNN_POINTWISE_ABS:
      return std::fabs(x);
    case CUDNN_POINTWISE_CEIL:
      return std::ceil(x);
    case CUDNN_POINTWISE_COS:
      return std::cos(x);
    case CUDNN_POINTWISE_EXP:
      return std::exp(x);
    case CUDNN_POINTWISE_FLOOR:
      return std::floor(x);
    case CUDNN_POINTWISE_LOG:
      return std::log(x);
    case CUDNN_POINTWISE_NEG:
      return -x;
    case CUDNN_POINTWISE_RSQRT:
      return 1.0f / std::sqrt(x);
    case CUDNN_POINTWISE_SIN:
      return std::sin(x);
    case CUDNN_POINTWISE_SQRT:
      return std::sqrt(x);
    case CUDNN_POINTWISE_TAN:
      return std::tan(x);
    case CUDNN_POINTWISE_ERF:
      return std::erf(x);
    case CUDNN_POINTWISE_IDENTITY:
      return x;
    case CUDNN_POINTWISE_RECIPROCAL:
      return 1.0f / x;
    case CUDNN_POINTWISE_LOGICAL_NOT:
      return x == 0 ? 1.0f : 0.0f;
    case CUDNN_POINTWISE_RELU_FWD: {
      const auto low = static_cast<float>(m.lower_clip), high = static_cast<float>(m.upper_clip);
      return x < low ? low + static_cast<float>(m.lower_slope) * (x - low) : x > high ? high : x;
    }
    case CUDNN_POINTWISE_TANH_FWD:
      return std::tanh(x);
    case CUDNN_POINTWISE_SIGMOID_FWD:
      return sigmoid(x);
    case CUDNN_POINTWISE_ELU_FWD:
      return x > 0 ? x : static_cast<float>(m.elu_alpha) * std::expm1(x);
    case CUDNN_POINTWISE_GELU_FWD:
      return x * normal_below(x);
    case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD:
      return 0.5f * x * (1.0f + tanh_inner(x));
    case CUDNN_POINTWISE_SOFTPLUS_FWD: {
      const auto beta = static_cast<float>(m.softplus_beta);
      return std::log1p(std::exp(beta * x)) / beta;
    }
    case CUDNN_POINTWISE_SWISH_FWD:
      return x * sigmoid(static_cast<float>(m.swish_beta) * x);
    default:
      throw std::runtime_error("pointwise mode " + std::to_string(m.mode) + " is not emulated");
  }
}

bool is_of_two_inputs(cudnnPointwiseMode_t mode) {
  const bool arithmetic = mode <= CUDNN_POINTWISE_SUB && mode != CUDNN_POINTWISE_SQRT;
  const bool logic = mode == CUDNN_POINTWISE_LOGICAL_AND || mode == CUDNN_POINTWISE_LOGICAL_OR;
  return arithmetic || logic || mode == CUDNN_POINTWISE_ATAN2 ||
         (mode >= CUDNN_POINTWISE_CMP_EQ && mode <= CUDNN_POINTWISE_CMP_LE);
}

float two_inputs(cudnnPointwiseMode_t mode, float x, float b) {
  switch (mode) {
    case CUDNN_POINTWISE_ADD:
      return x + b;
    case CUDNN_POINTWISE_ADD_SQUARE:
      return x + b * b;
    case CUDNN_POINTWISE_DIV:
      return x / b;
    case CUDNN_POINTWISE_MAX:
      return std::fmax(x, b);
    case CUDNN_POINTWISE_MIN:
      return std::fmin(x, b);
    case CUDNN_POINTWISE_MOD:
      return std::fmod(x, b);
    case CUDNN_POINTWISE_MUL:
      return x * b;
    case CUDNN_POINTWISE_POW:
      return std::pow(x, b);
    case CUDNN_POINTWISE_SUB:
      return x - b;
    case CUDNN_POINTWISE_ATAN2:
      return std::atan2(x, b);
    case CUDNN_POINTWISE_CMP_EQ:
      return x == b ? 1.0f : 0.0f;
    case CUDNN_POINTWISE_CMP_NEQ:
      return x != b ? 1.0f : 0.0f;
    case CUDNN_POINTWISE_CMP_GT:
      return x > b ? 1.0f : 0.0f;
    case CUDNN_POINTWISE_CMP_GE:
      return x >= b ? 1.0f : 0.0f;
    case CUDNN_POINTWISE_CMP_LT:
      return x < b ? 1.0f : 0.0f;
    case CUDNN_POINTWISE_CMP_LE:
      return x <= b ? 1.0f : 0.0f;
    case CUDNN_POINTWISE_LOGICAL_AND:
      return x != 0 && b != 0 ? 1.0f : 0.0f;
    default:
      return x != 0 || b != 0 ? 1.0f : 0.0f;
  }
}

// The derivative by the forward input x.
float slope(const Mode& m, float x) {
  switch (m.mode) {
    case CUDNN_POINTWISE_RELU_BWD:
      if (x > static_cast<float>(m.upper_clip)) return 0;
      return x > static_cast<float>(m.lower_clip) ? 1.0f : static_cast<float>(m.lower_slope);
    case CUDNN_POINTWISE_TANH_BWD:
      return 1.0f - std::tanh(x) * std::tanh(x);
    case CUDNN_POINTWISE_SIGMOID_BWD:
      return sigmoid(x) * (1.0f - sigmoid(x));
    case CUDNN_POINTWISE_ELU_BWD:
      return x > 0 ? 1.0f : static_cast<float>(m.elu_alpha) * std::exp(x);
    case CUDNN_POINTWISE_GELU_BWD:
      return normal_below(x) + x * normal_density(x);
    case CUDNN_POINTWISE_GELU_APPROX_TANH_BWD: {
      const float t = tanh_inner(x);
      return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * tanh_root * (1.0f + 3 * 0.044715f * x * x);
    }
    case CUDNN_POINTWISE_SOFTPLUS_BWD:
      return sigmoid(static_cast<float>(m.softplus_beta) * x);
    case CUDNN_POINTWISE_SWISH_BWD: {
      const auto beta = static_cast<float>(m.swish_beta);
      return sigmoid(beta * x) * (1.0f + beta * x * (1.0f - sigmoid(beta * x)));
    }
    default:
      throw std::runtime_error("pointwise mode " + std::to_string(m.mode) + " is not emulated");
  }
}

// An input as it appears at each element of the output.
struct Operand {
  const Values* values = nullptr;
  Dims dims;
  float scale = 1;
  float at(int64_t position, const Dims& index, const Dims& result) const {
    const int64_t own = dims == result ? position : broadcast_position(dims, index, result);
    return scale * (*values)[static_cast<size_t>(own)];
  }
};

Operand operand_of(const DnnDescriptor& op, int name, GraphValues& values, double scale = 1) {
  const DnnPointer descriptor = op.descriptor(name);
  if (!descriptor) return {};
  const DnnTensor tensor = tensor_of(*descriptor);
  return {&values.get(tensor), tensor.dims, static_cast<float>(scale)};
}

void run_gradient(const DnnDescriptor& op, const Mode& mode, GraphValues& values) {
  const DnnTensor dx = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC));
  const Operand x = operand_of(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, values);
  const Operand dy = operand_of(op, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, values);
  if (!x.values || !dy.values) throw std::runtime_error("a gradient needs the forward input and dy");
  Values result(static_cast<size_t>(dx.count()));
  for_each_index(dx.dims, [&](int64_t i, const Dims& index) {
    result[static_cast<size_t>(i)] = slope(mode, x.at(i, index, dx.dims)) * dy.at(i, index, dx.dims);
  });
  values.put(dx, std::move(result));
}

}  // namespace

void run_pointwise(const DnnDescriptor& op, GraphValues& values) {
  const Mode mode = mode_of(*op.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR));
  if (op.has(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC)) return run_gradient(op, mode, values);
  const DnnTensor y = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
  const Operand x =
      operand_of(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, values, op.number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1));
  const Operand b =
      operand_of(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, values, op.number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1));
  const Operand t = operand_of(op, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, values);
  const bool two = is_of_two_inputs(mode.mode), select = mode.mode == CUDNN_POINTWISE_BINARY_SELECT;
  if (!x.values || ((two || select) && !b.values) || (select && !t.values))
    throw std::runtime_error("a pointwise operation lacks an input");
  Values result(static_cast<size_t>(y.count()));
  for_each_index(y.dims, [&](int64_t i, const Dims& index) {
    float& to = result[static_cast<size_t>(i)];
    if (mode.mode == CUDNN_POINTWISE_GEN_INDEX) {
      to = static_cast<float>(index[static_cast<size_t>(mode.axis)]);
    } else if (select) {
      to = (t.at(i, index, y.dims) != 0 ? x : b).at(i, index, y.dims);
    } else {
      const float value = x.at(i, index, y.dims);
      to = two ? two_inputs(mode.mode, value, b.at(i, index, y.dims)) : one_input(mode, value);
    }
  });
  values.put(y, std::move(result));
}

}  // namespace gpusizer::emulated
