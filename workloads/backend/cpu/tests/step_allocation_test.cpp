// SPDX-License-Identifier: Apache-2.0
// A training step allocates nothing by our own code: counted by replacing operator new. What oneDNN and the OpenMP
// runtime allocate inside their own libraries is theirs: calls from outside this program's image are not counted.
#include <gtest/gtest.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

TEST(StepAllocation, IsCounted) { GTEST_SKIP() << "a sanitizer has its own operator new"; }

#else

#include <dlfcn.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <thread>

#include "workloads/backend/communicator/thread_group.hpp"
#include "workloads/backend/cpu/cpu_backend.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/autodiff.hpp"
#include "workloads/program/builder.hpp"
#include "workloads/program/initial_values.hpp"
#include "workloads/program/optimizer.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<int> own_allocations{0};

bool called_from_this_program(void* caller) {
  static const char* program = [] {
    Dl_info here{};
    dladdr(reinterpret_cast<void*>(&called_from_this_program), &here);
    return here.dli_fname;
  }();
  Dl_info info{};
  return dladdr(caller, &info) != 0 && std::strcmp(info.dli_fname, program) == 0;
}

void* counted(std::size_t bytes, void* caller) {
  if (counting.load(std::memory_order_relaxed) && called_from_this_program(caller)) ++own_allocations;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, __builtin_return_address(0)); }
void* operator new[](std::size_t bytes) { return counted(bytes, __builtin_return_address(0)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace gpusizer {
namespace {

// A step of one of two ranks: its gradients are summed with the other's in two buckets, and the loss is sent around.
Program step_of_two(const Program& forward, int rank) {
  const Differentiated step = differentiate(forward);
  ProgramBuilder b(step.program);
  const CollectiveAttributes both{rank, {0, 1}, {}};
  std::vector<std::pair<TensorId, TensorId>> reduced;
  for (const size_t part : {0, 1}) {
    std::vector<TensorId> gradients;
    for (size_t i = part; i < step.gradients.size(); i += 2) gradients.push_back(step.gradients[i].second);
    const auto sums = b.apply(OpKind::all_reduce, "bucket" + std::to_string(part), gradients, both, Phase::communicate);
    for (size_t i = 0; i < sums.size(); ++i) reduced.emplace_back(step.gradients[part + 2 * i].first, sums[i]);
  }
  b.apply(OpKind::send, "send", {forward.loss}, MessageAttributes{1 - rank, {}}, Phase::communicate);
  MessageAttributes from{1 - rank, {{"other_loss", {}, DType::f32, Role::activation}}};
  b.apply(OpKind::receive, "receive", {}, from, Phase::communicate);
  return add_optimizer(b.finish(), reduced, {});
}

struct Trainer {
  std::unique_ptr<Backend> backend = make_cpu_backend();
  std::unique_ptr<Executor> executor;
  std::deque<std::vector<float>> numbers;
  std::deque<std::vector<int32_t>> whole_numbers;
  float learning_rate = 0.01f;
  int32_t random_state[2] = {1, 0};
  std::vector<Binding> bindings;

  Trainer(const char* model, const ModelOptions& options, int64_t batch)
      : Trainer(training_program(build_model(find_model(model), options, batch, Mode::train), {}), 2, nullptr) {}
  Trainer(const Program& p, int threads, Communicator* communicator) {
    Device device = backend->probe().devices[0];
    device.threads = threads;
    executor = backend->make_executor({lower(p, backend->target(device))}, device, communicator);
    const Program& lowered = executor->program(0).program;
    for (const Tensor& t : lowered.tensors)
      if (is_persistent(t.role)) executor->write(t.name, initial_values(t, 1));
    bindings = {{lowered.find("learning_rate")->id, &learning_rate}};
    for (const Tensor& t : lowered.tensors) {
      if (t.role != Role::input) continue;
      const auto count = static_cast<size_t>(element_count(t.shape));
      const void* data = t.dtype == DType::i32
                             ? static_cast<const void*>(whole_numbers.emplace_back(count, 1).data())  // valid everywhere
                             : static_cast<const void*>(numbers.emplace_back(count, 0.5f).data());
      bindings.push_back({t.id, data});
    }
    if (const Tensor* t = lowered.find("random_state")) bindings.push_back({t->id, random_state});
  }

  void train(int steps) {
    for (int i = 0; i < steps; ++i) {
      executor->enqueue(0, bindings);
      executor->collect();
    }
  }
  int allocations_in(int steps) {
    own_allocations = 0;
    counting = true;
    train(steps);
    counting = false;
    return own_allocations;
  }
};

TEST(StepAllocation, TheHookCountsOurOwnAllocations) {
  own_allocations = 0;
  counting = true;
  delete new std::vector<int>(3);
  counting = false;
  EXPECT_GE(own_allocations, 1);
}

TEST(StepAllocation, AResNetStepAllocatesNothing) {
  Trainer t("resnet8", {10, 28, 1, "cifar"}, 3);
  t.allocations_in(1);
  EXPECT_EQ(t.allocations_in(3), 0);
}

TEST(StepAllocation, AnAlexNetStepAllocatesNothing) {
  Trainer t("alexnet", {10, 64, 3, ""}, 2);
  t.allocations_in(1);
  EXPECT_EQ(t.allocations_in(3), 0);
}

TEST(StepAllocation, ABertStepAllocatesNothing) {
  ModelOptions o;
  o.layers = 1, o.hidden = 32, o.heads = 2, o.feed_forward = 48, o.vocabulary = 50, o.sequence = 16, o.predictions = 3;
  Trainer t("bert-mini", o, 2);
  t.allocations_in(1);
  EXPECT_EQ(t.allocations_in(3), 0);
}

TEST(StepAllocation, AStepOfTwoRanksAllocatesNothing) {
  const Program forward = build_model(find_model("resnet8"), {10, 12, 3, "cifar"}, 2, Mode::train);
  ThreadGroup group(2, 60);
  std::barrier together(2, [stage = 0]() mutable noexcept {
    if (++stage == 1) own_allocations = 0;
    counting = stage == 1;
  });
  const auto rank = [&](int r) {
    const auto communicator = group.join(r);
    Trainer t(step_of_two(forward, r), 1, communicator.get());
    t.train(2);
    together.arrive_and_wait();
    t.train(5);
    together.arrive_and_wait();
  };
  std::thread other([&] { rank(1); });
  rank(0);
  other.join();
  EXPECT_EQ(own_allocations, 0);
}

}  // namespace
}  // namespace gpusizer

#endif
