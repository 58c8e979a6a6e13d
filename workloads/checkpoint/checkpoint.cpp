// SPDX-License-Identifier: Apache-2.0
// A checkpoint's words and tensors, to a file and back.
#include "workloads/checkpoint/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "gpusizer/error.hpp"
#include "workloads/checkpoint/safetensors_reader.hpp"
#include "workloads/checkpoint/safetensors_writer.hpp"

namespace gpusizer {
namespace {

constexpr const char* format_word = "gpusizer_checkpoint";
constexpr const char* format_version = "1";
constexpr std::string_view history_prefix = "run/", config_prefix = "config.";

class ExecutorTensors final : public TensorStore {
 public:
  ExecutorTensors(Executor& executor, int program_count) : executor_(executor), program_count_(program_count) {}

  std::vector<StoredTensor> tensors() const override {
    std::vector<StoredTensor> stored;
    for (const Tensor& tensor : persistent_tensors(executor_, program_count_))
      stored.push_back({tensor.name, StoredType::f32, tensor.shape});
    return stored;
  }
  void read(const std::string& name, std::span<float> values) override { executor_.read(name, values); }
  void write(const std::string& name, std::span<const float> values) override { executor_.write(name, values); }

 private:
  Executor& executor_;
  int program_count_;
};

FileWords words_of(const Checkpoint& c) {
  FileWords words{{format_word, format_version},
                  {"case", c.case_id},
                  {"seed", std::to_string(c.seed)},
                  {"step", std::to_string(c.step)},
                  {"epoch", std::to_string(c.epoch)},
                  {"epoch_step", std::to_string(c.epoch_step)},
                  {"random_state_0", std::to_string(c.random_state[0])},
                  {"random_state_1", std::to_string(c.random_state[1])}};
  for (const auto& [name, word] : c.config) words[std::string(config_prefix) + name] = word;
  return words;
}

class WordReader {
 public:
  explicit WordReader(const SafetensorsReader& file) : file_(file) {
    if (!file.words().contains(format_word))
      refuse("this is a safetensors file, but no checkpoint of gpusizer", "name a folder with checkpoints");
    if (word(format_word) != format_version)
      refuse(fmt::format("this checkpoint is of version {}, and this program reads version {}", word(format_word),
                         format_version),
             "use the program that made it");
    if (!file.has_checksum()) refuse("this checkpoint has lost its checksum", "use another one");
  }

  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    throw Error(Fault::input, what, file_.path().string(), hint);
  }

  std::string word(const char* name) const {
    const auto found = file_.words().find(name);
    if (found == file_.words().end())
      refuse(fmt::format("this checkpoint does not say its {}", name), "use another one");
    return found->second;
  }

  template <class T>
  T number(const char* name, T least) const {
    const std::string text = word(name);
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least)
      refuse(fmt::format("this checkpoint's {} is '{}'", name, text), "use another one");
    return value;
  }

 private:
  const SafetensorsReader& file_;
};

Checkpoint checkpoint_of(const SafetensorsReader& file) {
  const WordReader words(file);
  Checkpoint c{.case_id = words.word("case"),
               .seed = words.number<std::uint64_t>("seed", 0),
               .step = words.number<std::int64_t>("step", 0),
               .epoch = words.number<std::int64_t>("epoch", 0),
               .epoch_step = words.number<std::int64_t>("epoch_step", 0),
               .random_state = {words.number("random_state_0", INT32_MIN), words.number("random_state_1", INT32_MIN)}};
  for (const auto& [name, word] : file.words())
    if (name.starts_with(config_prefix)) c.config[name.substr(config_prefix.size())] = word;
  for (const StoredTensor& tensor : file.tensors()) {
    if (!tensor.name.starts_with(history_prefix)) continue;
    auto& values = c.history[tensor.name.substr(history_prefix.size())];
    values.resize(static_cast<std::size_t>(element_count(tensor.shape)));
    file.read(tensor.name, std::span<double>(values));
  }
  return c;
}

