// SPDX-License-Identifier: Apache-2.0
// What ranks do together, operation by operation on every backend: the right values, and an end for all where one fails.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <mutex>

#include "gpusizer/error.hpp"
#include "workloads/backend/tests/ranks.hpp"
#include "workloads/backend/tests/training_run.hpp"
#include "workloads/program/builder.hpp"
#include "workloads/program/layers.hpp"

namespace gpusizer {
namespace {

// A program of one rank: tensors that other ranks have too, and results that stay to be read.
class Exchange {
 public:
  Exchange(int rank, int count) : rank_(rank), b_("exchange", 1) {
    for (int r = 0; r < count; ++r) ranks_.push_back(r);
    rate_ = b_.scalar("learning_rate", 0);
  }
  ProgramBuilder& builder() { return b_; }
  CollectiveAttributes collective(std::vector<int32_t> owners = {}) const { return {rank_, ranks_, std::move(owners)}; }
  MessageAttributes message(int32_t peer) const { return {peer, {}}; }

  // What the rank is given under that name.
  TensorId given(const std::string& name, const Shape& shape) {
    return b_.apply(OpKind::scale, name + ".copy", {b_.input(name, shape)}, ScaleAttributes{1})[0];
  }
  TensorId state(const std::string& name, const Shape& shape) { return b_.persistent(name, shape, Role::parameter, {}); }
  std::vector<TensorId> apply(OpKind kind, std::vector<TensorId> inputs, Attributes attributes) {
    return b_.apply(kind, fmt::format("{}{}", "together", count_++), std::move(inputs), std::move(attributes), Phase::communicate);
  }
  // 0 - (-1) * value
  void keep(const std::string& name, TensorId value) {
    b_.apply(OpKind::sgd, name, {state(name, b_.shape(value)), value, rate_}, SgdAttributes{}, Phase::update);
  }

 private:
  int rank_;
  std::vector<int32_t> ranks_;
  ProgramBuilder b_;
  TensorId rate_;
  int count_ = 0;
};

// Element i of a tensor on a rank.
float value(int rank, size_t i) { return static_cast<float>(rank + 1) * (0.5f + static_cast<float>(i % 17)) / 3; }

std::vector<float> values(int rank, size_t count) {
  std::vector<float> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = value(rank, i);
  return all;
}

class Communication : public testing::TestWithParam<std::string> {
 protected:
  using Build = std::function<void(Exchange&)>;

  static std::unique_ptr<Executor> executor(Exchange& e, Communicator& c) {
    const auto backend = make_backend(GetParam());
    Device device = backend->probe().devices.at(0);
    device.threads = 1;
    return backend->make_executor({lower(e.builder().finish(), backend->target(device))}, device, &c);
  }

