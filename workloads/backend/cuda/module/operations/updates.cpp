// SPDX-License-Identifier: Apache-2.0
// Updates of parameters, many in one launch, and what stands between gradients and updates.
#include <cmath>

#include "workloads/backend/cuda/module/kernels/updates.hpp"
#include "workloads/backend/cuda/module/operations.hpp"
#include "workloads/backend/cuda/module/resources.hpp"

namespace gpusizer::cuda {

namespace {

template <class T>
DeviceMemory upload(const std::vector<T>& list) {
  DeviceMemory memory(static_cast<int64_t>(list.size() * sizeof(T)));
  GPUSIZER_CHECK(cudaMemcpy(memory.data(), list.data(), list.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

int64_t chunks_in(int64_t count) { return (count + chunk_elements - 1) / chunk_elements; }

std::vector<Chunk> chunks_of(const std::vector<int64_t>& counts) {
  std::vector<Chunk> list;
  for (size_t t = 0; t < counts.size(); ++t)
    for (int64_t c = 0; c < chunks_in(counts[t]); ++c)
      list.push_back({static_cast<int32_t>(t), static_cast<int32_t>(c)});
  return list;
}

// What all rules share, whatever the attributes' type.
struct Steering {
  Rule rule = Rule::sgd;
  float weight_decay = 0, l1 = 0, momentum = 0, epsilon = 0;
  double beta1 = 0, beta2 = 0;
  bool decoupled = false, scaled = false;
};

Steering steering_of(const Operation& op) {
  Steering s;
  if (const auto* sgd = std::get_if<SgdAttributes>(&op.attributes)) {
    s = {Rule::sgd, static_cast<float>(sgd->weight_decay), static_cast<float>(sgd->l1), static_cast<float>(sgd->momentum)};
    s.scaled = sgd->scaled;
    return s;
  }
  const auto take = [&s](const UpdateAttributes& u) {
    s.weight_decay = static_cast<float>(u.weight_decay);
    s.l1 = static_cast<float>(u.l1);
    s.scaled = u.scaled;
  };
  if (const auto* adagrad = std::get_if<AdagradAttributes>(&op.attributes)) {
    s.rule = Rule::adagrad;
    s.epsilon = static_cast<float>(adagrad->epsilon);
    take(adagrad->update);
    return s;
  }
  const auto& adam = std::get<AdamAttributes>(op.attributes);
  s.rule = op.kind == OpKind::lamb ? Rule::lamb : Rule::adam;
  s.beta1 = adam.beta1;
  s.beta2 = adam.beta2;
  s.epsilon = static_cast<float>(adam.epsilon);
  s.decoupled = adam.decoupled;
  take(adam.update);
  return s;
}

Update update_of(const Program& program, const Operation& op, const Place& place) {
  const Steering s = steering_of(op);
  const Tensor &parameter = program.tensor(op.inputs[0]), &gradient = program.tensor(op.inputs[1]);
  Update u{.parameter = place.floats(op.inputs[0]), .gradient = {place.bytes(op.inputs[1]), element_of(gradient)},
           .first = nullptr, .second = nullptr, .short_parameter = {}, .count = element_count(parameter.shape),
           .weight_decay = s.weight_decay, .l1 = s.l1, .first_chunk = 0};
  if (op.outputs.size() > 1) u.first = place.floats(op.outputs[1]);
  if (op.outputs.size() > 2) u.second = place.floats(op.outputs[2]);
  return u;
}

UpdateCall call_of(const Operation& op, const Place& place) {
  const Steering s = steering_of(op);
  UpdateCall call{};
  call.rule = s.rule;
  call.learning_rate = place.floats(op.inputs[2]);
  if (s.scaled) call.factor = place.floats(op.inputs.back());
  if (s.rule == Rule::adam || s.rule == Rule::lamb) call.steps = place.floats(op.inputs[5]);
  call.momentum = s.momentum;
  call.beta1 = static_cast<float>(s.beta1);
  call.beta2 = static_cast<float>(s.beta2);
  call.rest1 = static_cast<float>(1 - s.beta1);
  call.rest2 = static_cast<float>(1 - s.beta2);
  call.log_beta1 = static_cast<float>(std::log(s.beta1));
  call.log_beta2 = static_cast<float>(std::log(s.beta2));
  call.epsilon = s.epsilon;
  call.decoupled = s.decoupled;
  return call;
}

}  // namespace

bool is_update(OpKind kind) {
  return kind == OpKind::sgd || kind == OpKind::adam || kind == OpKind::adagrad || kind == OpKind::lamb;
}

// The same numbers but for what each tensor has of its own: weight decay and L1.
bool same_launch(const Operation& a, const Operation& b) {
  if (a.kind != b.kind || a.inputs[2] != b.inputs[2] || a.outputs.size() != b.outputs.size()) return false;
  Steering one = steering_of(a), other = steering_of(b);
  if (one.scaled != other.scaled || (one.scaled && a.inputs.back() != b.inputs.back())) return false;
  return one.momentum == other.momentum && one.beta1 == other.beta1 && one.beta2 == other.beta2 &&
         one.epsilon == other.epsilon && one.decoupled == other.decoupled;
}

Launch bind_updates(const Program& program, std::span<const Operation> operations, const Place& place) {
  std::vector<Update> updates;
  std::vector<int64_t> counts;
  int64_t first_chunk = 0;
  for (const Operation& op : operations) {
    updates.push_back(update_of(program, op, place));
    updates.back().first_chunk = static_cast<int32_t>(first_chunk);
    counts.push_back(updates.back().count);
    first_chunk += chunks_in(counts.back());
  }
  const std::vector<Chunk> chunks = chunks_of(counts);
  UpdateCall call = call_of(operations.front(), place);
  call.update_count = static_cast<int32_t>(updates.size());
  call.chunk_count = static_cast<int32_t>(chunks.size());
  DeviceMemory update_list = upload(updates), chunk_list = upload(chunks);
  DeviceMemory norms(call.rule == Rule::lamb ? lamb_norm_floats(call.chunk_count, call.update_count) * 4 : 0);
  call.updates = reinterpret_cast<const Update*>(update_list.data());
  call.chunks = reinterpret_cast<const Chunk*>(chunk_list.data());
  call.norms = reinterpret_cast<float*>(norms.data());
  return work([call, a = std::move(update_list), b = std::move(chunk_list), c = std::move(norms)](cudaStream_t stream) {
    GPUSIZER_CHECK(update_parameters(call, stream));
  });
}

Prepared update(const Request& r) {
  return {.bind = [&program = r.program, op = r.op](const Place& place) {
    return bind_updates(program, std::span(&op, 1), place);
  }};
}

namespace {

// The norm or the sum of squares of `count` inputs; `finish` fills in where the results go.
template <class Finish>
Prepared over_gradients(const Request& r, size_t count, Finish finish) {
  std::vector<Slot> slots;
  std::vector<int64_t> counts;
  for (size_t i = 0; i < count; ++i) {
    slots.emplace_back(r, r.op.inputs[i]);
    counts.push_back(element_count(r.input(i).shape));
  }
  const auto chunks = static_cast<int64_t>(chunks_of(counts).size());
  return {.workspace_bytes = chunks * static_cast<int64_t>(sizeof(double)), .bind = [=](const Place& place) {
    std::vector<Summand> summands;
    for (size_t i = 0; i < slots.size(); ++i) summands.push_back({slots[i].at(place), counts[i]});
    DeviceMemory summand_list = upload(summands), chunk_list = upload(chunks_of(counts));
    NormCall call{.summands = reinterpret_cast<const Summand*>(summand_list.data()),
                  .chunks = reinterpret_cast<const Chunk*>(chunk_list.data()), .chunk_count = static_cast<int32_t>(chunks),
                  .partials = reinterpret_cast<double*>(place.workspace)};
    finish(call, place);
    return work([call, a = std::move(summand_list), b = std::move(chunk_list)](cudaStream_t stream) {
      GPUSIZER_CHECK(gradient_norm(call, stream));
    });
  }};
}

void to_factor(NormCall& call, const Place& place, const Operation& op) {
  const auto& a = std::get<GradientNormAttributes>(op.attributes);
  call.factor = place.floats(op.outputs[0]);
  call.norm = place.floats(op.outputs[1]);
  call.clip = static_cast<float>(a.clip);
  if (a.scaled) call.loss_scale = place.floats(op.inputs.back());
}

}  // namespace

// (gradients... [, loss scale]) -> factor, norm
Prepared norm_of_gradients(const Request& r) {
  const bool scaled = r.attributes<GradientNormAttributes>().scaled;
  return over_gradients(r, r.op.inputs.size() - (scaled ? 1 : 0),
                        [op = r.op](NormCall& call, const Place& place) { to_factor(call, place, op); });
}

// (gradients...) -> the sum of their squares
Prepared sum_of_squares(const Request& r) {
  return over_gradients(r, r.op.inputs.size(), [out = r.op.outputs[0]](NormCall& call, const Place& place) {
    call.squares = place.floats(out);
  });
}

// (sum of squares [, loss scale]) -> factor, norm
Prepared factor_of_norm(const Request& r) {
  return {.bind = [op = r.op](const Place& place) {
    NormCall call{};
    to_factor(call, place, op);
    return work([call, squares = place.floats(op.inputs[0])](cudaStream_t stream) {
      GPUSIZER_CHECK(norm_factor(squares, call, stream));
    });
  }};
}

// (steps [, factor]) -> steps
Prepared step_counter(const Request& r) {
  return {.bind = [op = r.op](const Place& place) {
    const float* factor = op.inputs.size() > 1 ? place.floats(op.inputs[1]) : nullptr;
    return work([steps = place.floats(op.outputs[0]), factor](cudaStream_t stream) {
      GPUSIZER_CHECK(count_step(steps, factor, stream));
    });
  }};
}

// (loss scale, good steps in a row, factor) -> loss scale, good steps
Prepared loss_scale(const Request& r) {
  return {.bind = [op = r.op](const Place& place) {
    const auto& a = std::get<LossScaleAttributes>(op.attributes);
    const LossScaleCall call{place.floats(op.outputs[0]), place.floats(op.outputs[1]), place.floats(op.inputs[2]),
                             static_cast<float>(a.growth), static_cast<float>(a.backoff), static_cast<float>(a.largest),
                             static_cast<float>(a.interval)};
    return work([call](cudaStream_t stream) { GPUSIZER_CHECK(update_loss_scale(call, stream)); });
  }};
}

// (a, b) -> a / b
Prepared quotient(const Request& r) {
  return {.bind = [op = r.op](const Place& place) {
    return work([y = place.floats(op.outputs[0]), a = place.floats(op.inputs[0]), b = place.floats(op.inputs[1])](
                    cudaStream_t stream) { GPUSIZER_CHECK(divide(y, a, b, stream)); });
  }};
}

// labels -> how many are not negative
Prepared label_count(const Request& r) {
  return {.bind = [op = r.op, count = element_count(r.input(0).shape)](const Place& place) {
    return work([y = place.floats(op.outputs[0]), labels = place.ints(op.inputs[0]), count](cudaStream_t stream) {
      GPUSIZER_CHECK(count_labels(y, labels, count, stream));
    });
  }};
}

}  // namespace gpusizer::cuda
