// SPDX-License-Identifier: Apache-2.0
// Walks the runs of elements that a part consists of.
#include "workloads/program/part.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"

namespace gpusizer {

namespace {

void check(const Part& p) {
  const bool sound = p.axis >= 0 && p.axis < static_cast<int64_t>(p.whole.size()) && p.blocks > 0 && p.count > 0 &&
                     p.index >= 0 && p.index < p.count;
  if (!sound || p.whole[static_cast<size_t>(p.axis)] % (p.blocks * p.count) != 0)
    throw Error(Fault::usage, fmt::format("{} cannot be cut into {} parts of {} blocks along dimension {}",
                                          to_string(p.whole), p.count, p.blocks, p.axis));
}

// Calls `visit(offset in the whole, offset in the part, elements)` for each run.
template <class Visit>
void each_run(const Part& p, Visit visit) {
  check(p);
  int64_t outer = 1, inner = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(p.whole.size()); ++i)
    (i < p.axis ? outer : inner) *= i == p.axis ? 1 : p.whole[static_cast<size_t>(i)];
  const int64_t piece = p.whole[static_cast<size_t>(p.axis)] / (p.blocks * p.count) * inner;
  for (int64_t block = 0; block < outer * p.blocks; ++block)
    visit((block * p.count + p.index) * piece, block * piece, piece);
}

}  // namespace

Shape part_shape(const Part& part) {
  check(part);
  Shape shape = part.whole;
  shape[static_cast<size_t>(part.axis)] /= part.count;
  return shape;
}

std::vector<float> cut(const Part& part, std::span<const float> whole) {
  std::vector<float> values(static_cast<size_t>(element_count(part_shape(part))));
  each_run(part, [&](int64_t from, int64_t to, int64_t count) { std::copy_n(&whole[static_cast<size_t>(from)], count, &values[static_cast<size_t>(to)]); });
  return values;
}

void paste(const Part& part, std::span<const float> values, std::span<float> whole) {
  each_run(part, [&](int64_t to, int64_t from, int64_t count) { std::copy_n(&values[static_cast<size_t>(from)], count, &whole[static_cast<size_t>(to)]); });
}

}  // namespace gpusizer
