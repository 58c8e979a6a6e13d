// SPDX-License-Identifier: Apache-2.0
// What ranks do together, by operation and on every backend: the right values, and an end for all where one fails.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <functional>

#include "workloads/backend/tests/exchange.hpp"
#include "workloads/backend/tests/ranks.hpp"
#include "workloads/backend/tests/training_run.hpp"

namespace gpusizer {
namespace {

class Communication : public testing::TestWithParam<std::string> {
 protected:
  using Build = std::function<void(RankExchange&)>;

  // One step on each rank; what is kept on each of them. Persistent tensors start with values_on(), inputs have them
  // too.
  static std::vector<Values> run(int count, const std::function<void(RankExchange&, int)>& build, int steps = 1) {
    std::vector<Values> kept(static_cast<size_t>(count));
    on_ranks(count, [&](Communicator& c) {
      RankExchange e(c.rank(), count);
      build(e, c.rank());
      const auto x = executor_of(e, GetParam(), &c);
      initialize(*x, 1, 1);
      const Program& p = x->program(0).program;
      std::deque<std::vector<float>> data;
      const float rate = -1;
      std::vector<Binding> inputs;
      for (const Tensor& t : p.tensors) {
        if (t.name == "learning_rate") inputs.push_back({t.id, &rate});
        if (t.role == Role::input)
          inputs.push_back(
              {t.id, data.emplace_back(values_on(c.rank(), static_cast<size_t>(element_count(t.shape)))).data()});
        if (t.name.starts_with("own"))
          x->write(t.name, values_on(c.rank(), static_cast<size_t>(element_count(t.shape))));
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
    const auto kept = run(count, [](RankExchange& e, int) {
      const auto sums = e.apply(OpKind::all_reduce, {e.given("x", {3, 5}), e.given("y", {40, 400}), e.given("z", {})},
                                e.collective());
      for (size_t i = 0; i < sums.size(); ++i) e.keep("kept" + std::to_string(i), sums[i]);
    });
    for (const Values& of_rank : kept)
      for (const char* name : {"kept0", "kept1", "kept2"}) {
        const auto& got = of_rank.at(name);
        for (size_t i = 0; i < got.size(); ++i) {
          double sum = 0;
          for (int r = 0; r < count; ++r) sum += static_cast<double>(value_on(r, i));
          ASSERT_NEAR(got[i], sum, 1e-6 * sum) << name << " " << i;
        }
        EXPECT_EQ(got, kept[0].at(name)) << "the same bits on all ranks";
      }
  }
}

TEST_P(Communication, ReduceScatterGivesEachSumToItsOwner) {
  const auto kept = run(3, [](RankExchange& e, int rank) {
    const auto sums = e.apply(OpKind::reduce_scatter, {e.given("x", {7}), e.given("y", {2, 9000}), e.given("z", {4})},
                              e.collective({2, 0, 2}));
    ASSERT_EQ(sums.size(), rank == 2 ? 2u : rank == 0 ? 1u : 0u);
    for (size_t i = 0; i < sums.size(); ++i) e.keep("kept" + std::to_string(i), sums[i]);
  });
  EXPECT_EQ(kept[0].at("kept0").size(), 18000u);
  EXPECT_EQ(kept[2].at("kept0").size(), 7u);
  for (const auto* one : {&kept[0].at("kept0"), &kept[2].at("kept0"), &kept[2].at("kept1")})
    for (size_t i = 0; i < one->size(); ++i) ASSERT_NEAR((*one)[i], 6 * value_on(0, i), 1e-5 * value_on(0, i));
}

TEST_P(Communication, AllGatherPutsTheRanksInOrder) {
  const auto kept = run(3, [](RankExchange& e, int) {
    e.keep("kept", e.apply(OpKind::all_gather, {e.given("x", {2, 5})}, e.collective())[0]);
  });
  for (const Values& of_rank : kept)
    for (size_t i = 0; i < 30; ++i) EXPECT_FLOAT_EQ(of_rank.at("kept")[i], value_on(static_cast<int>(i / 10), i % 10));
}

TEST_P(Communication, BroadcastOverwritesWithWhatTheOwnersHave) {
  const auto kept = run(3, [](RankExchange& e, int) {
    e.apply(OpKind::broadcast, {e.state("own0", {6}), e.state("own1", {3, 3000})}, e.collective({1, 2}));
  });
  for (const Values& of_rank : kept) {
    EXPECT_EQ(of_rank.at("own0"), values_on(1, 6));
    EXPECT_EQ(of_rank.at("own1"), values_on(2, 9000));
  }
}

// Both send before they receive, more than anything buffers: nobody may wait for the other's receive.
TEST_P(Communication, MessagesCrossEachOther) {
  const auto kept = run(
      2,
      [](RankExchange& e, int rank) {
        MessageAttributes expected = e.message(1 - rank);
        expected.contents = {{"first", {300, 400}, DType::f32, Role::activation},
                             {"second", {3}, DType::f32, Role::gradient}};
        e.apply(OpKind::send, {e.given("x", {300, 400}), e.given("y", {3})}, e.message(1 - rank));
        const auto got = e.apply(OpKind::receive, {}, expected);
        e.keep("kept0", got[0]);
        e.keep("kept1", got[1]);
      },
      3);
  for (int rank = 0; rank < 2; ++rank)
    for (const char* name : {"kept0", "kept1"}) {
      const auto& got = kept[static_cast<size_t>(rank)].at(name);
      for (size_t i = 0; i < got.size(); ++i) ASSERT_FLOAT_EQ(got[i], 3 * value_on(1 - rank, i)) << "after three steps";
    }
}

TEST_P(Communication, AMessageMayOverwriteWhatPersists) {
  const auto kept = run(2, [](RankExchange& e, int rank) {
    const TensorId own = e.state("own0", {4, 4});
    e.apply(rank == 0 ? OpKind::send : OpKind::receive, {own}, e.message(1 - rank));
  });
  EXPECT_EQ(kept[1].at("own0"), values_on(0, 16));
}

// A result goes on to the next rank, and so on around: each link waits for what it reads.
TEST_P(Communication, AChainOfMessagesAndSums) {
  const auto kept = run(3, [](RankExchange& e, int rank) {
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
    for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(of_rank.at("kept")[i], 10 * value_on(0, i), 1e-5);
}

TEST_P(Communication, SumsOfShortTypesAreRounded) {
  const auto kept = run(2, [](RankExchange& e, int) {
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
  const auto kept = run(1, [](RankExchange& e, int) {
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
  for (size_t i = 0; i < 3; ++i) squares += std::pow(value_on(0, i), 2);
  for (size_t i = 0; i < 4; ++i) squares += std::pow(value_on(0, i), 2);
  const double two = value_on(0, 0), norm = std::sqrt(squares);
  const std::pair<const char*, double> wanted[] = {
      {"squares.kept", squares},   {"factor", 0.5 / norm},      {"norm", norm},   {"scaled.factor", 1 / two},
      {"scaled.norm", norm / two}, {"quotient", squares / two}, {"of.nothing", 0}};
  for (const auto& [name, number] : wanted) EXPECT_NEAR(got.at(name)[0], number, 1e-5 * norm) << name;
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(got.at("product")[i], two * value_on(0, i), 1e-6);
  EXPECT_EQ(got.at("forked"), values_on(0, 3));
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
    RankExchange e(c.rank(), 2);
    e.keep("kept", e.apply(OpKind::all_reduce, {e.state("own0", {5000})}, e.collective())[0]);
    const auto x = executor_of(e, GetParam(), &c);
    initialize(*x, 1, 1);
    const auto times = x->profile(0, {});
    ASSERT_EQ(times.size(), 2u);
    EXPECT_GT(times[0].seconds, 0);
    EXPECT_FALSE(x->collect());
  });
}

INSTANTIATE_TEST_SUITE_P(Backend, Communication, testing::ValuesIn(all_backends()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace gpusizer
