// SPDX-License-Identifier: Apache-2.0
// The sizing answer as plain values: what was asked, what was measured, what it costs on which instance.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cloud/catalog/catalog.hpp"

namespace gpusizer::sizing {

// A figure with its 95 % interval; a bound that is not known is nothing.
struct Interval {
  double value = 0;
  std::optional<double> low, high;
};

// A price the user knows better than the catalogue, for every row that `name` ([CLOUD:]NAME[@REGION]) means.
struct PriceOverride {
  std::string name;
  double usd_per_hour = 0;
};

struct Goal {
  std::int64_t dataset_samples = 0;  // of one epoch
  std::int64_t epochs = 0;
  std::optional<double> deadline_seconds, budget_usd;
  std::vector<PriceOverride> prices;
  bool include_spot = false;
  std::chrono::sys_days now;  // prices are old or not relative to this day
};

// What was trained. Figures of different workloads are never compared or mixed.
struct Workload {
  std::string model;
  std::map<std::string, std::string> model_options;
  std::string data;
  std::map<std::string, std::string> data_options;  // without "path", which differs between machines
  std::string optimizer;
  std::string unit;  // of the throughput: "images/s"

  friend auto operator<=>(const Workload&, const Workload&) = default;
};

// How it was trained: choices that are free for the same workload.
struct Variant {
  std::string precision;
  std::int64_t batch_per_replica = 0, replicas = 1, threads = 0;

  friend auto operator<=>(const Variant&, const Variant&) = default;
};

// On what it was trained: either instances of one type, or any machine with this GPU and count.
struct Hardware {
  std::string cloud, instance;  // the instance type when it is known, else empty
  std::string gpu;              // catalogue name; empty for a CPU run
  int gpu_count = 0;

  friend auto operator<=>(const Hardware&, const Hardware&) = default;
};

// Where a figure comes from.
struct CaseReference {
  std::string report, case_id, started_utc, host_name;
};

// The throughput of one variant on one hardware, from one case or from several that measured the same: then the value
// is the median, and the interval reaches from the lowest to the highest bound of the cases.
struct Figure {
  Hardware hardware;
  Variant variant;
  Interval samples_per_second;  // of the whole job
  std::vector<CaseReference> cases;
  std::vector<std::string> warnings;  // what speaks against the figure without forbidding its use
};

enum class Basis {
  detected,   // the report says that it ran on this instance type
  stated,     // the user says so
  same_gpus,  // measured on another machine with the same GPU and count
};

// Is a limit kept? By the interval: yes and no only when all of it is on one side.
enum class Verdict { not_asked, yes, no, uncertain, no_price };

// One instance in one region at one price, with the fastest variant measured for it.
struct Offer {
  cloud::Instance instance;
  Basis basis = Basis::same_gpus;
  std::size_t figure = 0;  // index in WorkloadAdvice::figures
  Interval samples_per_second;
  Interval epoch_seconds, total_seconds;
  std::optional<cloud::Price> price;
  std::string price_null_reason;                 // why there is none
  std::optional<int> price_age_days;             // since the first day that the price's date can mean
  std::string price_age_warning;                 // when the price is older than 30 days or of the future; else empty
  std::optional<Interval> epoch_usd, total_usd;  // an epoch at the plain rate; the total as it is billed
  std::string billing;                           // how the total was rounded, in words
  Verdict meets_deadline = Verdict::not_asked, meets_budget = Verdict::not_asked;
  bool cheapest = false, fastest = false, pareto = false;
  bool recommended = false;           // the cheapest of those that surely meet every limit
  std::vector<std::string> warnings;  // of the figure, the statement and the price, but not of its age
};

struct WorkloadAdvice {
  Workload workload;
  std::vector<Figure> figures;
  std::vector<Offer> offers;  // by total cost; then those whose price is flagged, then those without a price
};

// A case that gives no figure, and why.
struct SetAside {
  CaseReference reference;
  std::string workload;                      // in words
  std::optional<double> samples_per_second;  // shown, not used
  std::string reason;
};

struct Advice {
  Goal goal;
  std::string catalog_origin;
  std::vector<WorkloadAdvice> workloads;  // in the order of the workload's name
  std::vector<SetAside> set_aside;        // in the order of the reports
  std::vector<std::string> not_counted;   // what the figures leave out, one sentence each
};

}  // namespace gpusizer::sizing
