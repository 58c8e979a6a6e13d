// SPDX-License-Identifier: Apache-2.0
// Models shared out among ranks by tensor parallelism, and batch norms over several ranks' samples: on every backend,
// with threads as ranks, they learn what one rank learns.
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <numeric>

#include "gpusizer/error.hpp"
#include "workloads/backend/tests/ranks.hpp"
#include "workloads/backend/tests/training_run.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/program/part.hpp"
#include "workloads/transforms/data_parallel.hpp"
#include "workloads/transforms/sync_batch_norm.hpp"
#include "workloads/transforms/tensor_parallel.hpp"

namespace gpusizer {
namespace {

constexpr float slice_learning_rate = 0.05f;
constexpr int slice_steps = 4;

std::vector<int32_t> ranks_below(int count) {
  std::vector<int32_t> ranks(static_cast<size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// What one rank or several learned: losses, counts, and whole tensors.
struct Learned {
  std::vector<StepResult> results;
  Values values;
};

// The data of a whole program, for a program of one of its ranks.
std::vector<Binding> bindings_by_name(const Feed& feed, const Program& whole, const Program& program) {
  std::vector<Binding> bindings;
  for (const Binding& b : feed.inputs())
    if (const Tensor* t = program.find(whole.tensor(b.id).name)) bindings.push_back({t->id, b.data});
  return bindings;
}

std::unique_ptr<Executor> executor_for(const std::string& backend_name, const Program& program, Communicator* c) {
  const auto backend = make_backend(backend_name);
  Device device = backend->probe().devices.at(0);
  device.threads = 1;
  return backend->make_executor({lower(program, backend->target(device))}, device, c);
}

Learned learn_alone(const std::string& backend, const Program& training) {
  const auto x = executor_for(backend, training, nullptr);
  initialize(*x, 1, 7);
  Learned learned;
  for (int step = 0; step < slice_steps; ++step) {
    const Feed feed{training, 7, step, slice_learning_rate};
    x->enqueue(0, feed.inputs());
    learned.results.push_back(x->collect().value());
  }
  learned.values = read_persistent(*x, 0);
  return learned;
}

// Puts a rank's tensors where they belong in the whole; what several ranks have must be the same there.
void put_together(Values& whole, Executor& executor) {
  for (auto& [name, values] : read_persistent(executor, 0)) {
    const Tensor& t = *executor.program(0).program.find(name);
    const bool seen = whole.contains(name);
    if (t.part) {
      whole[name].resize(static_cast<size_t>(element_count(t.part->whole)));
      paste(*t.part, values, whole[name]);
    } else if (seen) {
      EXPECT_EQ(whole[name], values) << name << " differs between slices";
    } else {
      whole[name] = values;
    }
  }
}

Learned learn_in_slices(const std::string& backend, const Program& forward, int slices,
                        const OptimizerOptions& options) {
  const Program whole = training_program(forward, options);
  Learned learned;
  std::mutex mutex;
  on_ranks(slices, [&](Communicator& c) {
    const Differentiated step = remove_forks(differentiate(tensor_parallel(forward, {c.rank(), ranks_below(slices)})));
    const auto x = executor_for(backend, add_optimizer(step.program, step.gradients, options), &c);
    initialize(*x, 1, 7);
    std::vector<StepResult> results;
    for (int s = 0; s < slice_steps; ++s) {
      const Feed feed{whole, 7, s, slice_learning_rate};
      x->enqueue(0, bindings_by_name(feed, whole, x->program(0).program));
      results.push_back(x->collect().value());
    }
    const std::lock_guard lock(mutex);
    put_together(learned.values, *x);
    learned.results = results;
  });
  return learned;
}

void expect_same(const Learned& got, const Learned& wanted, double tolerance) {
  ASSERT_EQ(got.results.size(), wanted.results.size());
  for (size_t i = 0; i < wanted.results.size(); ++i) {
    const StepResult &a = got.results[i], &b = wanted.results[i];
    EXPECT_NEAR(a.loss, b.loss, tolerance * b.loss) << "step " << i;
    for (size_t k = 0; k < a.outputs.size(); ++k) {
      EXPECT_NEAR(a.outputs[k], b.outputs[k], tolerance * std::max(1.0, std::abs(b.outputs[k]))) << "output " << k;
      EXPECT_EQ(a.counts[k], b.counts[k]);
    }
  }
  expect_close(got.values, wanted.values, tolerance);
}

struct SliceCase {
  std::string name, model;
  ModelOptions options;
  int slices;
  Mode mode = Mode::evaluate;  // without dropout
  friend void PrintTo(const SliceCase& c, std::ostream* out) { *out << c.name; }
};

ModelOptions small_bert(int64_t vocabulary, const char* head = "pretraining") {
  return {.classes = 3,
          .layers = 2,
          .hidden = 24,
          .heads = 4,
          .feed_forward = 40,
          .vocabulary = vocabulary,
          .sequence = 9,
          .predictions = 4,
          .head = head};
}

ModelOptions small_forecaster() {
  return {.layers = 2, .hidden = 12, .heads = 2, .feed_forward = 20, .window = 8, .horizon = 3, .features = 2};
}

const SliceCase slice_cases[] = {
    {"bert_2", "bert-mini", small_bert(60), 2},
    {"bert_4", "bert-mini", small_bert(60), 4},
    {"bert_dropout", "bert-mini", small_bert(60), 2, Mode::train},
    {"bert_whole_vocabulary", "bert-mini", small_bert(61), 2},
    {"bert_classification", "bert-mini", small_bert(60, "classification"), 2, Mode::train},
    {"forecaster_2", "temporal", small_forecaster(), 2, Mode::train},
};

class Slices : public testing::TestWithParam<std::tuple<std::string, SliceCase>> {};

TEST_P(Slices, LearnWhatOneRankLearns) {
  const auto& [backend, one] = GetParam();
  const Program forward = build_model(find_model(one.model), one.options, 3, one.mode);
  const OptimizerOptions options{.momentum = 0.9, .weight_decay = 1e-3};
  const double tolerance = backend == "reference" ? 1e-5 : 1e-4;
  const Learned alone = learn_alone(backend, training_program(forward, options));
  expect_same(learn_in_slices(backend, forward, one.slices, options), alone, tolerance);
}

INSTANTIATE_TEST_SUITE_P(Backend, Slices,
                         testing::Combine(testing::ValuesIn(all_backends()), testing::ValuesIn(slice_cases)),
                         [](const auto& each) { return std::get<0>(each.param) + "_" + std::get<1>(each.param).name; });

class Vocabularies : public testing::TestWithParam<std::string> {
 protected:
  // The loss of rows whose logits are all equal, six words on two ranks.
  static StepResult loss_of(Communicator& c, const std::vector<int32_t>& labels) {
    const auto rows = static_cast<int64_t>(labels.size());
    ProgramBuilder b("words", rows);
    const TensorId logits = b.input("logits", {rows, 3}), given = b.input("labels", {rows}, DType::i32);
    const VocabularyAttributes attributes{3 * c.rank(), {}};
    const TensorId part = b.apply(OpKind::vocabulary_loss_part, "loss", {logits, given}, attributes)[0];
    const TensorId parts =
        b.apply(OpKind::all_gather, "loss", {part}, CollectiveAttributes{c.rank(), {0, 1}, {}}, Phase::communicate)[0];
    const auto out = b.apply(OpKind::vocabulary_loss, "loss", {logits, parts, given}, attributes);
    b.set_loss(out[0], out[1]);
    const auto x = executor_for(GetParam(), b.finish(), &c);
    const std::vector<float> equal(static_cast<size_t>(3 * rows), 0.5f);
    x->enqueue(0, std::vector<Binding>{{logits, equal.data()}, {given, labels.data()}});
    return x->collect().value();
  }
};

TEST_P(Vocabularies, OfEqualLogitsTheFirstInTheWholeIsTheLargest) {
  on_ranks(2, [](Communicator& c) {
    const StepResult r = loss_of(c, {0, 3, 5, 0});
    EXPECT_NEAR(r.loss, std::log(6.0), 1e-6);
    EXPECT_EQ(r.correct, 2);
  });
}

TEST_P(Vocabularies, NameALabelThatIsNoWord) {
  for (const std::string& error : errors_of_ranks(2, [](Communicator& c) { loss_of(c, {2, 6}); }))
    EXPECT_NE(error.find("label 6 of sample 1"), std::string::npos) << error;
}

TEST_P(Vocabularies, NameAnIndexThatIsInNoPartOfTheTable) {
  ProgramBuilder b("table", 2);
  const TensorId table = b.persistent("table", {3, 1}, Role::parameter, {}), ids = b.input("ids", {2}, DType::i32);
  const TensorId y = b.apply(OpKind::gather_rows, "words", {table, ids},
                             GatherAttributes{.rows = 2, .part = true, .first = 3, .all_rows = 6})[0];
  b.set_loss(b.apply(OpKind::mse_loss, "loss", {y, b.input("targets", {2, 1})})[0]);
  const Program p = b.finish();
  const auto x = executor_for(GetParam(), p, nullptr);
  x->write("table", std::vector{1.f, 2.f, 3.f});
  const std::vector<float> targets{0, 0};
  const auto loss = [&](const std::vector<int32_t>& given) {
    x->enqueue(0, std::vector<Binding>{{ids, given.data()}, {p.find("targets")->id, targets.data()}});
    return x->collect()->loss;
  };
  EXPECT_EQ(loss({4, 0}), 2) << "the row of another part is zero";
  EXPECT_THROW(loss({6, 0}), Error);
}

INSTANTIATE_TEST_SUITE_P(Backend, Vocabularies, testing::ValuesIn(all_backends()),
                         [](const auto& each) { return each.param; });

// Images of which rank r of `ranks` has its share, and what all of them together are.
struct Share {
  int64_t first, samples;
};

Program image_net(int64_t batch) {
  ProgramBuilder b("images", batch);
  const TensorId x = b.input("images", {batch, 3, 6, 5}), labels = b.input("labels", {batch}, DType::i32);
  TensorId y = conv2d(b, "conv1", x, {.channels = 7, .kernel = 3, .padding = 1});
  y = relu(b, "relu1", batch_norm(b, "bn1", y, true));
  const TensorId z = batch_norm(b, "bn2", conv2d(b, "conv2", y, {.channels = 7, .kernel = 3, .padding = 1}), true);
  y = relu(b, "relu2", add(b, "add", z, y));
  classification_loss(b, linear(b, "fc", flatten(b, "flatten", y), 4), labels);
  return b.finish();
}

// Each rank trains on its share of the images; what the first one learned.
Learned learn_on_ranks(const std::string& backend, const std::vector<Share>& shares, bool synchronised) {
  const int64_t batch = shares.back().first + shares.back().samples;
  const Program whole = training_program(image_net(batch), {});
  const auto ranks = ranks_below(static_cast<int>(shares.size()));
  Learned learned;
  on_ranks(static_cast<int>(shares.size()), [&](Communicator& c) {
    const Share share = shares[static_cast<size_t>(c.rank())];
    Program forward = image_net(share.samples);
    if (synchronised) forward = sync_batch_norm(forward, c.rank(), ranks);
    const Differentiated step =
        data_parallel(differentiate(forward),
                      {.rank = c.rank(), .replicas = ranks, .samples = share.samples, .total_samples = batch});
    const auto x = executor_for(backend, add_optimizer(step.program, step.gradients, {}), &c);
    initialize(*x, 1, 7);
    for (int s = 0; s < slice_steps; ++s) {
      const Feed feed{whole, 7, s, slice_learning_rate};
      std::vector<Binding> bindings = bindings_by_name(feed, whole, x->program(0).program);
      for (Binding& b : bindings) {
        const Tensor& t = x->program(0).program.tensor(b.id);
        if (t.role == Role::input)
          b.data =
              static_cast<const float*>(b.data) + share.first * element_count(t.shape) / share.samples;  // 4 bytes each
      }
      x->enqueue(0, bindings);
      x->collect();
    }
    if (c.rank() == 0) learned.values = read_persistent(*x, 0);
  });
  return learned;
}

class BatchNorms : public testing::TestWithParam<std::string> {
 protected:
  double tolerance() const { return GetParam() == "reference" ? 1e-5 : 1e-3; }
};

TEST_P(BatchNorms, OverSeveralRanksAreThoseOfTheWholeBatch) {
  const Learned alone = learn_alone(GetParam(), training_program(image_net(6), {}));
  expect_close(learn_on_ranks(GetParam(), {{0, 3}, {3, 3}}, true).values, alone.values, tolerance());
  expect_close(learn_on_ranks(GetParam(), {{0, 1}, {1, 3}, {4, 2}}, true).values, alone.values, tolerance());
}

TEST_P(BatchNorms, OfGroupsAreThoseOfRanksThatDoNotExchangeThem) {
  Learned alone = learn_alone(GetParam(), training_program(set_norm_group(image_net(6), 3), {}));
  Learned ranks = learn_on_ranks(GetParam(), {{0, 3}, {3, 3}}, false);
  for (Values* values : {&alone.values, &ranks.values})  // each rank has running statistics of its own
    std::erase_if(*values, [](const auto& each) { return each.first.find(".running_") != std::string::npos; });
  expect_close(ranks.values, alone.values, tolerance());
}

INSTANTIATE_TEST_SUITE_P(Backend, BatchNorms, testing::ValuesIn(all_backends()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace gpusizer
