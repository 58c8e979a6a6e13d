// SPDX-License-Identifier: Apache-2.0
// One run of a small program on the reference backend, for worked examples.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "workloads/backend/reference/reference_backend.hpp"
#include "workloads/backend/reference/reference_executor.hpp"

namespace gpusizer {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Integers = std::vector<int32_t>;

// One run of a program over the input "x" and, where it has them, named inputs of whole numbers. Persistent tensors start
// as their constant says, or as given.
class OneRun {
 public:
  OneRun(const Program& p, const Floats& x, const std::vector<std::pair<std::string, Floats>>& persistent = {},
         const std::vector<std::pair<std::string, Integers>>& integers = {})
      : executor_({lower(p, reference_target())}) {
    for (const Tensor& t : p.tensors)
      if (is_persistent(t.role))
        executor_.write(t.name, Floats(static_cast<size_t>(element_count(t.shape)), static_cast<float>(t.initial.value)));
    for (const auto& [name, values] : persistent) executor_.write(name, values);
    std::vector<Binding> bindings;
    if (const Tensor* input = p.find("x")) bindings.push_back({input->id, x.data()});
    for (const auto& [name, values] : integers) bindings.push_back({p.find(name)->id, values.data()});
    executor_.enqueue(0, bindings);
  }
  Doubles of(TensorId id) const {
    const auto values = executor_.values(0, id);
    return {values.begin(), values.end()};
  }
  Doubles of(const std::string& name) const { return of(executor_.program(0).program.find(name)->id); }

 private:
  ReferenceExecutor executor_;
};

inline void expect_near(const Doubles& got, const Doubles& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-12) << i;
}

}  // namespace gpusizer
