// SPDX-License-Identifier: Apache-2.0
// Small programs whose ranks exchange made-up numbers, for the tests of communication on every backend.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "workloads/backend/backend.hpp"
#include "workloads/backend/communicator/communicator.hpp"
#include "workloads/program/builder.hpp"

namespace gpusizer {

// A program of one rank: tensors that other ranks have too, and results that stay to be read.
class RankExchange {
 public:
  RankExchange(int rank, int count) : rank_(rank), b_("exchange", 1) {
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
  TensorId state(const std::string& name, const Shape& shape) {
    return b_.persistent(name, shape, Role::parameter, {});
  }
  std::vector<TensorId> apply(OpKind kind, std::vector<TensorId> inputs, Attributes attributes) {
    return b_.apply(kind, fmt::format("{}{}", "together", count_++), std::move(inputs), std::move(attributes),
                    Phase::communicate);
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
inline float value_on(int rank, size_t i) {
  return static_cast<float>(rank + 1) * (0.5f + static_cast<float>(i % 17)) / 3;
}

inline std::vector<float> values_on(int rank, size_t count) {
  std::vector<float> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = value_on(rank, i);
  return all;
}

// The finished program on one thread of a backend's first device.
inline std::unique_ptr<Executor> executor_of(RankExchange& e, const std::string& name, Communicator* c) {
  const auto backend = make_backend(name);
  Device device = backend->probe().devices.at(0);
  device.threads = 1;
  return backend->make_executor({lower(e.builder().finish(), backend->target(device))}, device, c);
}

}  // namespace gpusizer
