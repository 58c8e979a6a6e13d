// SPDX-License-Identifier: Apache-2.0
// GPUs as tables of other people name them -> rows of the catalogue.
#pragma once

#include <string>

#include "cloud/catalog/catalog.hpp"

namespace gpusizer::import {

// By model and memory ("V100-SXM2" and "16"); a name without a form factor means the one in servers (SXM). The memory
// decides where the model has several; empty means the smallest. nullptr when the catalogue does not have it.
const cloud::Gpu* gpu_named(const cloud::Catalog& catalog, const std::string& name, const std::string& memory_gb);

}  // namespace gpusizer::import
