// SPDX-License-Identifier: Apache-2.0
// The order of the transforms, inputs by sample, ranks as threads, whole parameters out of parts.
#include "workloads/backend/tests/layout_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>

#include "workloads/backend/tests/ranks.hpp"
#include "workloads/lowering/memory_plan.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/autodiff.hpp"
#include "workloads/program/part.hpp"
#include "workloads/transforms/check_schedule.hpp"
#include "workloads/transforms/data_parallel.hpp"
#include "workloads/transforms/gradient_accumulation.hpp"
#include "workloads/transforms/recompute.hpp"
#include "workloads/transforms/shared_results.hpp"
#include "workloads/transforms/sync_batch_norm.hpp"
#include "workloads/transforms/tensor_parallel.hpp"

namespace gpusizer {

namespace {

constexpr int64_t words = 32, tokens = 8;

Program small_forward(const std::string& model, int64_t batch) {
  ModelOptions o{.layers = 2, .hidden = 16, .heads = 2, .feed_forward = 24};
  if (model == "resnet8") o = {.classes = 4, .image_size = 12, .channels = 3};
  if (model == "bert-mini") o.vocabulary = words, o.sequence = tokens, o.predictions = 4;
  if (model == "temporal" || model == "lstm") o.window = 6, o.horizon = 3;
  if (model == "lstm") o.heads = o.feed_forward = 0;
  // Without batch norms a model in evaluation is one in training without its dropouts.
  return build_model(find_model(model), o, batch, model == "resnet8" ? Mode::train : Mode::evaluate);
}

struct Place {
  int32_t replica, stage, slice;
};

Place place_of(const Layout& l, int32_t rank) {
  return {rank / (l.slices * l.stages), rank / l.slices % l.stages, rank % l.slices};
}

// World ranks, ascending, whose place fits.
template <class Fits>
std::vector<int32_t> ranks_where(const Layout& l, Fits fits) {
  std::vector<int32_t> ranks;
  for (int32_t r = 0; r < l.ranks(); ++r)
    if (fits(place_of(l, r))) ranks.push_back(r);
  return ranks;
}

int64_t total(const std::vector<int64_t>& samples) {
  return std::accumulate(samples.begin(), samples.end(), int64_t{0});
}

Differentiated replica_step(const std::string& model, const Layout& l, int32_t rank) {
  const Place at = place_of(l, rank);
  const auto same_stage_and_slice = [&](Place p) { return p.stage == at.stage && p.slice == at.slice; };
  const auto same_replica_and_stage = [&](Place p) { return p.replica == at.replica && p.stage == at.stage; };
  const int64_t samples = l.samples[static_cast<size_t>(at.replica)];
  Program forward = small_forward(model, samples / l.micro_batches);
  if (l.norm_group > 0) forward = set_norm_group(forward, l.norm_group);
  if (l.sync_batch_norm) forward = sync_batch_norm(forward, rank, ranks_where(l, same_stage_and_slice));
  forward = tensor_parallel(forward, {rank, ranks_where(l, same_replica_and_stage)});
  Differentiated step = remove_forks(differentiate(forward));
  if (l.recompute) step = recompute(step);
  return mixed_precision(accumulate_gradients(step, l.micro_batches), l.precision);
}

DataParallelOptions replicas_of(const Layout& l, int32_t rank, const PipelineStage& stage) {
  const Place at = place_of(l, rank);
  DataParallelOptions o;
  o.rank = rank;
  o.replicas = ranks_where(l, [&](Place p) { return p.stage == at.stage && p.slice == at.slice; });
  o.samples = l.samples[static_cast<size_t>(at.replica)];
  o.total_samples = total(l.samples);
  o.bucket_bytes = o.first_bucket_bytes = l.bucket_bytes;
  o.sharded = l.sharded;
  o.model = ranks_where(l, [&](Place p) { return p.replica == at.replica; });
  o.world = l.ranks();
  o.first_slice = at.slice == 0;
  for (const auto& [name, stages] : stage.tied)
    if (std::ranges::count(stages, at.stage) > 0)
      o.tied[name] = ranks_where(l, [&, &holders = stages](Place p) {
        return p.slice == at.slice && std::ranges::count(holders, p.stage) > 0;
      });
  return o;
}

Program rank_program(const std::string& model, const Layout& l, int32_t rank) {
  const Place at = place_of(l, rank);
  Differentiated step = replica_step(model, l, rank);
  const ResultNames results = result_names(step.program);
  PipelineStage stage{step, {}};
  if (l.stages > 1) {
    const auto of_replica = ranks_where(l, [&](Place p) { return p.replica == at.replica && p.slice == at.slice; });
    const PipelinePlan plan = plan_stages(differentiate(small_forward(model, 2)), l.stages);
    stage = pipeline(step, plan, of_replica, l.schedule).at(static_cast<size_t>(at.stage));
  }
  const DataParallelOptions replicas = replicas_of(l, rank, stage);
  const ParallelUpdate update = parallel_update(stage.step, replicas);
  Differentiated own = data_parallel(stage.step, replicas);
  Program program = add_optimizer(std::move(own.program), own.gradients, l.optimizer, update);
  if (l.ranks() == 1) return program;
  const auto everybody = ranks_where(l, [](Place) { return true; });
  return share_results(std::move(program), results, {.rank = rank, .ranks = everybody, .contributes = at.slice == 0});
}

// Numbers that look random, the same for the same place.
uint64_t scrambled(const std::string& name, int64_t element, int step) {
  uint64_t hash = 1469598103934665603u;
  for (const char c : name) hash = (hash ^ static_cast<uint64_t>(static_cast<unsigned char>(c))) * 1099511628211u;
  for (const auto part : {element, static_cast<int64_t>(step)}) {
    hash ^= static_cast<uint64_t>(part) + 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    hash ^= hash >> 31;
  }
  return hash;
}

int32_t whole_number(const std::string& name, int64_t sample, int64_t element, int step) {
  const uint64_t number = scrambled(name, element, step) >> 8;
  const auto below = [&](int64_t end) { return static_cast<int32_t>(number % static_cast<uint64_t>(end)); };
  if (name == "input_ids") return below(words);
  if (name == "lengths") return 2 + below(tokens - 1);
  if (name == "mlm_positions") return below(tokens);
  if (name == "mlm_labels") return scrambled("masked", element, step) % 8 < (sample < 3 ? 6 : 3) ? -1 : below(words);
  if (name == "labels") return below(4);
  return below(2);
}

float real_number(const std::string& name, int64_t element, int step) {
  return static_cast<float>(scrambled(name, element, step) >> 40) / static_cast<float>(1 << 23) - 1;
}

class SampleInputs {
 public:
  SampleInputs(const Program& p, int64_t first_sample, int64_t micro_batches, int step, float learning_rate) {
    for (const Tensor& t : p.tensors) {
      if (t.name == "learning_rate") bind(t.id, floats_.emplace_back(std::vector{learning_rate}).data());
      if (t.role != Role::input) continue;
      const size_t at = t.name.find('@');
      const std::string name = t.name.substr(0, at);
      const int64_t part = at == std::string::npos ? 0 : std::stoll(t.name.substr(at + 1));
      const int64_t samples = p.batch / micro_batches, each = element_count(t.shape) / samples;
      const int64_t first = (first_sample + part * samples) * each, end = first + samples * each;
      t.dtype == DType::i32 ? add_whole(t.id, name, first, end, each, step) : add_real(t.id, name, first, end, step);
    }
  }
  StepInputs inputs() const { return bindings_; }

