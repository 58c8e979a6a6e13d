// SPDX-License-Identifier: Apache-2.0
// Checkpoints: an executor's tensors and a run's place, there and back; what is refused; which files are kept.
#include "workloads/checkpoint/checkpoint.hpp"

#include "workloads/checkpoint/checkpoint_folder.hpp"
#include "workloads/checkpoint/safetensors_writer.hpp"
#include "workloads/checkpoint/tests/safetensors_files.hpp"

namespace gpusizer {
namespace {

namespace fs = std::filesystem;

// Holds values by name; its one or two programs have no operations.
class FakeExecutor final : public Executor {
 public:
  void add(const std::string& name, const Shape& shape, Role role, float value) {
    for (LoweredProgram& one : programs) {
      one.program.tensors.push_back(
          {.id = {static_cast<std::int32_t>(one.program.tensors.size())}, .name = name, .shape = shape, .role = role});
      one.tensor_bytes.push_back(role == Role::parameter && name == "unused" ? 0 : 4 * element_count(shape));
    }
    values[name] = std::vector<float>(static_cast<std::size_t>(element_count(shape)), value);
  }
  void write(std::string_view name, std::span<const float> from) override {
    values.at(std::string(name)).assign(from.begin(), from.end());
  }
  void read(std::string_view name, std::span<float> to) override {
    const auto& from = values.at(std::string(name));
    ASSERT_EQ(from.size(), to.size());
    std::copy(from.begin(), from.end(), to.begin());
  }
  void enqueue(int, StepInputs) override {}
  std::optional<StepResult> collect() override { return std::nullopt; }
  std::vector<OperationTime> profile(int, StepInputs) override { return {}; }
  std::int64_t allocated_bytes() const override { return 0; }
  const LoweredProgram& program(int index) const override { return programs[static_cast<std::size_t>(index)]; }

  std::vector<LoweredProgram> programs{2};
  std::map<std::string, std::vector<float>> values;
};

FakeExecutor small_model(float value) {
  FakeExecutor executor;
  executor.add("fc.weight", {2, 3}, Role::parameter, value);
  executor.add("bn.running_mean", {3}, Role::state, value + 1);
  executor.add("fc.weight:momentum", {2, 3}, Role::optimizer_state, value + 2);
  executor.add("unused", {2}, Role::parameter, value);
  executor.add("x", {8}, Role::activation, value);
  return executor;
}

Checkpoint example() {
  return {.case_id = "resnet8/synthetic",
          .config = {{"lr", "0.1"}, {"model", "resnet8"}},
          .seed = 1ull << 63u,
          .step = 12,
          .epoch = 1,
          .epoch_step = 2,
          .random_state = {-5, 12},
          .history = {{"loss", {0.5, 0.25}}, {"none", {}}}};
}

using CheckpointFiles = FolderTest;

TEST_F(CheckpointFiles, ThereAndBack) {
  const auto path = folder / "c.safetensors";
  FakeExecutor from = small_model(1), to = small_model(100);
  const std::int64_t bytes = save_checkpoint(path, example(), from, 2);
  EXPECT_EQ(bytes, static_cast<std::int64_t>(fs::file_size(path)));
  EXPECT_EQ(read_checkpoint(path), example());
  EXPECT_EQ(load_checkpoint(path, to, 2), example());
  for (const char* name : {"fc.weight", "bn.running_mean", "fc.weight:momentum"})
    EXPECT_EQ(to.values[name], from.values[name]);
  for (const char* name : {"unused", "x"}) EXPECT_NE(to.values[name], from.values[name]);
}

TEST_F(CheckpointFiles, OfAnotherModelLeavesTheExecutorAsItWas) {
  const auto path = folder / "c.safetensors";
  FakeExecutor from = small_model(1);
  save_checkpoint(path, example(), from, 2);
  FakeExecutor more = small_model(7), fewer, other_shape;
  more.add("fc.bias", {2}, Role::parameter, 0);
  fewer.add("fc.weight", {2, 3}, Role::parameter, 7);
  other_shape = small_model(7);
  for (auto& program : other_shape.programs) program.program.tensors.front().shape = {3, 2};
  expect_in("no tensor 'fc.bias'", refusal([&] { load_checkpoint(path, more, 2); }));
  expect_in("is none of the program's", refusal([&] { load_checkpoint(path, fewer, 2); }));
  expect_in("F32 [2, 3], and the program's is F32 [3, 2]", refusal([&] { load_checkpoint(path, other_shape, 2); }));
  for (FakeExecutor* executor : {&more, &fewer, &other_shape}) EXPECT_EQ(executor->values["fc.weight"][0], 7);
}

TEST_F(CheckpointFiles, OfOthersAreRefused) {
  const auto path = folder / "c.safetensors";
  const auto write = [&](const FileWords& words) { SafetensorsWriter(path, {}, words).finish(); };
  const auto why = [&] { return refusal([&] { read_checkpoint(path); }); };
  write({});
  expect_in("no checkpoint of gpusizer", why());
  write({{"gpusizer_checkpoint", "2"}});
  expect_in("version 2", why());
  write({{"gpusizer_checkpoint", "1"}, {"case", "a"}, {"seed", "1"}});
  expect_in("does not say its step", why());
  write({{"gpusizer_checkpoint", "1"}, {"case", "a"}, {"seed", "1"}, {"step", "-3"}});
  expect_in("step is '-3'", why());
  put(path, with_length(R"({"__metadata__":{"gpusizer_checkpoint":"1"}})", ""));
  expect_in("lost its checksum", why());
}

using CheckpointFolders = FolderTest;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST_F(CheckpointFolders, KeepTheLastTwoOfTheirCase) {
  const fs::path inner = folder / "a" / "b";
  const CheckpointFolder mine(inner, "m/b8/cpu#2");
  EXPECT_TRUE(mine.newest_first().empty());
  mine.require_writable();
  EXPECT_TRUE(fs::is_empty(inner));
  EXPECT_EQ(mine.path_of(7), inner / "m_b8_cpu_2-step-7.safetensors");
  for (std::int64_t step : {100, 20, 3}) put(mine.path_of(step), "x");
  const std::vector<std::string> others{"m_b8_cpu-step-1.safetensors", "m_b8_cpu_2-step-9x.safetensors",
                                        "m_b8_cpu_2-step-.safetensors", "m_b8_cpu_2-step--4.safetensors", "notes.txt"};
  for (const auto& name : others) put(inner / name, "x");
  put(mine.path_of(4).string() + ".tmp", "of a killed program");
  ASSERT_EQ(mine.newest_first().size(), 3u);
  EXPECT_EQ(mine.newest_first().front().step, 100);
  mine.tidy(20);
  auto expected = others;
  for (const char* name : {"m_b8_cpu_2-step-20.safetensors", "m_b8_cpu_2-step-3.safetensors"}) expected.push_back(name);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names_in(inner), expected);
  put(mine.path_of(30), "x");
  mine.tidy(30);
  EXPECT_EQ(mine.newest_first().size(), 2u);
  EXPECT_EQ(mine.newest_first().back().step, 20);
}

TEST_F(CheckpointFolders, ThatCannotBeAreRefused) {
  put(folder / "file", "x");
  const CheckpointFolder below_a_file(folder / "file" / "inner", "c"), a_file(folder / "file", "c");
  for (const CheckpointFolder* one : {&below_a_file, &a_file})
    expect_in("file", refusal([&] { one->require_writable(); }, Fault::environment));
}

}  // namespace
}  // namespace gpusizer
