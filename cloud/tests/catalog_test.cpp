// SPDX-License-Identifier: Apache-2.0
// Tests of the built-in catalogue: its rows keep the rules, and they are found by name.
#include "cloud/catalog/catalog.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "cloud/catalog/embedded_catalog.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::cloud {
namespace {

const Catalog& built_in() {
  static const Catalog catalog = load_catalog();
  return catalog;
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

std::string message_of(const std::string& name, RegionPolicy policy) {
  try {
    find_instance(built_in(), name, policy);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "";
}

TEST(Catalog, TheProgramHoldsTheFilesByteForByte) {
  EXPECT_EQ(embedded_gpus_json(), file_text("catalog/gpus.json"));
  EXPECT_EQ(embedded_instances_json(), file_text("catalog/instances.json"));
}

TEST(Catalog, EveryRowKeepsTheRules) {
  EXPECT_NO_THROW(check_catalog(built_in()));
  EXPECT_GE(built_in().gpus.size(), 60u);
  EXPECT_GE(built_in().instances.size(), 600u);
}

TEST(Catalog, EveryInstanceHasAPriceAndMostHaveMemory) {
  std::size_t with_memory = 0;
  for (const Instance& instance : built_in().instances) {
    EXPECT_TRUE(instance.on_demand || instance.spot) << instance.name;
    with_memory += instance.memory_gib ? 1 : 0;
    EXPECT_TRUE(instance.gpu.empty() || instance.cpu.empty()) << instance.name;
  }
  EXPECT_GT(with_memory, built_in().instances.size() / 2);
}

TEST(Catalog, SpotPricesOfAws2023AreFlaggedStale) {
  std::size_t found = 0;
  for (const Instance& instance : built_in().instances)
    if (instance.cloud == "aws" && instance.spot) {
      EXPECT_EQ(instance.spot->as_of, "2023");
      EXPECT_FALSE(instance.spot->flag.empty());
      EXPECT_NE(instance.spot->source, instance.on_demand->source);
      ++found;
    }
  EXPECT_EQ(found, 23u);
}

TEST(Catalog, OnDemandPricesNearSpotAreFlagged) {
  const Instance& suspect = find_instance(built_in(), "gcp:a3-highgpu-8g@us-central1", RegionPolicy::refuse);
  EXPECT_NE(suspect.on_demand->flag.find("suspect"), std::string::npos);
}

TEST(Catalog, GpusAreFoundByTheNamesDriversReport) {
  const std::pair<const char*, const char*> names[] = {{"NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"},
                                                       {"NVIDIA H100 80GB HBM3", "H100-SXM5-80GB"},
                                                       {"Tesla V100-SXM2-16GB", "V100-SXM2-16GB"},
                                                       {"Tesla T4", "T4"},
                                                       {"nvidia a10g", "A10G"},
                                                       {"NVIDIA GeForce RTX 4090", "RTX 4090"},
                                                       {"NVIDIA H200", "H200-SXM"},
                                                       {"NVIDIA A100 80GB PCIe", "A100-PCIe-80GB"}};
  for (const auto& [driver, name] : names) {
    const Gpu* gpu = find_gpu(built_in(), driver);
    ASSERT_NE(gpu, nullptr) << driver;
    EXPECT_EQ(gpu->name, name);
  }
  EXPECT_EQ(find_gpu(built_in(), "A100"), nullptr) << "four different GPUs are called A100";
}

TEST(Catalog, FindsAnInstanceWithoutRegardToCase) {
  const Instance& instance = find_instance(built_in(), "C7I.XLarge", RegionPolicy::refuse);
  EXPECT_EQ(instance.cloud, "aws");
  EXPECT_EQ(instance.region, "us-east-1");
  EXPECT_EQ(instance.cpu, "Intel Xeon Sapphire Rapids");
  EXPECT_EQ(instance.vcpus, 4);
  EXPECT_EQ(instance.physical_cores, 2);
  EXPECT_DOUBLE_EQ(instance.on_demand->usd_per_hour, 0.1785);
  EXPECT_EQ(instance.on_demand->as_of, "2026-07-20");
  EXPECT_EQ(instance.on_demand->market, "on-demand");
}

TEST(Catalog, AnUnknownNameOffersTheNearest) {
  const std::string message = message_of("c7i.xlrage", RegionPolicy::refuse);
  EXPECT_NE(message.find("no instance \"c7i.xlrage\""), std::string::npos) << message;
  EXPECT_NE(message.find("c7i.xlarge"), std::string::npos) << message;
}

TEST(Catalog, AKnownNameInAnUnknownRegionNamesTheRegions) {
  EXPECT_NE(message_of("c7i.xlarge@eu-west-1", RegionPolicy::refuse).find("aws:c7i.xlarge@us-east-1"),
            std::string::npos);
}

TEST(Catalog, SeveralRegionsAreARefusalOrTheCheapest) {
  const std::string message = message_of("Standard_NC24ads_A100_v4", RegionPolicy::refuse);
  EXPECT_NE(message.find("several regions"), std::string::npos) << message;
  const Instance& cheapest = find_instance(built_in(), "Standard_NC24ads_A100_v4", RegionPolicy::cheapest_on_demand);
  for (const Instance* other : instances_named(built_in(), {"", "Standard_NC24ads_A100_v4", ""}))
    EXPECT_LE(cheapest.on_demand->usd_per_hour, other->on_demand->usd_per_hour);
}

TEST(Catalog, SeveralCloudsAreAlwaysARefusal) {
  EXPECT_NE(message_of("2x A6000 (48 GB)", RegionPolicy::cheapest_on_demand), "") << "jarvislabs and paperspace";
}

TEST(Catalog, InstanceNamesHaveThreeParts) {
  const InstanceName name = parse_instance_name("aws:p4d.24xlarge@us-east-1");
  EXPECT_EQ(name.cloud, "aws");
  EXPECT_EQ(name.name, "p4d.24xlarge");
  EXPECT_EQ(name.region, "us-east-1");
  EXPECT_EQ(to_text(name), "aws:p4d.24xlarge@us-east-1");
  EXPECT_EQ(to_text(parse_instance_name("c7i.xlarge")), "c7i.xlarge");
}

TEST(Catalog, BillingIsKnownForSomeCloudsOnly) {
  EXPECT_DOUBLE_EQ(billing_of(built_in(), "AWS")->minimum_seconds, 60);
  EXPECT_FALSE(billing_of(built_in(), "nowhere"));
}

}  // namespace
}  // namespace gpusizer::cloud
