// SPDX-License-Identifier: Apache-2.0
// Driver numbers by CUDA version (NVIDIA's CUDA release notes, table of toolkit and minimum driver versions, 2025).
#include "workloads/backend/cuda/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace gpusizer::cuda {

namespace {

struct Release {
  int cuda, driver;  // the driver branch that came with a version
};
constexpr Release releases[] = {{11000, 450}, {11010, 455}, {11020, 460}, {11030, 465}, {11040, 470}, {11050, 495},
                                {11060, 510}, {11070, 515}, {11080, 520}, {12000, 525}, {12010, 530}, {12020, 535},
                                {12030, 545}, {12040, 550}, {12050, 555}, {12060, 560}, {12080, 570}, {12090, 575},
                                {13000, 580}};

constexpr int insufficient_driver = 35, no_device = 100;

}  // namespace

// Within a major version every driver of that version will do.
int oldest_driver(int cuda_version) {
  const int major = cuda_version / 1000 * 1000;
  const auto it = std::ranges::find(releases, major, &Release::cuda);
  return it == std::end(releases) ? std::rbegin(releases)->driver : it->driver;
}

std::string no_device_reason(int error, int driver_version, int runtime_version) {
  if (driver_version == 0) return "no NVIDIA driver";
  if (error == insufficient_driver) {
    const Release* known = std::ranges::find_if(std::rbegin(releases), std::rend(releases),
                                                [&](const Release& r) { return r.cuda <= driver_version; }).base() - 1;
    if (known < std::begin(releases))
      return fmt::format("the driver is too old, this build needs {} or newer", oldest_driver(runtime_version));
    return fmt::format("driver {} is too old, this build needs {} or newer", known->driver, oldest_driver(runtime_version));
  }
  if (error == no_device) return "the NVIDIA driver sees no GPU";
  return fmt::format("the NVIDIA driver answers with error {}", error);
}

}  // namespace gpusizer::cuda
