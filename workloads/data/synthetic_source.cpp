// SPDX-License-Identifier: Apache-2.0
// Which made-up data is for which kind of model.
#include "workloads/data/synthetic_source.hpp"

#include <fmt/format.h>

#include "gpusizer/error.hpp"
#include "workloads/data/synthetic_images.hpp"
#include "workloads/data/synthetic_series.hpp"
#include "workloads/data/synthetic_tokens.hpp"

namespace gpusizer {

std::unique_ptr<SampleSource> open_synthetic(const std::string&, const DataOptions& options) {
  switch (options.kind) {
    case DataKind::images: return open_synthetic_images(options);
    case DataKind::text: return open_synthetic_tokens(options);
    case DataKind::series: return open_synthetic_series(options);
  }
  throw Error(Fault::usage, fmt::format("there is no made-up {}", to_string(options.kind)), "synthetic",
              "see gpusizer list data");
}

}  // namespace gpusizer
