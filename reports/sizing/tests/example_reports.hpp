// SPDX-License-Identifier: Apache-2.0
// Small reports and a small catalogue for the tests of sizing and of its tables.
#pragma once

#include <string>

#include "reports/record/record.hpp"
#include "reports/sizing/advise.hpp"

namespace gpusizer::sizing {

inline record::Case example_case(const std::string& model, std::int64_t batch, double value, double half_width) {
  record::Case one;
  one.id = model + "/b" + std::to_string(batch);
  one.config.model = model;
  one.config.data = "synthetic";
  one.config.device = "Intel(R) Xeon(R) Platinum 8488C";
  one.config.batch_per_replica = batch;
  one.config.threads = 4;
  one.config.optimizer = "sgd";
  one.status = record::CaseStatus::ok;
  one.started_utc = "2026-08-01T12:00:00Z";
  one.throughput.value = value;
  one.throughput.low = value - half_width;
  one.throughput.high = value + half_width;
  return one;
}

inline record::Case example_gpu_case(const std::string& device, std::int64_t devices, double value, double half_width) {
  record::Case one = example_case("resnet50", 256, value, half_width);
  one.config.device_kind = "cuda";
  one.config.device = device;
  one.config.devices = devices;
  one.config.replicas = devices;
  one.config.precision = "fp16";
  return one;
}

inline ReportInput example_report(std::vector<record::Case> cases, const std::string& as_instance = "") {
  ReportInput input;
  input.name = "r.json";
  input.as_instance = as_instance;
  input.report.environment.host_name = "host";
  input.report.environment.cpu_model = "Intel(R) Xeon(R) Platinum 8488C";
  input.report.environment.cpu_threads = 4;
  input.report.cases = std::move(cases);
  return input;
}

inline cloud::Instance example_instance(const std::string& cloud, const std::string& name, const std::string& region,
                                        const std::string& gpu, int gpu_count, std::optional<double> usd_per_hour) {
  cloud::Instance row;
  row.cloud = cloud;
  row.name = name;
  row.region = region;
  row.gpu = gpu;
  row.gpu_count = gpu_count;
  if (gpu.empty()) row.cpu = "Intel Xeon Sapphire Rapids", row.vcpus = 4;
  row.source = "a list";
  if (usd_per_hour) row.on_demand = cloud::Price{*usd_per_hour, "2026-07-20", "", "a list", "on-demand", ""};
  return row;
}

// Two CPU instances, and four with eight A100 of which one is flagged and one has only a spot price.
inline cloud::Catalog example_catalog() {
  cloud::Catalog catalog;
  catalog.origin = "example";
  catalog.gpus = {{.name = "A100-SXM4-40GB", .memory_gb = 40, .memory_bandwidth_gbs = 1555, .as_of = "2026"},
                  {.name = "T4", .memory_gb = 16, .memory_bandwidth_gbs = 320, .as_of = "2026"}};
  catalog.aliases = {{"NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"}, {"Tesla T4", "T4"}};
  catalog.billing = {{"aws", 60, 1, "a page", "2026"}};
  catalog.instances = {example_instance("aws", "c7i.xlarge", "us-east-1", "", 0, 0.1785),
                       example_instance("aws", "c7i.2xlarge", "us-east-1", "", 0, 0.357),
                       example_instance("aws", "p4d.24xlarge", "us-east-1", "A100-SXM4-40GB", 8, 21.9576),
                       example_instance("gcp", "a2-highgpu-8g", "us-central1", "A100-SXM4-40GB", 8, 29.387),
                       example_instance("gcp", "a2-highgpu-8g", "europe-west4", "A100-SXM4-40GB", 8, 10),
                       example_instance("oci", "BM.GPU4.8", "all", "A100-SXM4-40GB", 8, std::nullopt),
                       example_instance("aws", "g4dn.xlarge", "us-east-1", "T4", 1, 0.526)};
  catalog.instances[4].on_demand->flag = "suspect: close to spot";
  catalog.instances[3].spot = cloud::Price{14.4, "2026-05-20", "", "a list", "spot", ""};
  catalog.instances[5].spot = cloud::Price{12.2, "2026-05-20", "", "a list", "spot", ""};
  return catalog;
}

// ImageNet, 90 epochs, on 2026-08-19: the prices of 2026-07-20 are 30 days old.
inline Goal example_goal() {
  using namespace std::chrono_literals;
  Goal goal;
  goal.dataset_samples = 1'281'167;
  goal.epochs = 90;
  goal.now = std::chrono::sys_days{2026y / 8 / 19};
  return goal;
}

}  // namespace gpusizer::sizing
