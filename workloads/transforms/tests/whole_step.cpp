// SPDX-License-Identifier: Apache-2.0
// Small models, made-up inputs, joined stages.
#include "workloads/transforms/tests/whole_step.hpp"

#include <cmath>
#include <deque>
#include <map>
#include <stdexcept>
#include <utility>

#include "workloads/program/builder.hpp"

namespace gpusizer {

namespace {

constexpr int64_t vocabulary = 30, sequence = 8;

// Positive whole numbers below `end` that depend on the tensor's name and the step alone.
int64_t made_up(const std::string& name, int64_t element, int step, int64_t end) {
  uint64_t hash = 1469598103934665603u + static_cast<uint64_t>(step);
  for (const char c : name) hash = (hash ^ static_cast<uint64_t>(c)) * 1099511628211u;
  hash = (hash ^ static_cast<uint64_t>(element)) * 1099511628211u;
  return static_cast<int64_t>((hash >> 20) % static_cast<uint64_t>(end));
}

int32_t made_up_index(const std::string& name, int64_t element, int step) {
  if (name.starts_with("input_ids")) return static_cast<int32_t>(made_up(name, element, step, vocabulary));
  if (name.starts_with("lengths")) return static_cast<int32_t>(2 + made_up(name, element, step, sequence - 1));
  if (name.starts_with("mlm_positions")) return static_cast<int32_t>(made_up(name, element, step, sequence));
  if (name.starts_with("mlm_labels")) return static_cast<int32_t>(made_up(name, element, step, vocabulary + 1)) - 1;
  return static_cast<int32_t>(made_up(name, element, step, 2));
}

// Joins the stages' programs: each goes on until it needs a message that has not been sent.
class Joining {
 public:
  Joining(const std::vector<PipelineStage>& stages, const std::vector<int32_t>& ranks)
      : stages_(stages), ranks_(ranks) {
    to_.name = stages[0].step.program.name;
    to_.batch = stages[0].step.program.batch;
    maps_.resize(stages.size()), awaited_.resize(stages.size()), next_.assign(stages.size(), 0);
  }

  Differentiated run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t s = 0; s < stages_.size(); ++s)
        while (advance(s)) moved = true;
    }
    for (size_t s = 0; s < stages_.size(); ++s)
      if (next_[s] < program(s).operations.size()) throw std::runtime_error("a stage waits for ever");
    return finish();
  }

 private:
  const Program& program(size_t s) const { return stages_[s].step.program; }

  TensorId map(size_t s, TensorId id) {
    if (const auto it = maps_[s].find(id); it != maps_[s].end()) return it->second;
    Tensor t = program(s).tensor(id);
    const bool shared = is_persistent(t.role) || t.role == Role::input || t.role == Role::scalar;
    if (shared)
      if (const Tensor* known = to_.find(t.name)) return maps_[s][id] = known->id;
    if (!shared) t.name = "s" + std::to_string(s) + "/" + t.name;
    t.id = TensorId{static_cast<int32_t>(to_.tensors.size())};
    to_.tensors.push_back(t);
    return maps_[s][id] = t.id;
  }

  // Messages arrive whenever they may: an operation waits for those that it reads, a receive for nothing.
  bool advance(size_t s) {
    if (next_[s] == program(s).operations.size()) return false;
    const Operation& op = program(s).operations[next_[s]];
    for (const TensorId id : op.inputs)
      if (!has_arrived(s, id)) return false;
    ++next_[s];
    if (op.kind == OpKind::receive) {
      const Pair pair{std::get<MessageAttributes>(op.attributes).peer, ranks_[s]};
      for (size_t i = 0; i < op.outputs.size(); ++i) awaited_[s][op.outputs[i]] = {pair, received_[pair], i};
      ++received_[pair];
      return true;
    }
    Operation copy = op;
    for (TensorId& id : copy.inputs) id = map(s, id);
    if (op.kind == OpKind::send) {
      sent_[{ranks_[s], std::get<MessageAttributes>(op.attributes).peer}].push_back(copy.inputs);
      return true;
    }
    for (TensorId& id : copy.outputs) id = map(s, id);
    copy.forward_op = -1;  // places are mixed here, and the reference backend does not look at it
    to_.operations.push_back(std::move(copy));
    return true;
  }

  bool has_arrived(size_t s, TensorId id) {
    const auto it = awaited_[s].find(id);
    if (it == awaited_[s].end()) return true;
    const auto& [pair, number, place] = it->second;
    if (sent_[pair].size() <= number) return false;
    maps_[s][id] = sent_[pair][number].at(place);
    awaited_[s].erase(it);
    return true;
  }

  Differentiated finish() {
    const size_t last = stages_.size() - 1;
    const auto from_last = [&](TensorId id) { return id.index < 0 ? id : map(last, id); };
    to_.loss = from_last(program(last).loss), to_.correct = from_last(program(last).correct);
    for (ProgramOutput out : program(last).outputs) {
      out.value = from_last(out.value), out.count = from_last(out.count);
      to_.outputs.push_back(out);
    }
    std::map<TensorId, TensorId> gradients;
    ProgramBuilder b(std::move(to_));
    for (size_t s = 0; s < stages_.size(); ++s)
      for (const auto& [parameter, gradient] : stages_[s].step.gradients) {
        const TensorId of = maps_[s].at(parameter), part = maps_[s].at(gradient);
        const auto [it, first] = gradients.try_emplace(of, part);
        if (!first)
          it->second = b.apply(OpKind::add, b.program().tensor(of).name + ":all", {it->second, part}, AddAttributes{},
                               Phase::backward)[0];
      }
    return {b.finish(), {gradients.begin(), gradients.end()}};
  }

  const std::vector<PipelineStage>& stages_;
  const std::vector<int32_t>& ranks_;
  Program to_;
  std::vector<std::map<TensorId, TensorId>> maps_;
  std::vector<size_t> next_;
  using Pair = std::pair<int32_t, int32_t>;  // ranks: from, to
  std::map<Pair, std::vector<std::vector<TensorId>>> sent_;
  std::map<Pair, size_t> received_;
  struct Awaited {
    Pair pair;
    size_t message, place;
  };
  std::vector<std::map<TensorId, Awaited>> awaited_;  // by stage: what a receive will bring
};

}  // namespace

