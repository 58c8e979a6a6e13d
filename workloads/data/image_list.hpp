// SPDX-License-Identifier: Apache-2.0
// The list of pictures in a folder with one folder per class.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gpusizer {

struct ImageEntry {
  std::string file_name;  // without its folder
  int32_t label;
};

// The folders in `folder`, sorted: the classes. Refuses a folder without any.
std::vector<std::string> list_classes(const std::filesystem::path& folder);

// The JPEG files of folder/CLASS, by class, then name. Refuses a class folder that is not in `classes` or holds no
// JPEG, and pictures of other formats. A class without a folder is allowed (a small validation set may lack it).
std::vector<ImageEntry> list_images(const std::filesystem::path& folder, const std::vector<std::string>& classes);

}  // namespace gpusizer
