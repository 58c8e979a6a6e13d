// SPDX-License-Identifier: Apache-2.0
// Reads the files of CIFAR-10 into one table of bytes.
#include "workloads/data/cifar_source.hpp"

#include <fmt/format.h>

#include "gpusizer/error.hpp"
#include "workloads/data/data_file.hpp"
#include "workloads/data/pixel_source.hpp"

namespace gpusizer {

namespace {

namespace fs = std::filesystem;

constexpr ImageShape image_shape{3, 32, 32};
constexpr size_t record_bytes = 3073;
constexpr int classes = 10;
constexpr int64_t most_file_bytes = int64_t{1} << 32;
constexpr const char* archive_folder = "cifar-10-batches-bin";  // what the published archive unpacks to

bool holds_batches(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "data_batch_1.bin", ignored) || fs::exists(folder / "test_batch.bin", ignored);
}

void append_file(const fs::path& path, PixelTable& table) {
  const std::vector<uint8_t> bytes = read_whole_file(path, most_file_bytes);
  if (bytes.empty() || bytes.size() % record_bytes != 0) {
    throw Error(
        Fault::input, fmt::format("the file has {} bytes, which is not a multiple of {}", bytes.size(), record_bytes),
        fmt::format("{}, byte {}", path.string(), bytes.size() - bytes.size() % record_bytes), "copy the file again");
  }
  table.pixels.reserve(table.pixels.size() + bytes.size());
  for (size_t begin = 0; begin < bytes.size(); begin += record_bytes) {
    if (bytes[begin] >= classes) {
      throw Error(Fault::input, fmt::format("label {} is outside the {} classes", bytes[begin], classes),
                  fmt::format("{}, byte {}", path.string(), begin), "this reads CIFAR-10, not CIFAR-100");
    }
    table.labels.push_back(bytes[begin]);
    const auto pixels = bytes.begin() + static_cast<std::ptrdiff_t>(begin) + 1;
    table.pixels.insert(table.pixels.end(), pixels, pixels + static_cast<std::ptrdiff_t>(record_bytes - 1));
  }
}

}  // namespace

std::unique_ptr<ImageSource> open_cifar10(const std::string& folder, const DataOptions& options) {
  const fs::path root = !holds_batches(folder) && holds_batches(fs::path(folder) / archive_folder)
                            ? fs::path(folder) / archive_folder
                            : fs::path(folder);
  PixelTable table{image_shape, {}, {}};
  if (options.split == Split::test) {
    append_file(root / "test_batch.bin", table);
  } else {
    for (int part = 1; part <= 5; ++part) append_file(root / fmt::format("data_batch_{}.bin", part), table);
  }
  SourceFacts facts{.name = "cifar10", .location = root.string(), .classes = classes};
  facts.class_names = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
  return std::make_unique<PixelSource>(
      std::move(facts), std::move(table),
      Normalisation{{0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616}, "of its 50,000 training images"},
      Augmentation{.most_shift = 4, .flip = true}, options);
}

bool looks_like_cifar10(const fs::path& folder) {
  return holds_batches(folder) || holds_batches(folder / archive_folder);
}

}  // namespace gpusizer
