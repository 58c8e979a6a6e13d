// SPDX-License-Identifier: Apache-2.0
// Small messages on the control channel, and sums of the workload's own sizes.
#include "bench/runner/rank_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <cstring>
#include <set>
#include <sstream>

#include "bench/runner/modelled_exposure.hpp"
#include "workloads/backend/communicator/communicator.hpp"
#include "workloads/backend/communicator/cost_model.hpp"
#include "workloads/lowering/happens_before.hpp"
#include "workloads/program/builder.hpp"
#include "workloads/program/facts.hpp"

namespace gpusizer {
namespace {

using record::Maybe;

constexpr int kRepetitions = 5;  // after one to warm up

std::vector<double> numbers_in(const std::string& text) {
  std::istringstream words(text);
  std::vector<double> numbers;
  for (std::string word; words >> word;) numbers.push_back(std::stod(word));
  return numbers;
}

struct Tokens {
  std::int64_t real = 0, padded = 0;
};

std::string bytes_of(const std::vector<RankStep>& steps) {
  std::vector<Tokens> tokens;
  for (const RankStep& step : steps) tokens.push_back({step.real_tokens, step.padded_tokens});
  std::string bytes(tokens.size() * sizeof(Tokens), '\0');
  if (!tokens.empty()) std::memcpy(bytes.data(), tokens.data(), bytes.size());
  return bytes;
}

// Named so by data_parallel().
bool sums_gradients(const Operation& op) {
  const bool sums = op.kind == OpKind::all_reduce || op.kind == OpKind::delayed_all_reduce || op.kind == OpKind::reduce_scatter;
  return sums && op.layer.starts_with("gradients.");
}

// One size of sum among one group of ranks.
struct Sum {
  std::int64_t bytes = 0;
  std::vector<std::int32_t> ranks;

  auto operator<=>(const Sum&) const = default;
};

std::set<Sum> sums_of(const Program& training) {
  std::set<Sum> sums;
  for (const Operation& op : training.operations)
    if (sums_gradients(op)) sums.insert({input_bytes(training, op), std::get<CollectiveAttributes>(op.attributes).ranks});
  return sums;
}

// Those of all ranks: stages sum different gradients, and tied ones among more ranks, but all must go through one list.
std::set<Sum> all_sums(const Program& training, Communicator& others) {
  std::string own;
  for (const Sum& sum : sums_of(training)) own += fmt::format("{} {}\n", sum.bytes, fmt::join(sum.ranks, " "));
  std::set<Sum> sums;
  for (const std::string& text : others.all_gather(own)) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      Sum read;
      words >> read.bytes;
      for (std::int32_t rank = 0; words >> rank;) read.ranks.push_back(rank);
      sums.insert(std::move(read));
    }
  }
  return sums;
}

Program sum_program(std::int64_t bytes, const CollectiveAttributes& attributes) {
  ProgramBuilder b{fmt::format("sum of {} bytes", bytes), 1};
  const TensorId values = b.persistent("values", {bytes / 4}, Role::state, {});
  b.apply(OpKind::all_reduce, "sum", {values}, attributes, Phase::communicate);
  return b.finish();
}

double median(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

double median_seconds(const PreparedCase& p, const Program& program, Communicator& others) {
  std::vector<LoweredProgram> lowered{lower(program, p.backend->target(p.device))};
  const auto executor = p.backend->make_executor(std::move(lowered), p.device, &others);
  initialize(*executor, 1, 0);
  std::vector<double> seconds;
  for (int i = 0; i <= kRepetitions; ++i) {
    others.barrier();
    executor->enqueue(0, {});
    const auto result = executor->collect();
    if (i > 0 && result) seconds.push_back(result->device_seconds);
  }
  return median(seconds);
}

}  // namespace

void add_tokens_of_others(const ExecutorTrainer& trainer, LoopResult& result) {
  const auto texts = trainer.others()->all_gather(bytes_of(trainer.rank_steps()));
  const std::size_t count = trainer.rank_steps().size(), first = result.steps.size() - count;
  for (std::size_t i = 0; i < count; ++i) {
    Tokens sum;
    for (const std::string& text : texts) {
      Tokens one;
      if (text.size() < (i + 1) * sizeof one) continue;
      std::memcpy(&one, text.data() + i * sizeof one, sizeof one);
      sum = {sum.real + one.real, sum.padded + one.padded};
    }
    result.steps[first + i].real_tokens = sum.real;
    result.steps[first + i].padded_tokens = sum.padded;
  }
}

