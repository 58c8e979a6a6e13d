// SPDX-License-Identifier: Apache-2.0
// Fully connected layers: y = x weight^T + bias, and their gradients.
#include <fmt/format.h>

#include "workloads/backend/cuda/module/kernels/bias.hpp"
#include "workloads/backend/cuda/module/kernels/columns.hpp"
#include "workloads/backend/cuda/module/matrix_product.hpp"
#include "workloads/backend/cuda/module/operations.hpp"

namespace gpusizer::cuda {

namespace {

// Both operands of a product must be as wide.
Element operand_element(const Request& r, size_t a, size_t b) {
  const Element one = element_of(r.input(a)), other = element_of(r.input(b));
  if (one != other)
    r.refuse(fmt::format("it multiplies {} and {}, which must be alike", to_string(r.input(a).dtype),
                         to_string(r.input(b).dtype)));
  return one;
}

Element result_element(const Request& r, size_t output) {
  const Element e = element_of(r.output(output));
  return e == Element::tf32 ? Element::f32 : e;
}

Launch product(const Place& place, const MatrixShape& shape, TensorId a, TensorId b, TensorId c) {
  const Libraries* libraries = &place.libraries;
  return work([=, a = place.bytes(a), b = place.bytes(b), c = place.bytes(c)](cudaStream_t stream) {
    multiply(*libraries, stream, shape, a, b, c);
  });
}

}  // namespace

// (x [N, in], weight [out, in] [, bias [out]]) -> y [N, out]
Prepared linear(const Request& r) {
  const int64_t rows = r.input(0).shape[0], in = r.input(1).shape[1], out = r.input(1).shape[0];
  const bool biased = r.op.inputs.size() > 2;
  const MatrixShape shape{.m = rows, .n = out, .k = in, .transpose_b = true, .operands = operand_element(r, 0, 1),
                          .result = result_element(r, 0), .beta = biased ? 1.f : 0.f};
  const Slot y(r, r.op.outputs[0]);
  const Slot bias = biased ? Slot(r, r.op.inputs[2]) : y;
  return {.bind = [=, x = r.op.inputs[0], w = r.op.inputs[1]](const Place& place) {
    const Libraries* libraries = &place.libraries;
    return work([=, x = place.bytes(x), w = place.bytes(w), y = y.at(place), bias = bias.at(place)](cudaStream_t stream) {
      if (biased) GPUSIZER_CHECK(fill_rows(y, bias, rows, out, stream));
      multiply(*libraries, stream, shape, x, w, y.data);
    });
  }};
}

// (dy, weight) -> dx
Prepared linear_backward_data(const Request& r) {
  const MatrixShape shape{.m = r.input(0).shape[0], .n = r.input(1).shape[1], .k = r.input(1).shape[0],
                          .operands = operand_element(r, 0, 1), .result = result_element(r, 0)};
  return {.bind = [=, dy = r.op.inputs[0], w = r.op.inputs[1], dx = r.op.outputs[0]](const Place& place) {
    return product(place, shape, dy, w, dx);
  }};
}

// (x, dy, weight's shape [, bias]) -> dw [, db]
Prepared linear_backward_weights(const Request& r) {
  const int64_t rows = r.input(0).shape[0], in = r.input(0).shape[1], out = r.input(1).shape[1];
  const MatrixShape shape{.m = out, .n = in, .k = rows, .transpose_a = true, .operands = operand_element(r, 0, 1),
                          .result = result_element(r, 0)};
  const TensorId x = r.op.inputs[0], dy = r.op.inputs[1], dw = r.op.outputs[0];
  if (r.op.outputs.size() == 1)
    return {.bind = [=](const Place& place) { return product(place, shape, dy, x, dw); }};
  const ColumnPlan plan(rows, out);
  const Slot gradient(r, dy), sums(r, r.op.outputs[1]);
  return {.workspace_bytes = plan.partial_floats(1) * 4, .bind = [=](const Place& place) {
    const Libraries* libraries = &place.libraries;
    return work([=, x = place.bytes(x), dy = gradient.at(place), dw = place.bytes(dw), db = sums.at(place),
                 partials = place.workspace_floats()](cudaStream_t stream) {
      multiply(*libraries, stream, shape, dy.data, x, dw);
      GPUSIZER_CHECK(column_sums(plan, dy, db, partials, stream));
    });
  }};
}

}  // namespace gpusizer::cuda