  // One step on each rank; what is kept on each of them. Persistent tensors start with values(), inputs have them too.
  static std::vector<Values> run(int count, const std::function<void(Exchange&, int)>& build, int steps = 1) {
    std::vector<Values> kept(static_cast<size_t>(count));
    on_ranks(count, [&](Communicator& c) {
      Exchange e(c.rank(), count);
      build(e, c.rank());
      const auto x = executor(e, c);
      initialize(*x, 1, 1);
      const Program& p = x->program(0).program;
      std::deque<std::vector<float>> data;
      const float rate = -1;
      std::vector<Binding> inputs;
      for (const Tensor& t : p.tensors) {
        if (t.name == "learning_rate") inputs.push_back({t.id, &rate});
        if (t.role == Role::input)
          inputs.push_back({t.id, data.emplace_back(values(c.rank(), static_cast<size_t>(element_count(t.shape)))).data()});
        if (t.name.starts_with("own")) x->write(t.name, values(c.rank(), static_cast<size_t>(element_count(t.shape))));
      }
      for (int step = 0; step < steps; ++step) {
        x->enqueue(0, inputs);
        const StepResult result = x->collect().value();
        EXPECT_GE(result.exposed_seconds, 0);
        EXPECT_LE(result.exposed_seconds, result.device_seconds);
      }
      kept[static_cast<size_t>(c.rank())] = read_persistent(*x, 0);
    });
    return kept;
  }
};

TEST_P(Communication, AllReduceSumsInOrderOfTheRanks) {
  for (const int count : {1, 2, 3, 4}) {
    const auto kept = run(count, [](Exchange& e, int) {
      const auto sums = e.apply(OpKind::all_reduce, {e.given("x", {3, 5}), e.given("y", {40, 400}), e.given("z", {})},
                                e.collective());
      for (size_t i = 0; i < sums.size(); ++i) e.keep("kept" + std::to_string(i), sums[i]);
    });
    for (const Values& of_rank : kept)
      for (const char* name : {"kept0", "kept1", "kept2"}) {
        const auto& got = of_rank.at(name);
        for (size_t i = 0; i < got.size(); ++i) {
          double sum = 0;
          for (int r = 0; r < count; ++r) sum += static_cast<double>(value(r, i));
          ASSERT_NEAR(got[i], sum, 1e-6 * sum) << name << " " << i;
        }
        EXPECT_EQ(got, kept[0].at(name)) << "the same bits on all ranks";
      }
  }
}

TEST_P(Communication, ReduceScatterGivesEachSumToItsOwner) {
  const auto kept = run(3, [](Exchange& e, int rank) {
    const auto sums = e.apply(OpKind::reduce_scatter, {e.given("x", {7}), e.given("y", {2, 9000}), e.given("z", {4})},
                              e.collective({2, 0, 2}));
    ASSERT_EQ(sums.size(), rank == 2 ? 2u : rank == 0 ? 1u : 0u);
    for (size_t i = 0; i < sums.size(); ++i) e.keep("kept" + std::to_string(i), sums[i]);
  });
  EXPECT_EQ(kept[0].at("kept0").size(), 18000u);
  EXPECT_EQ(kept[2].at("kept0").size(), 7u);
  for (const auto* one : {&kept[0].at("kept0"), &kept[2].at("kept0"), &kept[2].at("kept1")})
    for (size_t i = 0; i < one->size(); ++i) ASSERT_NEAR((*one)[i], 6 * value(0, i), 1e-5 * value(0, i));
}

TEST_P(Communication, AllGatherPutsTheRanksInOrder) {
  const auto kept = run(3, [](Exchange& e, int) {
    e.keep("kept", e.apply(OpKind::all_gather, {e.given("x", {2, 5})}, e.collective())[0]);
  });
  for (const Values& of_rank : kept)
    for (size_t i = 0; i < 30; ++i) EXPECT_FLOAT_EQ(of_rank.at("kept")[i], value(static_cast<int>(i / 10), i % 10));
}

TEST_P(Communication, BroadcastOverwritesWithWhatTheOwnersHave) {
  const auto kept = run(3, [](Exchange& e, int) {
    e.apply(OpKind::broadcast, {e.state("own0", {6}), e.state("own1", {3, 3000})}, e.collective({1, 2}));
  });
  for (const Values& of_rank : kept) {
    EXPECT_EQ(of_rank.at("own0"), values(1, 6));
    EXPECT_EQ(of_rank.at("own1"), values(2, 9000));
  }
}

// Both send before they receive, more than anything buffers: nobody may wait for the other's receive.
TEST_P(Communication, MessagesCrossEachOther) {
  const auto kept = run(2, [](Exchange& e, int rank) {
    MessageAttributes expected = e.message(1 - rank);
    expected.contents = {{"first", {300, 400}, DType::f32, Role::activation}, {"second", {3}, DType::f32, Role::gradient}};
    e.apply(OpKind::send, {e.given("x", {300, 400}), e.given("y", {3})}, e.message(1 - rank));
    const auto got = e.apply(OpKind::receive, {}, expected);
    e.keep("kept0", got[0]);
    e.keep("kept1", got[1]);
  }, 3);
  for (int rank = 0; rank < 2; ++rank)
    for (const char* name : {"kept0", "kept1"}) {
      const auto& got = kept[static_cast<size_t>(rank)].at(name);
      for (size_t i = 0; i < got.size(); ++i) ASSERT_FLOAT_EQ(got[i], 3 * value(1 - rank, i)) << "after three steps";
    }
}

TEST_P(Communication, AMessageMayOverwriteWhatPersists) {
  const auto kept = run(2, [](Exchange& e, int rank) {
    const TensorId own = e.state("own0", {4, 4});
    e.apply(rank == 0 ? OpKind::send : OpKind::receive, {own}, e.message(1 - rank));
  });
  EXPECT_EQ(kept[1].at("own0"), values(0, 16));
}

// A result goes on to the next rank, and so on around: each link waits for what it reads.
TEST_P(Communication, AChainOfMessagesAndSums) {
  const auto kept = run(3, [](Exchange& e, int rank) {
    ProgramBuilder& b = e.builder();
    TensorId x = e.given("x", {8});
    if (rank > 0) {
      MessageAttributes from = e.message(rank - 1);
      from.contents = {{"sum", {8}, DType::f32, Role::activation}};
      x = b.apply(OpKind::add, "add", {x, e.apply(OpKind::receive, {}, from)[0]}, AddAttributes{})[0];
    }
    if (rank < 2) e.apply(OpKind::send, {x}, e.message(rank + 1));
    e.keep("kept", e.apply(OpKind::all_reduce, {x}, e.collective())[0]);
  });
  for (const Values& of_rank : kept)  // 1 + (1 + 2) + (1 + 2 + 3)
    for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(of_rank.at("kept")[i], 10 * value(0, i), 1e-5);
}

TEST_P(Communication, SumsOfShortTypesAreRounded) {
  const auto kept = run(2, [](Exchange& e, int) {
    ProgramBuilder& b = e.builder();
    const TensorId narrow = b.apply(OpKind::cast, "narrow", {e.given("x", {9})}, CastAttributes{DType::bf16})[0];
    const TensorId sum = e.apply(OpKind::all_reduce, {narrow}, e.collective())[0];
    EXPECT_EQ(b.program().tensor(sum).dtype, DType::bf16);
    e.keep("kept", b.apply(OpKind::cast, "wide", {sum}, CastAttributes{DType::f32})[0]);
  });
  for (const float v : kept[0].at("kept")) {
    const float scaled = std::ldexp(v, 7 - std::ilogb(v));
    EXPECT_EQ(scaled, std::round(scaled)) << v << " has more than eight significant bits";
  }
  EXPECT_EQ(kept[0].at("kept"), kept[1].at("kept"));
}

TEST_P(Communication, SharesOfParts) {
  const auto kept = run(1, [](Exchange& e, int) {
    ProgramBuilder& b = e.builder();
    const TensorId x = e.given("x", {3}), y = e.given("y", {2, 2});
    const auto one = [&](OpKind kind, const char* name, std::vector<TensorId> inputs, Attributes a = {}) {
      return b.apply(kind, name, std::move(inputs), std::move(a));
    };
    const TensorId squares = one(OpKind::sum_squares, "squares", {x, y})[0];
    const TensorId two = e.given("two", {});
    const auto clipped = one(OpKind::norm_factor, "clipped", {squares}, GradientNormAttributes{0.5, false});
    const auto scaled = one(OpKind::norm_factor, "scaled", {squares, two}, GradientNormAttributes{0, true});
    const TensorId none = one(OpKind::scale, "none", {two}, ScaleAttributes{0})[0];
    e.keep("squares.kept", squares);
    e.keep("factor", clipped[0]);
    e.keep("norm", clipped[1]);
    e.keep("scaled.factor", scaled[0]);
    e.keep("scaled.norm", scaled[1]);
    e.keep("quotient", one(OpKind::divide, "divide", {squares, two})[0]);
    e.keep("of.nothing", one(OpKind::divide, "divide.none", {squares, none})[0]);
    e.keep("product", one(OpKind::scale_by, "scale_by", {y, two})[0]);
    e.keep("forked", one(OpKind::fork, "fork", {x}, e.collective())[0]);
  });
  const auto& got = kept[0];
  double squares = 0;
  for (size_t i = 0; i < 3; ++i) squares += std::pow(value(0, i), 2);
  for (size_t i = 0; i < 4; ++i) squares += std::pow(value(0, i), 2);
  const double two = value(0, 0), norm = std::sqrt(squares);
  const std::pair<const char*, double> wanted[] = {
      {"squares.kept", squares}, {"factor", 0.5 / norm},   {"norm", norm},      {"scaled.factor", 1 / two},
      {"scaled.norm", norm / two}, {"quotient", squares / two}, {"of.nothing", 0}};
  for (const auto& [name, number] : wanted) EXPECT_NEAR(got.at(name)[0], number, 1e-5 * norm) << name;
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(got.at("product")[i], two * value(0, i), 1e-6);
  EXPECT_EQ(got.at("forked"), values(0, 3));
}

TEST_P(Communication, CountsLabels) {
  ProgramBuilder b("labels", 1);
  const TensorId count = b.apply(OpKind::count_labels, "count", {b.input("labels", {2, 3}, DType::i32)})[0];
  b.set_loss(count);
  const auto backend = make_backend(GetParam());
  const Device device = backend->probe().devices.at(0);
  const auto x = backend->make_executor({lower(b.finish(), backend->target(device))}, device);
  const std::vector<int32_t> labels{0, -1, 7, -100, 3, 0};
  x->enqueue(0, std::vector<Binding>{{x->program(0).program.find("labels")->id, labels.data()}});
  EXPECT_EQ(x->collect()->loss, 4);
}

TEST_P(Communication, ProfilesWhatIsUnderWay) {
  on_ranks(2, [&](Communicator& c) {
    Exchange e(c.rank(), 2);
    e.keep("kept", e.apply(OpKind::all_reduce, {e.state("own0", {5000})}, e.collective())[0]);
    const auto x = executor(e, c);
    initialize(*x, 1, 1);
    const auto times = x->profile(0, {});
    ASSERT_EQ(times.size(), 2u);
    EXPECT_GT(times[0].seconds, 0);
    EXPECT_FALSE(x->collect());
  });
}

TEST_P(Communication, RefusesProgramsWithoutTheirRanks) {
  const auto refusal = [&](int rank, int count, Communicator* c) -> std::string {
    Exchange e(rank, count);
    e.keep("kept", e.apply(OpKind::all_reduce, {e.state("own0", {4})}, e.collective())[0]);
    const auto backend = make_backend(GetParam());
    const Device device = backend->probe().devices.at(0);
    try {
      backend->make_executor({lower(e.builder().finish(), backend->target(device))}, device, c);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal(0, 2, nullptr).find("nothing joins"), std::string::npos);
  on_ranks(2, [&](Communicator& c) {
    EXPECT_NE(refusal(1 - c.rank(), 2, &c).find("was made for rank"), std::string::npos);
    EXPECT_NE(refusal(c.rank(), 3, &c).find("names rank 2 of 2"), std::string::npos);
    EXPECT_EQ(refusal(c.rank(), 2, &c), "");
  });
}

// A label that is no class on rank 1; rank 0 waits for its gradients.
TEST_P(Communication, AnErrorOnOneRankEndsAll) {
  std::string again;
  const auto errors = errors_of_ranks(2, [&](Communicator& c) {
    Exchange e(c.rank(), 2);
    ProgramBuilder& b = e.builder();
    const TensorId labels = b.input("labels", {2}, DType::i32);
    const auto out = b.apply(OpKind::softmax_cross_entropy, "loss", {e.given("x", {2, 3}), labels}, LossAttributes{});
    const TensorId sum = e.apply(OpKind::all_reduce, {out[0]}, e.collective())[0];
    b.set_loss(sum);
    const auto x = executor(e, c);
    const std::vector<int32_t> good{1, 2}, bad{1, 3};
    const auto x_values = values(0, 6);
    const Program& p = x->program(0).program;
    const auto step = [&](const std::vector<int32_t>& given) {
      x->enqueue(0, std::vector<Binding>{{p.find("labels")->id, given.data()}, {p.find("x")->id, x_values.data()}});
      EXPECT_GT(x->collect()->loss, 0);
    };
    step(good);
    try {
      step(c.rank() == 1 ? bad : good);
    } catch (const Error&) {
      if (c.rank() == 1) try { step(good); } catch (const Error& error) { again = error.what(); }
      throw;
    }
  });
  EXPECT_NE(errors[1].find("label 3"), std::string::npos) << errors[1];
  EXPECT_NE(errors[0].find("label 3"), std::string::npos) << errors[0];
  EXPECT_EQ(again, errors[1]) << "nothing can come of the case any more";
}

// The executor goes away while others still wait for it.
TEST_P(Communication, ARankThatLeavesIsMissed) {
  const auto errors = errors_of_ranks(2, [&](Communicator& c) {
    Exchange e(c.rank(), 2);
    e.keep("kept", e.apply(OpKind::all_reduce, {e.state("own0", {5000})}, e.collective())[0]);
    const auto x = executor(e, c);
    if (c.rank() == 1) return;
    initialize(*x, 1, 1);
    x->enqueue(0, {});
    x->collect();
  });
  EXPECT_NE(errors[0].find("rank 1"), std::string::npos) << errors[0];
  EXPECT_EQ(errors[1], "");
}

INSTANTIATE_TEST_SUITE_P(Backend, Communication, testing::ValuesIn(all_backends()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace gpusizer
