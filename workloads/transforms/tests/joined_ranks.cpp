// SPDX-License-Identifier: Apache-2.0
// Threads, the communicator that joins them, and inputs that depend on the sample alone.
#include "workloads/transforms/tests/joined_ranks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <thread>

#include "workloads/backend/communicator/thread_group.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/sequence_layers.hpp"

namespace gpusizer {

namespace {

class SampleFeed {
 public:
  SampleFeed(const Program& p, int64_t first_sample, int step) {
    for (const Tensor& t : p.tensors) {
      if (t.role != Role::input) continue;
      const size_t at = t.name.find('@');
      const int64_t part = at == std::string::npos ? 0 : std::stoll(t.name.substr(at + 1));
      const int64_t first = first_sample + part * t.shape[0], each = element_count(t.shape) / t.shape[0];
      t.dtype == DType::i32 ? add_labels(t, t.name.substr(0, at), first, each, step) : add_values(t, first, each, step);
    }
  }
  void add(TensorId id, std::vector<float> values) { bind(id, floats_.emplace_back(std::move(values)).data()); }
  StepInputs inputs() const { return bindings_; }

 private:
  void bind(TensorId id, const void* data) { bindings_.push_back({id, data}); }

  void add_values(const Tensor& t, int64_t first, int64_t each, int step) {
    std::vector<float> values;
    for (int64_t i = first * each; i < (first + t.shape[0]) * each; ++i)
      values.push_back(static_cast<float>(std::sin(1.7 * static_cast<double>(i) + step)));
    add(t.id, std::move(values));
  }

  void add_labels(const Tensor& t, const std::string& name, int64_t first, int64_t each, int step) {
    std::vector<int32_t> values;
    for (int64_t i = first * each; i < (first + t.shape[0]) * each; ++i) {
      const bool masked = name.starts_with("masked") && (i < 3 ? i != 1 : i % 4 == 0);
      values.push_back(masked ? -1 : static_cast<int32_t>((i * 7 + step) % 3));
    }
    bind(t.id, integers_.emplace_back(std::move(values)).data());
  }

  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<int32_t>> integers_;
  std::vector<Binding> bindings_;
};

struct RankRun {
  std::vector<StepResult> results;
  std::map<std::string, std::vector<float>> after;
};

RankRun run_rank(const RankProgram& rank, const JoinedOptions& options, Communicator& communicator) {
  const auto backend = make_backend(options.backend);
  Device device = backend->probe().devices.at(0);
  device.threads = 1;  // the ranks are enough, and a thread sanitizer does not see how OpenMP's threads meet
  const auto executor = backend->make_executor({lower(rank.program, backend->target(device))}, device, &communicator);
  initialize(*executor, 1, 3);
  const Program& p = executor->program(0).program;
  RankRun run;
  for (int step = 0; step < options.steps; ++step) {
    SampleFeed feed(p, rank.first_sample, step);
    if (const Tensor* t = p.find("learning_rate")) feed.add(t->id, {options.learning_rate});
    if (const Tensor* t = p.find("stop_vote"); t && !options.stop_votes.empty())
      feed.add(t->id, {options.stop_votes.at(static_cast<size_t>(communicator.rank()))});
    executor->enqueue(0, feed.inputs());
    run.results.push_back(executor->collect().value());
  }
  for (const Tensor& t : p.tensors) {
    if (!is_persistent(t.role) || t.role == Role::scalar) continue;
    auto& values = run.after[t.name];
    values.resize(static_cast<size_t>(element_count(t.shape)));
    executor->read(t.name, values);
  }
  return run;
}

// A body of two layers, and the batch that it is for.
TensorId body(ProgramBuilder& b, int64_t batch) {
  const TensorId x = b.input("x", {batch, 6});
  return relu(b, "relu", linear(b, "first", x, 5));
}

}  // namespace

JoinedRun run_joined(const std::vector<RankProgram>& ranks, const JoinedOptions& options) {
  constexpr double timeout_seconds = 60;
  ThreadGroup group(static_cast<int>(ranks.size()), timeout_seconds);
  JoinedRun run;
  run.results.resize(ranks.size());
  run.after.resize(ranks.size());
  std::vector<std::thread> threads;
  std::vector<std::string> errors(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i)
    threads.emplace_back([&, i, communicator = std::shared_ptr<Communicator>(group.join(static_cast<int>(i)))] {
      try {
        RankRun one = run_rank(ranks[i], options, *communicator);
        run.results[i] = std::move(one.results);
        run.after[i] = std::move(one.after);
      } catch (const std::exception& e) {
        errors[i] = e.what();
        communicator->abort(e.what());
      }
    });
  for (std::thread& t : threads) t.join();
  for (size_t i = 0; i < errors.size(); ++i) EXPECT_EQ(errors[i], "") << "rank " << i;
  return run;
}

Program two_loss_net(int64_t batch) {
  ProgramBuilder b("two losses", batch);
  const TensorId h = body(b, batch);
  const TensorId masked_labels = b.input("masked_labels", {batch}, DType::i32);
  const TensorId labels = b.input("labels", {batch}, DType::i32);
  const auto masked = b.apply(OpKind::softmax_cross_entropy, "masked_loss", {linear(b, "masked", h, 3), masked_labels},
                              LossAttributes{.ignore_negative = true});
  const auto plain =
      b.apply(OpKind::softmax_cross_entropy, "plain_loss", {linear(b, "plain", h, 3), labels}, LossAttributes{});
  b.set_loss(add(b, "loss", masked[0], plain[0]), plain[1]);
  b.add_output({"masked_loss", masked[0], masked[3]});
  b.add_output({"masked_accuracy", masked[1], masked[3], true});
  b.add_output({"plain_loss", plain[0], {}});
  return b.finish();
}

Program number_net(int64_t batch) {
  ProgramBuilder b("numbers", batch);
  const TensorId h = body(b, batch), targets = b.input("targets", {batch, 2});
  const auto loss = b.apply(OpKind::mse_loss, "loss", {linear(b, "head", h, 2), targets});
  b.set_loss(loss[0]);
  b.add_output({"mae", loss[1], {}});
  return b.finish();
}

}  // namespace gpusizer
