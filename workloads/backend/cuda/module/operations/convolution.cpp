// SPDX-License-Identifier: Apache-2.0
// Convolutions as matrix products of their windows: the form that is taken where cuDNN has no plan.
#include <fmt/format.h>

#include "workloads/backend/cuda/module/kernels/bias.hpp"
#include "workloads/backend/cuda/module/kernels/columns.hpp"
#include "workloads/backend/cuda/module/kernels/pointwise.hpp"
#include "workloads/backend/cuda/module/kernels/windows.hpp"
#include "workloads/backend/cuda/module/matrix_product.hpp"
#include "workloads/backend/cuda/module/operations.hpp"

namespace gpusizer::cuda {

namespace {

// The sizes of one convolution: x [N, H, W, C], weight [K, R, S, C / groups], y [N, P, Q, K].
struct Geometry {
  Windows windows;
  int64_t features = 0;  // of y
  Element element = Element::f32;

  Geometry(const Request& r, const Shape& x, const Shape& weight, const Shape& y, Element e) : features(y[1]), element(e) {
    const auto& a = r.attributes<ConvAttributes>();
    windows = {x[0], x[2], x[3], x[1], y[2], y[3], weight[2], weight[3], a.stride, a.padding, a.groups};
  }
  int64_t rows() const { return windows.results(); }
  int64_t group_features() const { return features / windows.groups; }
  int64_t group_columns() const { return windows.taps() * windows.channels / windows.groups; }
  int64_t columns() const { return group_columns() * windows.groups; }
  // Whether the image is the matrix of its windows already.
  bool is_pointwise() const { return windows.taps() == 1 && windows.stride == 1 && windows.padding == 0; }
  int64_t column_bytes(int64_t element_bytes) const { return is_pointwise() ? 0 : aligned(rows() * columns() * element_bytes); }
  int64_t short_columns() const { return column_bytes(bytes_of(element)); }
};

Element common_element(const Request& r, size_t a, size_t b) {
  const Element one = element_of(r.input(a)), other = element_of(r.input(b));
  if (one != other)
    r.refuse(fmt::format("it multiplies {} and {}, which must be alike", to_string(r.input(a).dtype),
                         to_string(r.input(b).dtype)));
  return one;
}

Element plain(Element e) { return e == Element::tf32 ? Element::f32 : e; }

std::byte* moved(void* data, int64_t elements, Element e) { return static_cast<std::byte*>(data) + elements * bytes_of(e); }

// y = columns weight^T, group by group; `beta` 1 keeps what y is before.
void forward_products(const Geometry& g, const Libraries& libraries, cudaStream_t stream, const Array& columns,
                      const Array& weight, const Array& y, float beta) {
  const MatrixShape shape{.m = g.rows(), .n = g.group_features(), .k = g.group_columns(), .transpose_b = true,
                          .operands = g.element, .result = plain(y.element), .stride_a = g.columns(),
                          .stride_c = g.features, .beta = beta};
  for (int64_t i = 0; i < g.windows.groups; ++i)
    multiply(libraries, stream, shape, moved(columns.data, i * g.group_columns(), columns.element),
             moved(weight.data, i * g.group_features() * g.group_columns(), weight.element),
             moved(y.data, i * g.group_features(), y.element));
}

// columns = dy weight
void data_products(const Geometry& g, const Libraries& libraries, cudaStream_t stream, const Array& dy,
                   const Array& weight, const Array& columns) {
  const MatrixShape shape{.m = g.rows(), .n = g.group_columns(), .k = g.group_features(), .operands = g.element,
                          .result = plain(columns.element), .stride_a = g.features, .stride_c = g.columns()};
  for (int64_t i = 0; i < g.windows.groups; ++i)
    multiply(libraries, stream, shape, moved(dy.data, i * g.group_features(), dy.element),
             moved(weight.data, i * g.group_features() * g.group_columns(), weight.element),
             moved(columns.data, i * g.group_columns(), columns.element));
}

// dweight = dy^T columns
void weight_products(const Geometry& g, const Libraries& libraries, cudaStream_t stream, const Array& dy,
                     const Array& columns, const Array& dweight) {
  const MatrixShape shape{.m = g.group_features(), .n = g.group_columns(), .k = g.rows(), .transpose_a = true,
                          .operands = g.element, .result = plain(dweight.element), .stride_a = g.features,
                          .stride_b = g.columns()};
  for (int64_t i = 0; i < g.windows.groups; ++i)
    multiply(libraries, stream, shape, moved(dy.data, i * g.group_features(), dy.element),
             moved(columns.data, i * g.group_columns(), columns.element),
             moved(dweight.data, i * g.group_features() * g.group_columns(), dweight.element));
}

}  // namespace

// (x, weight [, bias]) -> y
Prepared convolution(const Request& r) {
  const Geometry g(r, r.input(0).shape, r.input(1).shape, r.output(0).shape, common_element(r, 0, 1));
  const bool biased = r.op.inputs.size() > 2, relu = r.attributes<ConvAttributes>().relu;
  const Slot x(r, r.op.inputs[0]), weight(r, r.op.inputs[1]), y(r, r.op.outputs[0]);
  const Slot bias = biased ? Slot(r, r.op.inputs[2]) : y;
  return {.workspace_bytes = g.short_columns(), .bind = [=](const Place& place) {
    const Libraries* libraries = &place.libraries;
    const Array columns{g.is_pointwise() ? x.at(place).data : place.workspace, x.element};
    return work([=, x = x.at(place), w = weight.at(place), y = y.at(place), bias = bias.at(place)](cudaStream_t stream) {
      if (!g.is_pointwise()) GPUSIZER_CHECK(image_to_columns(g.windows, x, columns, stream));
      if (biased) GPUSIZER_CHECK(fill_rows(y, bias, g.rows(), g.features, stream));
      forward_products(g, *libraries, stream, columns, w, y, biased ? 1 : 0);
      const PointwiseCall clip{.what = Pointwise::relu, .y = y, .a = y, .count = g.rows() * g.features};
      if (relu) GPUSIZER_CHECK(pointwise(clip, stream));
    });
  }};
}

// (dy, weight) -> dx
Prepared convolution_backward_data(const Request& r) {
  const Geometry g(r, r.output(0).shape, r.input(1).shape, r.input(0).shape, common_element(r, 0, 1));
  const Slot dy(r, r.op.inputs[0]), weight(r, r.op.inputs[1]), dx(r, r.op.outputs[0]);
  return {.workspace_bytes = g.column_bytes(4), .bind = [=](const Place& place) {
    const Libraries* libraries = &place.libraries;
    const Array columns = g.is_pointwise() ? dx.at(place) : Array{place.workspace, Element::f32};
    return work([=, dy = dy.at(place), w = weight.at(place), dx = dx.at(place)](cudaStream_t stream) {
      data_products(g, *libraries, stream, dy, w, columns);
      if (!g.is_pointwise()) GPUSIZER_CHECK(columns_to_image(g.windows, columns, dx, stream));
    });
  }};
}

// (x, dy, weight's shape [, bias]) -> dw [, db]
Prepared convolution_backward_weights(const Request& r) {
  const Geometry g(r, r.input(0).shape, r.output(0).shape, r.input(1).shape, common_element(r, 0, 1));
  const bool biased = r.op.outputs.size() > 1;
  const ColumnPlan plan(g.rows(), g.features);
  const Slot x(r, r.op.inputs[0]), dy(r, r.op.inputs[1]), dw(r, r.op.outputs[0]);
  const Slot db = biased ? Slot(r, r.op.outputs[1]) : dw;
  return {.workspace_bytes = g.short_columns() + (biased ? plan.partial_floats(1) * 4 : 0), .bind = [=](const Place& place) {
    const Libraries* libraries = &place.libraries;
    const Array columns{g.is_pointwise() ? x.at(place).data : place.workspace, x.element};
    auto* partials = reinterpret_cast<float*>(place.workspace + g.short_columns());
    return work([=, x = x.at(place), dy = dy.at(place), dw = dw.at(place), db = db.at(place)](cudaStream_t stream) {
      if (!g.is_pointwise()) GPUSIZER_CHECK(image_to_columns(g.windows, x, columns, stream));
      weight_products(g, *libraries, stream, dy, columns, dw);
      if (biased) GPUSIZER_CHECK(column_sums(plan, dy, db, partials, stream));
    });
  }};
}

}  // namespace gpusizer::cuda
