// SPDX-License-Identifier: Apache-2.0
// The table of backends.
#include "workloads/backend/backend.hpp"

#include <gtest/gtest.h>

#include <set>

#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

TEST(Backends, HaveNamesOfTheirOwnAndDevicesOrAReason) {
  std::set<std::string_view> names;
  const auto backends = make_backends();
  for (const auto& backend : backends) {
    EXPECT_TRUE(names.insert(backend->name()).second) << backend->name();
    EXPECT_FALSE(backend->description().empty());
    const Probe probe = backend->probe();
    EXPECT_EQ(probe.devices.empty(), !probe.reason.empty()) << backend->name();
    for (const Device& device : probe.devices) {
      EXPECT_EQ(device.backend, backend->name());
      EXPECT_FALSE(device.name.empty());
      EXPECT_FALSE(device.model.empty());
      EXPECT_GT(device.memory_bytes, 0u);
    }
  }
  EXPECT_TRUE(names.contains("reference"));
}

TEST(Backends, AreFoundByName) {
  EXPECT_EQ(make_backend("reference")->name(), "reference");
  try {
    make_backend("refrence");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::usage);
    EXPECT_NE(std::string(e.what()).find("'refrence'"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("did you mean reference?"), std::string::npos) << e.what();
  }
  EXPECT_THROW(make_backend(""), Error);
}

}  // namespace
}  // namespace gpusizer
