// SPDX-License-Identifier: Apache-2.0
// From a row of the catalogue to a device that can be simulated: data sheet, efficiencies of its architecture, links.
#pragma once

#include <cstdint>
#include <string>

#include "cloud/catalog/catalog.hpp"
#include "workloads/backend/simulated/device_description.hpp"

namespace gpusizer {

// `devices_per_node`: 0 is what servers with this GPU have (8). The network between nodes is the median of what the
// catalogue's instances with eight of this GPU have, else 100 Gb/s. Throws Error(usage) for a GPU without rates.
simulated::DeviceDescription described_device(const cloud::Gpu& gpu, const cloud::Catalog& catalog, std::int64_t devices_per_node);

// Shares of the data sheet that training with common frameworks reaches, by precision, architecture and kind of operation.
simulated::Efficiencies efficiencies_of(const cloud::Gpu& gpu, const std::string& precision);

}  // namespace gpusizer
