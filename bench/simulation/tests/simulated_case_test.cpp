// SPDX-License-Identifier: Apache-2.0
// What must hold for every model, GPU and number of devices.
#include "bench/simulation/simulated_case.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/simulation/described_device.hpp"
#include "gpusizer/error.hpp"
#include "workloads/models/models.hpp"

namespace gpusizer {
namespace {

const cloud::Catalog& catalog() {
  static const cloud::Catalog one = cloud::load_catalog();
  return one;
}

SimulatedCase simulated(const std::string& model, const std::string& gpu, std::int64_t devices, const std::string& precision,
                        std::int64_t batch = 16) {
  CaseConfig config;
  config.model = model, config.precision = precision, config.batch = batch;
  config.parallel.dp = devices, config.parallel.dp_given = true;
  return simulate_case(config, *cloud::find_gpu(catalog(), gpu), catalog(), 0);
}

TEST(SimulatedCase, NeverBelowTheRoofline) {
  for (const ModelEntry& model : models())
    for (const char* gpu : {"K80", "V100-SXM2-16GB", "T4", "A100-SXM4-80GB", "RTX 3090", "H100-SXM5-80GB", "B200-SXM", "MI300X"})
      for (const char* precision : {"fp32", "fp16"}) {
        if (model.name == "bert-1b" && std::string(gpu) != "H100-SXM5-80GB") continue;  // one of them is enough
        const SimulatedCase one = simulated(std::string(model.name), gpu, 1, precision, 4);
        EXPECT_GE(one.step.seconds, one.step.floor_seconds) << model.name << " " << gpu << " " << precision;
        const double peak = precision == std::string("fp16") ? one.device.half_flops : one.device.fp32_flops;
        EXPECT_LE(double(one.facts.flops_per_sample) * one.samples_per_second(), peak) << model.name << " " << gpu;
      }
}

TEST(SimulatedCase, NoCliffAndNoSpeedUpBeyondTheDevices) {
  for (const char* model : {"resnet50", "bert-mini", "lstm"}) {
    const double alone = simulated(model, "A100-SXM4-80GB", 1, "fp16").samples_per_second();
    double before = alone;
    for (const std::int64_t devices : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 64, 100, 500, 1000, 2048, 4095, 8192, 16383, 16384}) {
      const double each = simulated(model, "A100-SXM4-80GB", devices, "fp16").samples_per_second() / double(devices);
      EXPECT_LE(each, alone * (1 + 1e-9)) << model << " " << devices;
      EXPECT_GE(each, before * 0.5) << model << " " << devices;  // a node's boundary may cost, never most of it
      before = each;
    }
  }
}

TEST(SimulatedCase, RefusesCountsOutOfRange) {
  EXPECT_THROW(simulated("resnet8", "T4", 16385, "fp32"), Error);
  CaseConfig config;
  config.model = "resnet8";
  EXPECT_THROW(simulate_case(config, *cloud::find_gpu(catalog(), "T4"), catalog(), 2), Error);
}

TEST(SimulatedCase, PlainReplicasOfABillionParametersDoNotFitSixteenGigabytes) {
  EXPECT_FALSE(simulated("bert-1b", "V100-SXM2-16GB", 4, "fp16", 8).fits());
  EXPECT_TRUE(simulated("bert-1b", "A100-SXM4-80GB", 4, "fp16", 8).fits());
}

TEST(SimulatedCase, PipelinesWaitLessWithMoreMicroBatches) {
  const auto waiting = [](std::int64_t parts) {
    CaseConfig config;
    config.model = "bert-mini", config.precision = "fp32", config.batch = 64, config.accumulate = parts;
    config.parallel.pp = 4, config.parallel.dp_given = true;
    const SimulatedCase one = simulate_case(config, *cloud::find_gpu(catalog(), "V100-SXM2-16GB"), catalog(), 0);
    return one.step.exposed_seconds / one.step.seconds;
  };
  EXPECT_GT(waiting(2), waiting(16));
  EXPECT_GT(waiting(2), 0.3);
}

TEST(DescribedDevice, LinksAndSharesAreWithinTheSheet) {
  for (const cloud::Gpu& gpu : catalog().gpus) {
    if (!gpu.fp32_tflops) continue;
    const auto device = described_device(gpu, catalog(), 8);
    for (const char* precision : {"fp32", "tf32", "fp16"}) {
      const auto shares = efficiencies_of(gpu, precision);
      for (const double share : {shares.linear, shares.convolution, shares.attention, shares.memory}) {
        EXPECT_GT(share, 0.05) << gpu.name;
        EXPECT_LE(share, 0.95) << gpu.name;
      }
    }
    EXPECT_GT(device.inside.bytes_per_second, 1e9) << gpu.name;
    EXPECT_GT(device.across.bytes_per_second, 1e9) << gpu.name;
  }
}

}  // namespace
}  // namespace gpusizer