 private:
  void bind(TensorId id, const void* data) { bindings_.push_back({id, data}); }
  void add_whole(TensorId id, const std::string& name, int64_t first, int64_t end, int64_t each, int step) {
    auto& values = integers_.emplace_back();
    for (int64_t i = first; i < end; ++i) values.push_back(whole_number(name, i / each, i, step));
    bind(id, values.data());
  }
  void add_real(TensorId id, const std::string& name, int64_t first, int64_t end, int step) {
    auto& values = floats_.emplace_back();
    for (int64_t i = first; i < end; ++i) values.push_back(real_number(name, i, step));
    bind(id, values.data());
  }

  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<int32_t>> integers_;
  std::vector<Binding> bindings_;
};

struct RankRun {
  std::vector<double> losses;
  std::map<std::string, std::pair<Tensor, std::vector<float>>> parameters;
};

RankRun run_rank(const Program& program, const Layout& l, const std::string& backend_name, int steps,
                 float learning_rate, Communicator& communicator) {
  const auto backend = make_backend(backend_name);
  Device device = backend->probe().devices.at(0);
  device.threads = 1;
  std::vector<LoweredProgram> lowered{lower(program, backend->target(device))};
  for (const std::string& fault : check_plan(lowered, plan_memory(lowered))) ADD_FAILURE() << fault;
  const auto executor = backend->make_executor(std::move(lowered), device, &communicator);
  initialize(*executor, 1, 5);
  const Program& p = executor->program(0).program;
  const auto replica = static_cast<size_t>(place_of(l, communicator.rank()).replica);
  const int64_t first = total({l.samples.begin(), l.samples.begin() + static_cast<std::ptrdiff_t>(replica)});
  RankRun run;
  for (int step = 0; step < steps; ++step) {
    const SampleInputs feed(p, first, l.micro_batches, step, learning_rate);
    executor->enqueue(0, feed.inputs());
    run.losses.push_back(executor->collect().value().loss);
  }
  for (const Tensor& t : p.tensors) {
    if (t.role != Role::parameter) continue;
    std::vector<float> values(static_cast<size_t>(element_count(t.shape)));
    executor->read(t.name, values);
    run.parameters[t.name] = {t, std::move(values)};
  }
  return run;
}

// Where no rank has put a value yet there is no number.
void put_together(const RankRun& rank, Values& whole) {
  for (const auto& [name, parameter] : rank.parameters) {
    const auto& [tensor, values] = parameter;
    const Part part = tensor.part.value_or(Part{.whole = tensor.shape});
    auto& all =
        whole.try_emplace(name, static_cast<size_t>(element_count(part.whole)), std::numeric_limits<float>::quiet_NaN())
            .first->second;
    const std::vector<float> known = tensor.part ? cut(part, all) : all;
    for (size_t i = 0; i < known.size(); ++i)
      EXPECT_TRUE(std::isnan(known[i]) || known[i] == values[i]) << name << " differs between its ranks";
    if (tensor.part)
      paste(part, values, all);
    else
      all = values;
  }
}

}  // namespace

std::vector<Program> rank_programs(const std::string& model, const Layout& layout) {
  std::vector<Program> programs;
  for (int32_t rank = 0; rank < layout.ranks(); ++rank) programs.push_back(rank_program(model, layout, rank));
  for (const std::string& fault : check_schedule(programs)) ADD_FAILURE() << layout.name << ": " << fault;
  return programs;
}

LayoutRun train_layout(const std::string& model, const Layout& layout, const std::string& backend, int steps,
                       float learning_rate) {
  const std::vector<Program> programs = rank_programs(model, layout);
  std::vector<RankRun> ranks(programs.size());
  on_ranks(layout.ranks(), [&](Communicator& c) {
    const auto rank = static_cast<size_t>(c.rank());
    ranks[rank] = run_rank(programs[rank], layout, backend, steps, learning_rate, c);
  });
  LayoutRun run{ranks[0].losses, {}};
  for (const RankRun& rank : ranks) {
    EXPECT_EQ(rank.losses, run.losses) << "every rank must know the same";
    put_together(rank, run.parameters);
  }
  return run;
}

}  // namespace gpusizer
