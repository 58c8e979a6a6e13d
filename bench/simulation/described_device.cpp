// SPDX-License-Identifier: Apache-2.0
// Efficiencies and links, each with where it comes from.
#include "bench/simulation/described_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

// Shares of the peak of each kind of operation, and of the bandwidth. Fitted (least absolute errors) to 316 published rates
// of ResNet-50, AlexNet and BERT on one GPU of 24 kinds (NVIDIA/DeepLearningExamples, Oneflow-Inc/DLPerf,
// lambdal/deeplearning-benchmark, apache/mxnet, tensorflow/tensorflow; 2017 to 2024), so that they are what training with
// common frameworks reaches, not what a kernel can: matrix products alone reach 0.8 to 0.87 (bf16, stas00/ml-engineering@744d01e),
// copies 0.84 to 0.89 of the bandwidth (Azure/AI-benchmarking-guide).
constexpr simulated::Efficiencies half_shares{0.42, 0.33, 0.80, 0.36}, tf32_shares{0.32, 0.28, 0.75, 0.51},
    fp32_shares{0.64, 0.64, 0.48, 0.56};

// What a framework's operation costs beside its kernels' work: launches, and filling and draining the device.
constexpr double framework_launch_seconds = 25e-6;

// How well the libraries know an architecture, relative to Turing; of what is bound by arithmetic.
struct ArchitectureShare {
  std::string_view architecture;
  double share;
};
constexpr ArchitectureShare architecture_shares[] = {{"Kepler", 0.5}, {"Maxwell", 0.93}, {"Volta", 1.15}, {"Ampere", 1.3}, {"Hopper", 1.15}};

double architecture_share(std::string_view architecture) {
  for (const auto& [name, share] : architecture_shares)
    if (architecture.starts_with(name)) return share;
  return 1;
}

// A card of 75 W cannot keep its clocks: T4 and L4 sustain about half of their tensor rate.
double sustained_clock(const cloud::Gpu& gpu) { return gpu.power_watts && *gpu.power_watts <= 75 ? 0.6 : 1; }

// Bus bandwidth of rings over NVLink: 77 % of one direction on A100 (230 of 300 GB/s), all of it on Hopper and later, whose
// switches sum (478 of 450 GB/s). Over PCIe about half of one direction.
simulated::LinkDescription inside_of(const cloud::Gpu& gpu) {
  const bool server = gpu.name.find("SXM") != std::string::npos || gpu.name.starts_with("GB") || gpu.name.starts_with("MI");
  if (server && gpu.link_gbs_both_ways) {
    const bool switches_sum = gpu.architecture.starts_with("Hopper") || gpu.architecture.starts_with("Blackwell");
    return {3.4e-6, 0.5e9 * *gpu.link_gbs_both_ways * (switches_sum ? 1.0 : 0.77)};
  }
  constexpr double pcie_gbs[] = {0, 4, 8, 15.75, 31.5, 63, 126};
  const int generation = std::clamp(gpu.pcie_generation.value_or(3), 1, 6);
  return {5.7e-6, 0.5e9 * pcie_gbs[generation]};
}

double network_bytes_per_second(const cloud::Gpu& gpu, const cloud::Catalog& catalog) {
  std::vector<double> gbps;
  for (const cloud::Instance& instance : catalog.instances)
    if (instance.gpu == gpu.name && instance.gpu_count == 8 && instance.network_gbps) gbps.push_back(*instance.network_gbps);
  std::sort(gbps.begin(), gbps.end());
  return 0.85e9 / 8 * (gbps.empty() ? 100 : gbps[gbps.size() / 2]);
}

}  // namespace

simulated::Efficiencies efficiencies_of(const cloud::Gpu& gpu, const std::string& precision) {
  const bool half = precision == "fp16" || precision == "bf16", tensor = half || (precision == "tf32" && gpu.tf32_tflops);
  simulated::Efficiencies result = half ? half_shares : tensor ? tf32_shares : fp32_shares;
  const double share = architecture_share(gpu.architecture) * (tensor ? sustained_clock(gpu) : 1);
  for (double* one : {&result.linear, &result.convolution, &result.attention}) *one = std::min(0.95, *one * share);
  return result;
}

simulated::DeviceDescription described_device(const cloud::Gpu& gpu, const cloud::Catalog& catalog, std::int64_t devices_per_node) {
  if (!gpu.fp32_tflops)
    throw Error(Fault::usage, fmt::format("the catalogue has no FP32 rate of {}", gpu.name), "--gpu", "use another GPU");
  simulated::DeviceDescription device;
  device.name = gpu.name;
  device.fp32_flops = 1e12 * *gpu.fp32_tflops;
  device.tf32_flops = gpu.tf32_tflops ? 1e12 * *gpu.tf32_tflops : device.fp32_flops;
  const auto half = gpu.fp16_tflops ? gpu.fp16_tflops : gpu.bf16_tflops;
  device.half_flops = half ? 1e12 * *half : device.fp32_flops;
  device.memory_bytes_per_second = 1e9 * gpu.memory_bandwidth_gbs;
  device.memory_bytes = static_cast<std::int64_t>(gpu.memory_gb * 1073741824.0);
  device.launch_seconds = framework_launch_seconds;
  device.efficiency = efficiencies_of(gpu, "fp16");
  device.inside = inside_of(gpu);
  device.across = {14e-6, network_bytes_per_second(gpu, catalog)};
  device.devices_per_node = devices_per_node > 0 ? devices_per_node : 8;
  return device;
}

}  // namespace gpusizer
