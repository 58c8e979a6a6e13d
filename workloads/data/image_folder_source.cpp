// SPDX-License-Identifier: Apache-2.0
// Reads photographs: file, crop, decode, resample.
#include "workloads/data/image_folder_source.hpp"

#include <fmt/format.h>

#include <array>

#include "gpusizer/error.hpp"
#include "workloads/data/data_file.hpp"
#include "workloads/data/image_list.hpp"
#include "workloads/data/resample.hpp"

namespace gpusizer {

namespace {

namespace fs = std::filesystem;

constexpr int64_t most_image_file_bytes = int64_t{256} << 20;
constexpr int64_t largest_side = 4096;
constexpr ImageShape usual_shape{3, 224, 224};

// Of ImageNet's training images, as every published ResNet recipe uses them, for example torchvision's
// references/classification; one channel takes the means over the three.
constexpr std::array<double, 3> colour_mean{0.485, 0.456, 0.406}, colour_deviation{0.229, 0.224, 0.225};
constexpr double grey_mean = 0.449, grey_deviation = 0.226;

fs::path split_folder(const fs::path& folder, Split split) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    throw Error(Fault::input,
                fs::exists(folder, ignored) ? "a file is where a folder is expected" : "there is no such folder",
                folder.string());
  }
  if (split == Split::train && fs::is_directory(folder / "train", ignored)) return folder / "train";
  if (split == Split::test) {
    for (const char* name : {"val", "test"}) {
      if (fs::is_directory(folder / name, ignored)) return folder / name;
    }
  }
  throw Error(Fault::input,
              split == Split::train ? "there is no folder train" : "there is neither a folder val nor test",
              folder.string(), "expected train/CLASS/*.jpg and val/CLASS/*.jpg");
}

ImageShape choose_shape(const ImageShape& wanted) {
  const ImageShape shape{wanted.channels == 0 ? usual_shape.channels : wanted.channels,
                         wanted.height == 0 ? usual_shape.height : wanted.height,
                         wanted.width == 0 ? usual_shape.width : wanted.width};
  const bool sides_fit =
      shape.height >= 1 && shape.height <= largest_side && shape.width >= 1 && shape.width <= largest_side;
  if (sides_fit && (shape.channels == 1 || shape.channels == 3)) return shape;
  throw Error(Fault::usage, fmt::format("photographs cannot be given to a model that takes {}", shape.text()), "images",
              "they have 3 or 1 channels and at most 4096 pixels a side");
}

class ImageFolderSource final : public ImageSource {
 public:
  ImageFolderSource(SourceFacts facts, fs::path folder, std::vector<ImageEntry> images)
      : ImageSource(std::move(facts)), folder_(std::move(folder)), images_(std::move(images)) {
    for (size_t channel = 0; channel < static_cast<size_t>(channels()); ++channel) {
      const double mean = channels() == 1 ? grey_mean : colour_mean[channel];
      const double deviation = channels() == 1 ? grey_deviation : colour_deviation[channel];
      scale_[channel] = static_cast<float>(1 / (255 * deviation));
      offset_[channel] = static_cast<float>(-mean / deviation);
    }
  }

 private:
  void read_image(int64_t index, const SampleContext& context, float* image, int32_t& label) const override {
    const ImageEntry& entry = images_[static_cast<size_t>(index)];
    const fs::path path = folder_ / class_names()[static_cast<size_t>(entry.label)] / entry.file_name;
    const std::string name = path.string();
    const std::vector<uint8_t> bytes = read_whole_file(path, most_image_file_bytes);
    JpegImage jpeg(bytes, name);
    SampleRandom random(context.seed, context.epoch, index);
    const Crop crop = context.augment ? random_crop(jpeg.width(), jpeg.height(), random)
                                      : centre_crop(jpeg.width(), jpeg.height(), width(), height());
    resample(jpeg.decode(crop, channels(), width(), height()), width(), height(), scale_, offset_, image);
    label = entry.label;
  }

  fs::path folder_;
  std::vector<ImageEntry> images_;
  std::array<float, 3> scale_{}, offset_{};
};

}  // namespace

std::unique_ptr<ImageSource> open_image_folder(const std::string& folder, const DataOptions& options) {
  const fs::path chosen = split_folder(folder, options.split);
  SourceFacts facts{.name = "images", .location = chosen.string(), .shape = choose_shape(options.wanted)};
  facts.class_names = list_classes(split_folder(folder, Split::train));
  facts.classes = static_cast<int64_t>(facts.class_names.size());
  check_classes(facts.classes, options.classes, facts.name);
  std::vector<ImageEntry> images = list_images(chosen, facts.class_names);
  facts.size = static_cast<int64_t>(images.size());
  facts.preparation = fmt::format(
      "JPEG to {}; training: random crop of 8-100 % of the area, mirrored half of the time; evaluation: middle "
      "224/256; "
      "ImageNet's mean and deviation",
      facts.shape.text());
  return std::make_unique<ImageFolderSource>(std::move(facts), chosen, std::move(images));
}

bool looks_like_image_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "train", ignored);
}

}  // namespace gpusizer
