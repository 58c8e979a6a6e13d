// SPDX-License-Identifier: Apache-2.0
// Made-up data, short trainings, comparisons.
#include "workloads/backend/tests/training_run.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpusizer/error.hpp"
#include "workloads/program/initial_values.hpp"

namespace gpusizer {

namespace {

std::vector<float> normal_values(const std::string& name, const Shape& shape, double deviation, uint64_t seed) {
  Tensor t{.name = name, .shape = shape, .initial = {Initializer::Kind::normal, deviation}};
  return initial_values(t, seed);
}

// What the whole numbers of an input mean, and so which they may be: [first, first + count). `gaps`: some are -1, or all.
struct Range {
  int32_t first = 0;
  int64_t count = 1;
  bool gaps = false;
};

Range range_of(const Program& p, const Tensor& t) {
  for (const Operation& op : p.operations) {
    if (op.inputs.size() < 2 || op.inputs[1] != t.id) continue;
    const Shape& first = p.tensor(op.inputs[0]).shape;
    if (op.kind == OpKind::softmax_cross_entropy)
      return {0, first[1], std::get<LossAttributes>(op.attributes).ignore_negative};
    if (op.kind == OpKind::vocabulary_loss_part)
      return {0, first[1], std::get<VocabularyAttributes>(op.attributes).loss.ignore_negative};
    if (op.kind == OpKind::attention) return {1, std::get<AttentionAttributes>(op.attributes).sequence};
    if (op.kind != OpKind::gather_rows) continue;
    const auto& gather = std::get<GatherAttributes>(op.attributes);
    return {0, gather.part ? gather.all_rows : gather.group_rows > 0 ? gather.group_rows : first[0]};
  }
  return {};
}

std::vector<int32_t> whole_numbers(const Program& p, const Tensor& t, int step) {
  const Range range = range_of(p, t);
  const bool none = t.name.starts_with("ignored");
  std::vector<int32_t> values(static_cast<size_t>(element_count(t.shape)));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = range.first + static_cast<int32_t>((3 + 7 * i + static_cast<size_t>(step)) % static_cast<size_t>(range.count));
    if (range.gaps && (none || i % 3 == 1)) values[i] = -1;
  }
  return values;
}

template <class Value>
double root_mean_square(const std::vector<Value>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

bool is_gradient(const std::string& name) { return name.ends_with(":momentum"); }

double largest_gradient(const Values& values) {
  double largest = 0;
  for (const auto& [name, one] : values)
    if (is_gradient(name)) largest = std::max(largest, root_mean_square(one));
  return largest;
}

// Absolute differences; infinite where a value is no number.
std::vector<double> differences(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<double> result(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(double{a[i]} - double{b[i]});
    result[i] = std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
  }
  return result;
}

template <class Measure>
void expect_each(const Values& got, const Values& wanted, double tolerance, Measure measure) {
  ASSERT_EQ(got.size(), wanted.size());
  const double largest = largest_gradient(wanted);
  for (const auto& [name, values] : wanted) {
    ASSERT_TRUE(got.contains(name)) << name;
    ASSERT_EQ(got.at(name).size(), values.size()) << name;
    const double scale = std::max(root_mean_square(values), is_gradient(name) ? 0.1 * largest : 0.0);
    EXPECT_LE(measure(differences(got.at(name), values)), tolerance * scale) << name << ", root mean square " << scale;
  }
}

// Scalars are small and known; they are the caller's.
bool holds_values(const Tensor& t) { return is_persistent(t.role) && t.role != Role::scalar; }

// Whether it is worth making tests for a backend. Without a driver there is no GPU, and opening all of CUDA's libraries to
// hear that takes longer than most tests.
bool may_have_devices(std::string_view backend) {
  if (backend != "cuda") return true;
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver) ::dlclose(driver);
  return driver != nullptr;
}

std::vector<std::string> backend_names(bool with_reference, bool with_gpus) {
  std::vector<std::string> names;
  for (const auto& backend : make_backends()) {
    if (backend->name() == "reference" && !with_reference) continue;
    if (backend->name().starts_with("cuda") && !(with_gpus && may_have_devices(backend->name()))) continue;
    names.emplace_back(backend->name());
  }
  return names;
}

}  // namespace

