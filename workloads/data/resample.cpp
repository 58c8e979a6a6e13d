// SPDX-License-Identifier: Apache-2.0
// Bilinear interpolation: two rows are blended first (vector code), then columns are picked from the blend.
#include "workloads/data/resample.hpp"

#include <algorithm>
#include <cmath>

namespace gpusizer {

namespace {

// Two neighbours and how much of the second one an output pixel takes.
struct Tap {
  int64_t first, second;
  float share;
};

Tap tap_at(double position, int64_t size) {
  const double inside = std::clamp(position, 0.0, static_cast<double>(size - 1));
  const int64_t first = static_cast<int64_t>(inside);
  return {first, std::min(first + 1, size - 1), static_cast<float>(inside - static_cast<double>(first))};
}

std::vector<Tap> make_taps(double begin, double length, int64_t out_size, int64_t size, bool mirrored) {
  std::vector<Tap> taps(static_cast<size_t>(out_size));
  const double step = length / static_cast<double>(out_size);
  for (int64_t i = 0; i < out_size; ++i) {
    const int64_t at = mirrored ? out_size - 1 - i : i;
    taps[static_cast<size_t>(i)] = tap_at(begin + (static_cast<double>(at) + 0.5) * step - 0.5, size);
  }
  return taps;
}

}  // namespace

void resample(const PixelRows& rows, int64_t out_width, int64_t out_height, std::span<const float> scale,
              std::span<const float> offset, float* image) {
  std::vector<Tap> columns = make_taps(rows.crop.left, rows.crop.width, out_width, rows.width, rows.crop.mirrored);
  const std::vector<Tap> lines = make_taps(rows.crop.top, rows.crop.height, out_height, rows.height, false);
  const int64_t low = std::min(columns.front().first, columns.back().first);
  const int64_t high = std::max(columns.front().second, columns.back().second);
  for (Tap& column : columns) column = {column.first - low, column.second - low, column.share};
  const int64_t channels = rows.channels, begin = low * channels;
  const int64_t needed = (high - low + 1) * channels;  // values of a row that any column uses
  std::vector<float> blend(static_cast<size_t>(needed));
  for (int64_t y = 0; y < out_height; ++y) {
    const Tap& line = lines[static_cast<size_t>(y)];
    const uint8_t* upper = rows.bytes.data() + line.first * rows.width * channels + begin;
    const uint8_t* lower = rows.bytes.data() + line.second * rows.width * channels + begin;
    for (int64_t i = 0; i < needed; ++i) {
      const float above = static_cast<float>(upper[i]), below = static_cast<float>(lower[i]);
      blend[static_cast<size_t>(i)] = above + (below - above) * line.share;
    }
    for (int64_t channel = 0; channel < channels; ++channel) {
      const float channel_scale = scale[static_cast<size_t>(channel)],
                  channel_offset = offset[static_cast<size_t>(channel)];
      const float* values = blend.data() + channel;
      float* out = image + (channel * out_height + y) * out_width;
      for (int64_t x = 0; x < out_width; ++x) {
        const Tap& column = columns[static_cast<size_t>(x)];
        const float left = values[column.first * channels], right = values[column.second * channels];
        out[x] = (left + (right - left) * column.share) * channel_scale + channel_offset;
      }
    }
  }
}

}  // namespace gpusizer
