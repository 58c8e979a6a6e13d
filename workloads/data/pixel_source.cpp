// SPDX-License-Identifier: Apache-2.0
// Padding, shifting, mirroring and normalising small images: one pass from bytes to floats, row by row.
#include "workloads/data/pixel_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "workloads/data/sample_random.hpp"

namespace gpusizer {

namespace {

std::string describe(const ImageShape& stored, const ImageShape& shape, const Normalisation& normalisation,
                     const Augmentation& augmentation) {
  std::string text = stored == shape ? stored.text() : fmt::format("{} padded to {}", stored.text(), shape.text());
  text += fmt::format("; mean {:.4f}, deviation {:.4f} ({})", fmt::join(normalisation.mean, " "),
                      fmt::join(normalisation.deviation, " "), normalisation.origin);
  if (augmentation.most_shift > 0) text += fmt::format("; training may shift by {} pixels", augmentation.most_shift);
  if (augmentation.flip) text += "; training may mirror";
  return text;
}

SourceFacts complete(SourceFacts facts, const PixelTable& table, const Normalisation& normalisation,
                     const Augmentation& augmentation, const DataOptions& options) {
  check_classes(facts.classes, options.classes, facts.name);
  facts.size = static_cast<int64_t>(table.labels.size());
  facts.shape = fit_shape(table.shape, options.wanted, facts.name);
  facts.preparation = describe(table.shape, facts.shape, normalisation, augmentation);
  return facts;
}

// Two plain loops, so that the compiler makes vector code of both.
void convert_row(const uint8_t* bytes, int64_t count, float scale, float offset, bool mirrored, float* values) {
  if (mirrored) {
    for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(bytes[count - 1 - i]) * scale + offset;
  } else {
    for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(bytes[i]) * scale + offset;
  }
}

// Where the stored image comes to lie in the one handed out; it may stick out on every side.
struct Placement {
  int64_t top = 0, left = 0;
  bool mirrored = false;
};

Placement place(const ImageShape& stored, const ImageShape& shape, const Augmentation& augmentation, bool augment,
                SampleRandom random) {
  Placement placement{(shape.height - stored.height) / 2, (shape.width - stored.width) / 2, false};
  if (!augment) return placement;
  const int64_t most = augmentation.most_shift;
  placement.top += random.below(2 * most + 1) - most;
  placement.left += random.below(2 * most + 1) - most;
  placement.mirrored = augmentation.flip && random.coin();
  return placement;
}

// One channel: black all around, the stored rows where they belong.
void convert_plane(const uint8_t* bytes, const ImageShape& stored, const ImageShape& shape, const Placement& placement,
                   float scale, float black, float* values) {
  const int64_t first = std::max<int64_t>(0, placement.left);                 // first and one past the last
  const int64_t last = std::min(shape.width, placement.left + stored.width);  // column that gets pixels
  const int64_t skipped = placement.mirrored ? placement.left + stored.width - last : first - placement.left;
  for (int64_t y = 0; y < shape.height; ++y, values += shape.width) {
    const int64_t row = y - placement.top;
    if (row < 0 || row >= stored.height || first >= last) {
      std::fill_n(values, shape.width, black);
      continue;
    }
    std::fill(values, values + first, black);
    convert_row(bytes + row * stored.width + skipped, last - first, scale, black, placement.mirrored, values + first);
    std::fill(values + last, values + shape.width, black);
  }
}

}  // namespace

Normalisation measure_normalisation(const PixelTable& table, std::string origin) {
  Normalisation result{{}, {}, std::move(origin)};
  const int64_t plane = table.shape.height * table.shape.width;
  const int64_t images = static_cast<int64_t>(table.labels.size());
  for (int64_t channel = 0; channel < table.shape.channels; ++channel) {
    std::array<int64_t, 256> counts{};
    for (int64_t image = 0; image < images; ++image) {
      const uint8_t* pixels = table.pixels.data() + (image * table.shape.channels + channel) * plane;
      for (int64_t i = 0; i < plane; ++i) ++counts[pixels[i]];
    }
    double sum = 0, squares = 0;
    for (size_t byte = 0; byte < counts.size(); ++byte) {
      const double value = static_cast<double>(byte) / 255, count = static_cast<double>(counts[byte]);
      sum += value * count;
      squares += value * value * count;
    }
    const double total = static_cast<double>(images * plane), mean = sum / total;
    const double deviation = std::sqrt(std::max(0.0, squares / total - mean * mean));
    result.mean.push_back(mean);
    result.deviation.push_back(deviation > 1e-6 ? deviation : 1.0);  // images of one colour are only centred
  }
  return result;
}

PixelSource::PixelSource(SourceFacts facts, PixelTable table, Normalisation normalisation, Augmentation augmentation,
                         const DataOptions& options)
    : ImageSource(complete(std::move(facts), table, normalisation, augmentation, options)),
      table_(std::move(table)),
      augmentation_(augmentation) {
  for (int64_t channel = 0; channel < shape().channels; ++channel) {
    const size_t stored = table_.shape.channels == 1 ? 0 : static_cast<size_t>(channel);
    const double mean = normalisation.mean[stored], deviation = normalisation.deviation[stored];
    scale_.push_back(static_cast<float>(1 / (255 * deviation)));
    offset_.push_back(static_cast<float>(-mean / deviation));
  }
}

void PixelSource::read_image(int64_t index, const SampleContext& context, float* image, int32_t& label) const {
  const Placement placement =
      place(table_.shape, shape(), augmentation_, context.augment, SampleRandom(context.seed, context.epoch, index));
  const int64_t plane = shape().height * shape().width;
  const uint8_t* stored = table_.pixels.data() + index * table_.shape.values();
  for (int64_t channel = 0; channel < shape().channels; ++channel) {
    const int64_t source = table_.shape.channels == 1 ? 0 : channel;
    convert_plane(stored + source * table_.shape.height * table_.shape.width, table_.shape, shape(), placement,
                  scale_[static_cast<size_t>(channel)], offset_[static_cast<size_t>(channel)], image + channel * plane);
  }
  label = table_.labels[static_cast<size_t>(index)];
}

}  // namespace gpusizer
