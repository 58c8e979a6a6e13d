// SPDX-License-Identifier: Apache-2.0
// Operations that pick or move whole rows: embeddings, masked positions, exchanged axes.
#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

// Which row of the source the result's row i is, by an index that counts in the source or inside a group of its rows.
int64_t picked_row(const Call& call, const GatherAttributes& a, const View<const double>& indices, int64_t source_rows,
                   int64_t i) {
  const int64_t first = i / a.group_indices * a.group_rows;
  const int64_t all = a.part ? a.all_rows : source_rows;
  const int64_t rows = a.group_rows > 0 ? std::min(a.group_rows, source_rows - first) : all;
  const double index = indices[i];
  if (!(index >= 0 && index < static_cast<double>(rows)))
    throw Error(Fault::input, fmt::format("index {} at place {} is not one of the {} rows", index, i, rows),
                call.operation->layer, "indices count from 0; give the model as many rows as the data refers to");
  return first + static_cast<int64_t>(index) - a.first;
}

int64_t numbered_row(const GatherAttributes& a, int64_t i) {
  const int64_t row = a.offset + i * a.stride;
  return a.period > 0 ? row % a.period : row;
}

// Calls visit(element of the picked rows, element of the source) for every element of every picked row that is here;
// the indices, if any, are the input of that number.
template <class Visit>
void for_each_pair(const Call& call, size_t indices, const Shape& source, Visit visit) {
  const auto& a = call.attributes<GatherAttributes>();
  for (int64_t i = 0; i < a.rows; ++i) {
    const bool given = call.inputs.size() > indices;
    const int64_t row = given ? picked_row(call, a, call.inputs[indices], source[0], i) : numbered_row(a, i);
    if (row < 0 || row >= source[0]) continue;  // in another part of the table
    for (int64_t h = 0; h < source[1]; ++h) visit(i * source[1] + h, row * source[1] + h);
  }
}

// (source [V, H] [, indices]) -> y [rows, H]
void rows(const Call& call) {
  if (call.attributes<GatherAttributes>().part) std::ranges::fill(call.outputs[0].values, 0.0);
  for_each_pair(call, 1, *call.inputs[0].shape,
                [&](int64_t picked, int64_t from) { call.outputs[0][picked] = call.inputs[0][from]; });
}

// (dy [rows, H], source's shape [, indices]) -> dsource [V, H]
void rows_backward(const Call& call) {
  std::ranges::fill(call.outputs[0].values, 0.0);
  for_each_pair(call, 2, *call.outputs[0].shape,
                [&](int64_t picked, int64_t to) { call.outputs[0][to] += call.inputs[0][picked]; });
}

// x [outer * inner, ...] -> y [inner * outer, ...]
void swap_axes(const Call& call) {
  const auto& a = call.attributes<SwapAttributes>();
  const auto& x = call.inputs[0];
  const int64_t row = x.size() / (a.outer * a.inner);
  for (int64_t o = 0; o < a.outer; ++o)
    for (int64_t i = 0; i < a.inner; ++i)
      for (int64_t h = 0; h < row; ++h) call.outputs[0][(i * a.outer + o) * row + h] = x[(o * a.inner + i) * row + h];
}

constexpr Kernel table[] = {
    {OpKind::gather_rows, rows},
    {OpKind::gather_rows_backward, rows_backward},
    {OpKind::swap_axes, swap_axes},
};

}  // namespace

std::span<const Kernel> gather() { return table; }

}  // namespace gpusizer::reference
