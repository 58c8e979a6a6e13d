// SPDX-License-Identifier: Apache-2.0
// The small net, and its inputs: the same whatever they are split into.
#include "workloads/transforms/tests/small_step.hpp"

#include <cmath>
#include <map>
#include <string>

#include "workloads/program/layers.hpp"
#include "workloads/program/sequence_layers.hpp"
#include "workloads/transforms/gradient_accumulation.hpp"

namespace gpusizer {

namespace {

Program net(int64_t batch, bool rich) {
  ProgramBuilder b("small", batch);
  const TensorId x = b.input("x", {batch, 6}), labels = b.input("labels", {batch}, DType::i32);
  TensorId h = relu(b, "relu", linear(b, "first", x, 5));
  if (rich) h = layer_norm(b, "norm", dropout(b, "drop", h, 0.5), 1e-3);
  classification_loss(b, linear(b, "last", h, 3), labels);
  return b.finish();
}

}  // namespace

Program small_net(int64_t batch) { return net(batch, false); }
Program rich_net(int64_t batch) { return net(batch, true); }

SmallRun::SmallRun(std::string_view backend, const Program& training, int64_t micro_batches)
    : micro_batches_(micro_batches) {
  const auto made = make_backend(backend);
  const Device device = made->probe().devices.at(0);
  executor_ = made->make_executor({lower(training, made->target(device))}, device);
  initialize(*executor_, 1, 3);
}

StepResult SmallRun::step(int number, float learning_rate) {
  const int64_t batch = program().batch, part = batch / micro_batches_;
  std::vector<float> x(static_cast<size_t>(batch * 6));
  std::vector<int32_t> labels(static_cast<size_t>(batch)), random{3, number};
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i) + number));
  for (size_t i = 0; i < labels.size(); ++i)
    labels[i] = static_cast<int32_t>((i * 7 + static_cast<size_t>(number)) % 3);
  std::vector<Binding> inputs;
  const auto bind = [&](const std::string& name, const void* data) {
    if (const Tensor* t = program().find(name)) inputs.push_back({t->id, data});
  };
  bind("learning_rate", &learning_rate);
  bind("random_state", random.data());
  for (int64_t i = 0; i < micro_batches_; ++i) {
    const auto name = [&](const char* field) { return micro_batches_ > 1 ? micro_batch_name(field, i) : field; };
    bind(name("x"), x.data() + i * part * 6);
    bind(name("labels"), labels.data() + i * part);
  }
  executor_->enqueue(0, inputs);
  return executor_->collect().value();
}

std::vector<float> SmallRun::read(std::string_view tensor) const {
  std::vector<float> values(static_cast<size_t>(element_count(program().find(tensor)->shape)));
  executor_->read(tensor, values);
  return values;
}

}  // namespace gpusizer