record::Communication gather_rank_figures(const ExecutorTrainer& trainer, std::int64_t first) {
  double busy = 0, exposed = 0, count = 0;
  const auto& steps = trainer.rank_steps();
  for (auto i = static_cast<std::size_t>(std::max<std::int64_t>(first, 0)); i < steps.size(); ++i, ++count) {
    busy += steps[i].device_seconds - steps[i].exposed_seconds;
    exposed += steps[i].exposed_seconds;
  }
  const std::string own = count > 0 ? fmt::format("{} {}", busy / count, exposed / count) : "";
  record::Communication c;
  double sum = 0, worst = 0;
  for (const std::string& text : trainer.others()->all_gather(own)) {
    const auto numbers = numbers_in(text);
    if (numbers.size() != 2) continue;
    c.rank_step_seconds.push_back(numbers[0]);
    sum += numbers[1];
    worst = std::max(worst, numbers[1]);
  }
  if (c.rank_step_seconds.empty()) {
    c.exposed_seconds = c.worst_exposed_seconds = Maybe<double>::missing("no step was measured");
    c.slowest_rank = Maybe<std::int64_t>::missing("no step was measured");
    return c;
  }
  c.exposed_seconds = sum / static_cast<double>(c.rank_step_seconds.size());
  c.worst_exposed_seconds = worst;
  c.slowest_rank = std::ranges::max_element(c.rank_step_seconds) - c.rank_step_seconds.begin();
  return c;
}

std::vector<std::int64_t> bucket_bytes(const Program& training) {
  std::vector<std::int64_t> bytes;
  for (const Operation& op : training.operations)
    if (sums_gradients(op)) bytes.push_back(input_bytes(training, op));
  return bytes;
}

std::vector<record::AllReduceTime> measure_all_reduces(const PreparedCase& prepared, const Program& training,
                                                       Communicator& others) {
  std::vector<record::AllReduceTime> times;
  for (const Sum& sum : all_sums(training, others)) {
    const bool takes_part = std::ranges::count(sum.ranks, others.rank()) > 0;
    std::string own;
    if (takes_part) {
      const Program program = sum_program(sum.bytes, {.rank = others.rank(), .ranks = sum.ranks});
      own = fmt::format("{}", median_seconds(prepared, program, others));
    } else {
      for (int k = 0; k <= kRepetitions; ++k) others.barrier();
    }
    const auto texts = others.all_gather(own);
    if (!takes_part) continue;
    record::AllReduceTime& time = times.emplace_back();
    time.bytes = sum.bytes;
    double slowest = 0;
    for (const std::int32_t rank : sum.ranks)
      slowest = std::max(slowest, std::stod(texts[static_cast<std::size_t>(rank)]));
    time.seconds = slowest;
    const double sent = static_cast<double>(sum.bytes) * all_reduce_factor(static_cast<int>(sum.ranks.size()));
    time.bus_bytes_per_second = slowest > 0 ? Maybe<double>(sent / slowest)
                                            : Maybe<double>::missing("it took no time that the clock can see");
  }
  return times;
}

namespace {

CollectiveSeconds over_wire(int ranks, const WireSpeed& wire) {
  return [=](std::int64_t bytes) { return all_reduce_seconds(ranks, wire, bytes); };
}

// In proportion to the measured size that is nearest.
CollectiveSeconds as_measured(const std::vector<record::AllReduceTime>& times) {
  return [times](std::int64_t bytes) {
    const auto distance = [&](const record::AllReduceTime& t) { return std::abs(t.bytes - bytes); };
    const auto nearest = std::ranges::min_element(times, {}, distance);
    if (nearest == times.end() || !nearest->seconds) return 0.0;
    return *nearest->seconds * static_cast<double>(bytes) / static_cast<double>(nearest->bytes);
  };
}

}  // namespace

void model_waiting(const PreparedCase& prepared, const Program& training, const PhaseSeconds& profile,
                   record::Communication& c) {
  const ParallelOptions& layout = prepared.config.parallel;
  c.modelled_exposed_seconds = Maybe<double>::missing("only sums of replicas in step with each other are modelled");
  if (layout.dp == 1 || layout.ranks() != layout.dp || layout.mode != "sync") return;
  if (profile.operations.size() != training.operations.size() || c.rank_step_seconds.empty()) return;
  double computed = 0;
  for (std::size_t i = 0; i < profile.operations.size(); ++i)
    if (stream_of(training.operations[i].kind) == compute_stream) computed += profile.operations[i];
  if (!(computed > 0)) return;
  // A profiled step is slower than a real one.
  std::vector<double> seconds = profile.operations;
  for (double& one : seconds) one *= c.rank_step_seconds.front() / computed;
  const CollectiveSeconds speed =
      layout.wire ? over_wire(static_cast<int>(layout.dp), {layout.wire->latency_seconds, layout.wire->bytes_per_second})
                  : as_measured(c.all_reduces);
  if (const auto modelled = modelled_exposed_seconds(training, seconds, speed)) c.modelled_exposed_seconds = *modelled;
}

}  // namespace gpusizer
