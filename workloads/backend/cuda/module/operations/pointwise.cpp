// SPDX-License-Identifier: Apache-2.0
// Operations that look at one element at a time, and copies from one layout to another.
#include "workloads/backend/cuda/module/check.hpp"
#include "workloads/backend/cuda/module/kernels/dropout.hpp"
#include "workloads/backend/cuda/module/kernels/pointwise.hpp"
#include "workloads/backend/cuda/module/kernels/rows.hpp"
#include "workloads/backend/cuda/module/operations.hpp"
#include "workloads/program/dropout_mask.hpp"

namespace gpusizer::cuda {

namespace {

// y = what(inputs...), inputs by number.
Prepared pointwise_of(const Request& r, Pointwise what, std::vector<size_t> inputs, float factor = 1) {
  std::vector<Slot> operands;
  for (const size_t i : inputs) operands.emplace_back(r, r.op.inputs.at(i));
  const Slot y(r, r.op.outputs[0]);
  return {.bind = [=, count = element_count(r.output(0).shape)](const Place& place) {
    PointwiseCall call{.what = what, .y = y.at(place), .a = operands[0].at(place), .count = count, .factor = factor};
    if (operands.size() > 1) call.b = operands[1].at(place);
    if (operands.size() > 2) call.c = operands[2].at(place);
    return work([call](cudaStream_t stream) { GPUSIZER_CHECK(pointwise(call, stream)); });
  }};
}

// Only lowered programs come here, in which a ReLU's backward looks at its result.
void require_result(const Request& r, TensorId id) {
  if (r.program.tensor(id).dtype == DType::opaque) r.refuse("the ReLU's result is needed, not what it saved");
}

DropoutCall dropout_call(const Tensor& x, const DropoutAttributes& a) {
  DropoutCall call{.count = element_count(x.shape)};
  if (is_channels_last(x)) {
    call.channels = x.shape[1];
    call.pixels = x.shape[2] * x.shape[3];
  }
  call.draw = {nullptr, a.stream, dropout_mask::threshold(a.rate), static_cast<float>(dropout_mask::scale(a.rate))};
  return call;
}

}  // namespace

Prepared relu(const Request& r) { return pointwise_of(r, Pointwise::relu, {0}); }

Prepared relu_backward(const Request& r) {
  const int gradients = r.attributes<ReluAttributes>().gradients;
  require_result(r, r.op.inputs.back());
  if (gradients == 1) return pointwise_of(r, Pointwise::relu_backward, {0, 1});
  if (gradients > 2) r.refuse("more than two gradients are summed");
  return pointwise_of(r, Pointwise::relu_backward_sum, {0, 2, 1});
}

Prepared add(const Request& r) {
  const auto* a = std::get_if<AddAttributes>(&r.op.attributes);
  return pointwise_of(r, a && a->relu ? Pointwise::add_relu : Pointwise::add, {0, 1});
}

Prepared gelu(const Request& r) { return pointwise_of(r, Pointwise::gelu, {0}); }
Prepared gelu_backward(const Request& r) { return pointwise_of(r, Pointwise::gelu_backward, {0, 1}); }
Prepared hyperbolic_tangent(const Request& r) { return pointwise_of(r, Pointwise::tanh, {0}); }
Prepared tangent_backward(const Request& r) { return pointwise_of(r, Pointwise::tanh_backward, {0, 1}); }
Prepared cast(const Request& r) { return pointwise_of(r, Pointwise::copy, {0}); }
Prepared fork(const Request& r) { return pointwise_of(r, Pointwise::copy, {0}); }

Prepared scale(const Request& r) {
  const auto factor = static_cast<float>(r.attributes<ScaleAttributes>().factor);
  return pointwise_of(r, Pointwise::scale, {r.op.inputs.size() - 1}, factor);
}

Prepared scale_by(const Request& r) {
  const Slot x(r, r.op.inputs[0]), y(r, r.op.outputs[0]);
  return {.bind = [=, number = r.op.inputs[1], count = element_count(r.output(0).shape)](const Place& place) {
    PointwiseCall call{.what = Pointwise::scale_by, .y = y.at(place), .a = x.at(place), .count = count};
    call.number = place.floats(number);
    return work([call](cudaStream_t stream) { GPUSIZER_CHECK(pointwise(call, stream)); });
  }};
}

// Between an image, which lies with its channels innermost, and row-major rows.
Prepared flatten(const Request& r) {
  const bool from_image = is_channels_last(r.input(0)), to_image = is_channels_last(r.output(0));
  if (from_image == to_image) return pointwise_of(r, Pointwise::copy, {0});
  const ImageShape image = image_shape((from_image ? r.input(0) : r.output(0)).shape);
  const Slot x(r, r.op.inputs[0]), y(r, r.op.outputs[0]);
  return {.bind = [=](const Place& place) {
    const TransposeCall call{y.at(place), x.at(place), image.outer, from_image ? image.pixels : image.channels,
                             from_image ? image.channels : image.pixels};
    return work([call](cudaStream_t stream) { GPUSIZER_CHECK(transpose(call, stream)); });
  }};
}

// (x, random_state [, residual]) -> y, saved
Prepared drop(const Request& r) {
  const auto& a = r.attributes<DropoutAttributes>();
  const DropoutCall shape = dropout_call(r.input(0), a);
  const Slot x(r, r.op.inputs[0]), y(r, r.op.outputs[0]);
  const Slot residual = a.residual ? Slot(r, r.op.inputs[2]) : x;
  const bool keeps = r.is_read(r.op.outputs[1]);
  return {.saved_bytes = dropout_saved_bytes(shape.count),
          .bind = [=, adds = a.residual, state = r.op.inputs[1], saved = r.op.outputs[1]](const Place& place) {
            DropoutCall call = shape;
            call.x = x.at(place);
            call.y = y.at(place);
            if (adds) call.residual = residual.at(place);
            if (keeps) call.kept = reinterpret_cast<uint8_t*>(place.bytes(saved));
            call.draw.state = place.ints(state);
            return work([call](cudaStream_t stream) { GPUSIZER_CHECK(dropout(call, stream)); });
          }};
}

// (dy, saved) -> dx
Prepared drop_backward(const Request& r) {
  const DropoutCall shape = dropout_call(r.output(0), r.attributes<DropoutAttributes>());
  const Slot dy(r, r.op.inputs[0]), dx(r, r.op.outputs[0]);
  return {.bind = [=, saved = r.op.inputs[1]](const Place& place) {
    DropoutCall call = shape;
    call.x = dy.at(place);
    call.y = dx.at(place);
    call.kept = reinterpret_cast<uint8_t*>(place.bytes(saved));
    return work([call](cudaStream_t stream) { GPUSIZER_CHECK(dropout_backward(call, stream)); });
  }};
}

}  // namespace gpusizer::cuda