// Both ways: nothing may be missing and nothing may be left over.
void require_same_tensors(const SafetensorsReader& file, const std::vector<StoredTensor>& expected) {
  const auto refuse = [&](const std::string& what) {
    throw Error(Fault::input, what, file.path().string(), "it belongs to another model; use another checkpoint");
  };
  std::set<std::string> names;
  for (const StoredTensor& tensor : expected) {
    names.insert(tensor.name);
    const StoredTensor* stored = file.find(tensor.name);
    if (!stored) refuse(fmt::format("the checkpoint has no tensor '{}'", tensor.name));
    if (*stored != tensor)
      refuse(fmt::format("the checkpoint's tensor '{}' is {} {}, and the program's is {} {}", tensor.name,
                         to_string(stored->type), to_string(stored->shape), to_string(tensor.type),
                         to_string(tensor.shape)));
  }
  for (const StoredTensor& tensor : file.tensors())
    if (!tensor.name.starts_with(history_prefix) && !names.contains(tensor.name))
      refuse(fmt::format("the checkpoint's tensor '{}' is none of the program's", tensor.name));
}

}  // namespace

std::vector<Tensor> persistent_tensors(const Executor& executor, int program_count) {
  std::set<std::string> seen;
  std::vector<Tensor> tensors;
  for (int index = 0; index < program_count; ++index) {
    const LoweredProgram& lowered = executor.program(index);
    for (const Tensor& tensor : lowered.program.tensors) {
      const bool touched = lowered.tensor_bytes[static_cast<std::size_t>(tensor.id.index)] > 0;
      // Scalars are bound anew, or constants of one layout.
      if (tensor.role == Role::scalar || !is_persistent(tensor.role) || !touched) continue;
      if (seen.insert(tensor.name).second) tensors.push_back(tensor);
    }
  }
  return tensors;
}

std::unique_ptr<TensorStore> executor_tensors(Executor& executor, int program_count) {
  return std::make_unique<ExecutorTensors>(executor, program_count);
}

std::int64_t save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint, TensorStore& store) {
  const auto persistent = store.tensors();
  std::vector<StoredTensor> tensors;
  for (const auto& [name, values] : checkpoint.history)
    tensors.push_back(
        {std::string(history_prefix) + name, StoredType::f64, {static_cast<std::int64_t>(values.size())}});
  tensors.insert(tensors.end(), persistent.begin(), persistent.end());
  SafetensorsWriter file(path, std::move(tensors), words_of(checkpoint));
  for (const auto& [name, values] : checkpoint.history) file.append(std::span(values));
  std::vector<float> values;
  for (const StoredTensor& tensor : persistent) {
    values.resize(static_cast<std::size_t>(element_count(tensor.shape)));
    store.read(tensor.name, values);
    file.append(std::span<const float>(values));
  }
  return file.finish();
}

std::int64_t save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint, Executor& executor,
                             int program_count) {
  ExecutorTensors tensors(executor, program_count);
  return save_checkpoint(path, checkpoint, tensors);
}

Checkpoint read_checkpoint(const std::filesystem::path& path) { return checkpoint_of(SafetensorsReader(path)); }

Checkpoint load_checkpoint(const std::filesystem::path& path, TensorStore& store) {
  const SafetensorsReader file(path);
  Checkpoint checkpoint = checkpoint_of(file);
  const auto persistent = store.tensors();
  require_same_tensors(file, persistent);
  std::vector<float> values;
  for (const StoredTensor& tensor : persistent) {
    values.resize(static_cast<std::size_t>(element_count(tensor.shape)));
    file.read(tensor.name, std::span<float>(values));
    store.write(tensor.name, values);
  }
  return checkpoint;
}

Checkpoint load_checkpoint(const std::filesystem::path& path, Executor& executor, int program_count) {
  ExecutorTensors tensors(executor, program_count);
  return load_checkpoint(path, tensors);
}

}  // namespace gpusizer
