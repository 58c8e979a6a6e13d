// SPDX-License-Identifier: Apache-2.0
// The parts that all sources share: the check of the index, and shapes in words.
#include "workloads/data/sample_source.hpp"

#include <fmt/format.h>

#include "gpusizer/error.hpp"

namespace gpusizer {

std::string ImageShape::text() const { return fmt::format("{}x{}x{}", channels, height, width); }

void SampleSource::read(int64_t index, const SampleContext& context, std::span<void* const> values) const {
  if (index < 0 || index >= size())
    throw Error(Fault::failed, fmt::format("sample {} was asked for, but there are {}", index, size()), name());
  read_sample(index, context, values);
}

}  // namespace gpusizer