Program small_model(const std::string& name, int64_t layers, int64_t batch, Mode mode) {
  ModelOptions o;
  if (name == "resnet8") o.classes = 2, o.image_size = 4;
  if (name == "bert-mini")
    o = {.layers = layers,
         .hidden = 8,
         .heads = 2,
         .feed_forward = 12,
         .vocabulary = vocabulary,
         .sequence = sequence,
         .predictions = 3};
  if (name == "temporal")
    o = {.layers = layers, .hidden = 8, .heads = 2, .feed_forward = 12, .window = 6, .horizon = 3};
  if (name == "lstm") o = {.layers = layers, .hidden = 8, .window = 6, .horizon = 3};
  return build_model(find_model(name), o, batch, mode);
}

Differentiated joined(const std::vector<PipelineStage>& stages, const std::vector<int32_t>& ranks) {
  return Joining(stages, ranks).run();
}

WholeRun::WholeRun(const Program& training, Communicator* communicator) {
  const auto backend = make_backend("reference");
  const Device device = backend->probe().devices.at(0);
  executor_ = backend->make_executor({lower(training, backend->target(device))}, device, communicator);
  initialize(*executor_, 1, 7);
}

StepResult WholeRun::step(int number) {
  std::deque<std::vector<float>> numbers;
  std::deque<std::vector<int32_t>> indices;
  std::vector<Binding> inputs;
  for (const Tensor& t : program().tensors) {
    if (t.role != Role::input && t.role != Role::scalar) continue;
    const int64_t count = element_count(t.shape);
    if (t.dtype == DType::i32) {
      auto& values = indices.emplace_back();
      for (int64_t i = 0; i < count; ++i)
        values.push_back(t.name == "random_state" ? number + 5 : made_up_index(t.name, i, number));
      inputs.push_back({t.id, values.data()});
    } else if (t.role == Role::input) {
      auto& values = numbers.emplace_back();
      for (int64_t i = 0; i < count; ++i)
        values.push_back(static_cast<float>(made_up(t.name, i, number, 2001)) / 1000.0f - 1.0f);
      inputs.push_back({t.id, values.data()});
    } else if (t.name == "learning_rate") {
      inputs.push_back({t.id, numbers.emplace_back(1, 0.1f).data()});
    }
  }
  executor_->enqueue(0, inputs);
  return executor_->collect().value();
}

std::vector<float> WholeRun::read(const std::string& tensor) const {
  std::vector<float> values(static_cast<size_t>(element_count(program().find(tensor)->shape)));
  executor_->read(tensor, values);
  return values;
}

std::vector<std::string> WholeRun::parameters() const {
  std::vector<std::string> names;
  for (const Tensor& t : program().tensors)
    if (is_persistent(t.role)) names.push_back(t.name);
  return names;
}

}  // namespace gpusizer
