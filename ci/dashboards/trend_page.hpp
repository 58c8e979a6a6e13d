// SPDX-License-Identifier: Apache-2.0
// The history as one static HTML page: a chart for each series, no script needed, nothing loaded from the network.
#pragma once

#include <string>
#include <vector>

#include "ci/history/check.hpp"

namespace gpusizer::ci {

struct PageOptions {
  std::string title = "gpusizer: trends";
  std::string commit_url;  // "https://example.org/commit/": commits become links; empty: plain text
};

// Same input, same bytes. Names from reports are escaped. Charts outside of the window are drawn only when scrolled to.
std::string trend_page(const std::vector<Trend>& trends, const PageOptions& options);

}  // namespace gpusizer::ci
