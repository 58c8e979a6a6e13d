// SPDX-License-Identifier: Apache-2.0
// The kinds by name, and whether a source's images fit the model that wants them.
#include "workloads/data/data_options.hpp"

#include <fmt/format.h>

#include "gpusizer/error.hpp"

namespace gpusizer {

std::string_view to_string(DataKind kind) {
  switch (kind) {
    case DataKind::images: return "images";
    case DataKind::text: return "text";
    case DataKind::series: return "series";
  }
  return "";
}

ImageShape fit_shape(const ImageShape& stored, const ImageShape& wanted, const std::string& source) {
  const ImageShape fitted{wanted.channels == 0 ? stored.channels : wanted.channels,
                          wanted.height == 0 ? stored.height : wanted.height,
                          wanted.width == 0 ? stored.width : wanted.width};
  constexpr int64_t largest_side = 4096;
  const bool channels_fit = fitted.channels == stored.channels || (stored.channels == 1 && fitted.channels == 3);
  const bool size_fits = fitted.height >= stored.height && fitted.width >= stored.width &&
                         fitted.height <= largest_side && fitted.width <= largest_side;
  if (!channels_fit || !size_fits) {
    throw Error(Fault::usage,
                fmt::format("images of {} cannot be given to a model that takes {}", stored.text(), fitted.text()),
                source, "only black padding to a larger size (4096 at most) and 1 channel repeated to 3 are possible");
  }
  return fitted;
}

void check_classes(int64_t classes, int64_t wanted, const std::string& source) {
  if (wanted == 0 || wanted >= classes) return;
  throw Error(Fault::usage, fmt::format("the data has {} classes, the model only {}", classes, wanted), source,
              fmt::format("ask for {} classes", classes));
}

}  // namespace gpusizer