Feed::Feed(const Program& program, uint64_t seed, int step, float learning_rate) {
  const auto bind = [&](const Tensor& t, const void* data) { bindings_.push_back({t.id, data}); };
  for (const Tensor& t : program.tensors) {
    if (t.name == "learning_rate") {
      bind(t, floats_.emplace_back(std::vector{learning_rate}).data());
    } else if (t.name == "random_state") {
      bind(t, integers_.emplace_back(std::vector<int32_t>{static_cast<int32_t>(seed), step}).data());
    } else if (t.role == Role::input && t.dtype == DType::i32) {
      bind(t, integers_.emplace_back(whole_numbers(program, t, step)).data());
    } else if (t.role == Role::input) {
      bind(t, floats_.emplace_back(normal_values(t.name, t.shape, 1, seed + 1000 + static_cast<uint64_t>(step))).data());
    }
  }
}

void write_test_values(Executor& executor, int program_count, uint64_t seed) {
  initialize(executor, program_count, seed);
  for (int index = 0; index < program_count; ++index)
    for (const Tensor& t : executor.program(index).program.tensors) {
      const bool constant = t.initial.kind == Initializer::Kind::constant;
      if (!constant || (t.role != Role::parameter && t.role != Role::state)) continue;
      std::vector<float> values = normal_values(t.name, t.shape, 0.3, seed);
      for (float& v : values) v += static_cast<float>(t.initial.value);
      if (t.role == Role::state && t.initial.value > 0)
        for (float& v : values) v = std::abs(v) + 0.1f;  // a variance
      executor.write(t.name, values);
    }
}

Values read_persistent(Executor& executor, int program) {
  Values values;
  for (const Tensor& t : executor.program(program).program.tensors) {
    if (!holds_values(t)) continue;
    auto& one = values[t.name];
    one.resize(static_cast<size_t>(element_count(t.shape)));
    executor.read(t.name, one);
  }
  return values;
}

TrainingRun train(const Backend& backend, const Program& training, const TrainingOptions& o) {
  const Device device = backend.probe().devices.at(0);
  const auto executor = backend.make_executor({lower(training, backend.target(device))}, device);
  write_test_values(*executor, 1, o.seed);
  TrainingRun run;
  for (int step = 0; step < o.steps; ++step) {
    const Feed feed{training, o.seed, step, o.learning_rate};
    executor->enqueue(0, feed.inputs());
    run.results.push_back(executor->collect().value());
    if (step == 0) run.after_first = read_persistent(*executor, 0);
  }
  run.after_last = read_persistent(*executor, 0);
  return run;
}

void expect_close(const Values& got, const Values& wanted, double tolerance) {
  expect_each(got, wanted, tolerance, [](const std::vector<double>& differences) {
    return std::ranges::max(differences);
  });
}

void expect_close_on_average(const Values& got, const Values& wanted, double tolerance) {
  expect_each(got, wanted, tolerance, root_mean_square<double>);
}

std::vector<std::string> other_backends() { return backend_names(false, false); }
std::vector<std::string> all_backends() { return backend_names(true, false); }
std::vector<std::string> other_device_backends() { return backend_names(false, true); }
std::vector<std::string> all_device_backends() { return backend_names(true, true); }

std::string refusal_of(const Backend& backend, const Program& program) {
  try {
    lower(program, backend.target(backend.probe().devices.at(0)));
  } catch (const Error& e) {
    const std::string text = e.what();
    if (text.find(" cannot run ") == std::string::npos) throw;
    return text;
  }
  return "";
}

std::string test_name(std::string backend) {
  std::ranges::replace(backend, '-', '_');
  return backend;
}

}  // namespace gpusizer
