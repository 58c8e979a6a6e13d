// SPDX-License-Identifier: Apache-2.0
// Programs whose ranks do not fit, and an end for all ranks where one fails, on every backend.
#include <gtest/gtest.h>

#include "gpusizer/error.hpp"
#include "workloads/backend/tests/exchange.hpp"
#include "workloads/backend/tests/ranks.hpp"
#include "workloads/backend/tests/training_run.hpp"

namespace gpusizer {
namespace {

class CommunicationErrors : public testing::TestWithParam<std::string> {};

TEST_P(CommunicationErrors, RefusesProgramsWithoutTheirRanks) {
  const auto refusal = [&](int rank, int count, Communicator* c) -> std::string {
    RankExchange e(rank, count);
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
TEST_P(CommunicationErrors, AnErrorOnOneRankEndsAll) {
  std::string again;
  const auto errors = errors_of_ranks(2, [&](Communicator& c) {
    RankExchange e(c.rank(), 2);
    ProgramBuilder& b = e.builder();
    const TensorId labels = b.input("labels", {2}, DType::i32);
    const auto out = b.apply(OpKind::softmax_cross_entropy, "loss", {e.given("x", {2, 3}), labels}, LossAttributes{});
    const TensorId sum = e.apply(OpKind::all_reduce, {out[0]}, e.collective())[0];
    b.set_loss(sum);
    const auto x = executor_of(e, GetParam(), &c);
    const std::vector<int32_t> good{1, 2}, bad{1, 3};
    const auto x_values = values_on(0, 6);
    const Program& p = x->program(0).program;
    const auto step = [&](const std::vector<int32_t>& given) {
      x->enqueue(0, std::vector<Binding>{{p.find("labels")->id, given.data()}, {p.find("x")->id, x_values.data()}});
      EXPECT_GT(x->collect()->loss, 0);
    };
    step(good);
    try {
      step(c.rank() == 1 ? bad : good);
    } catch (const Error&) {
      if (c.rank() == 1) try {
          step(good);
        } catch (const Error& error) {
          again = error.what();
        }
      throw;
    }
  });
  EXPECT_NE(errors[1].find("label 3"), std::string::npos) << errors[1];
  EXPECT_NE(errors[0].find("label 3"), std::string::npos) << errors[0];
  EXPECT_EQ(again, errors[1]) << "nothing can come of the case any more";
}

// The executor goes away while others still wait for it.
TEST_P(CommunicationErrors, ARankThatLeavesIsMissed) {
  const auto errors = errors_of_ranks(2, [&](Communicator& c) {
    RankExchange e(c.rank(), 2);
    e.keep("kept", e.apply(OpKind::all_reduce, {e.state("own0", {5000})}, e.collective())[0]);
    const auto x = executor_of(e, GetParam(), &c);
    if (c.rank() == 1) return;
    initialize(*x, 1, 1);
    x->enqueue(0, {});
    x->collect();
  });
  EXPECT_NE(errors[0].find("rank 1"), std::string::npos) << errors[0];
  EXPECT_EQ(errors[1], "");
}

INSTANTIATE_TEST_SUITE_P(Backend, CommunicationErrors, testing::ValuesIn(all_backends()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace gpusizer
