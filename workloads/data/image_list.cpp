// SPDX-License-Identifier: Apache-2.0
// Walks the class folders.
#include "workloads/data/image_list.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "gpusizer/error.hpp"

namespace gpusizer {

namespace {

namespace fs = std::filesystem;

std::string lower_ending(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

bool is_jpeg(const std::string& ending) { return ending == ".jpg" || ending == ".jpeg"; }

bool is_other_picture(const std::string& ending) {
  constexpr std::array<std::string_view, 7> endings{".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".heic"};
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

// Calls visit(entry) for all entries whose names do not begin with a dot; a failure of the system names the folder.
template <typename Visit>
void for_each_entry(const fs::path& folder, Visit visit) {
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().filename().string().front() != '.') visit(entry);
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(Fault::input, "the folder cannot be read: " + error.code().message(), folder.string());
  }
}

void append_class(const fs::path& folder, int32_t label, std::vector<ImageEntry>& images) {
  const size_t before = images.size();
  for_each_entry(folder, [&](const fs::directory_entry& entry) {
    const std::string ending = lower_ending(entry.path());
    if (is_other_picture(ending)) {
      throw Error(Fault::input, "a picture that is not a JPEG is in a class folder", entry.path().string(),
                  "convert it to JPEG or remove it");
    }
    if (is_jpeg(ending)) images.push_back({entry.path().filename().string(), label});
  });
  if (images.size() == before) {
    throw Error(Fault::input, "a class folder holds no .jpg or .jpeg files", folder.string(), "fill it or remove it");
  }
  std::sort(images.begin() + static_cast<std::ptrdiff_t>(before), images.end(),
            [](const ImageEntry& a, const ImageEntry& b) { return a.file_name < b.file_name; });
}

}  // namespace

std::vector<std::string> list_classes(const fs::path& folder) {
  std::vector<std::string> classes;
  for_each_entry(folder, [&](const fs::directory_entry& entry) {
    if (entry.is_directory()) classes.push_back(entry.path().filename().string());
  });
  if (classes.empty())
    throw Error(Fault::input, "there are no class folders", folder.string(), "expected CLASS/*.jpg in it");
  std::sort(classes.begin(), classes.end());
  return classes;
}

std::vector<ImageEntry> list_images(const fs::path& folder, const std::vector<std::string>& classes) {
  std::vector<ImageEntry> images;
  for (const std::string& name : list_classes(folder)) {
    const auto found = std::lower_bound(classes.begin(), classes.end(), name);
    if (found == classes.end() || *found != name) {
      throw Error(Fault::input, "a class folder has no counterpart in the training folder", (folder / name).string());
    }
    append_class(folder / name, static_cast<int32_t>(found - classes.begin()), images);
  }
  return images;
}

}  // namespace gpusizer
