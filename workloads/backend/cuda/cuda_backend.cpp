// SPDX-License-Identifier: Apache-2.0
// Opens the module from beside the program, and passes everything on to it.
#include "workloads/backend/cuda/cuda_backend.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "gpusizer/error.hpp"
#include "workloads/backend/cuda/cuda_module.hpp"

namespace gpusizer {

namespace cuda {

std::string loading_fault(const std::string& loader_text) {
  // "libcudnn.so.9: cannot open shared object file: No such file or directory"
  const size_t colon = loader_text.find(": cannot open shared object file");
  if (colon == std::string::npos) return "its module cannot be loaded: " + loader_text;
  return loader_text.substr(0, colon) + " not found";
}

}  // namespace cuda

namespace {

// Which module holds the backend, and what it is called.
struct Kind {
  std::string_view name, description;
  const char* file;  // nullptr: this build has none
};

std::string beside_the_program(const char* name) {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string program(path.data(), length > 0 ? static_cast<size_t>(length) : 0);
  return program.substr(0, program.rfind('/') + 1) + name;
}

// The module's backend, or the reason why there is none. A module that was opened stays open.
struct Opened {
  const Backend* backend = nullptr;
  std::string reason;
};

Opened open_module(const Kind& kind) {
  if (!kind.file) return {nullptr, "built without CUDA"};
  const std::string path = beside_the_program(kind.file);
  if (::access(path.c_str(), F_OK) != 0) return {nullptr, fmt::format("{} is not beside the program", kind.file)};
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) return {nullptr, cuda::loading_fault(::dlerror())};
  const auto symbol = ::dlsym(module, cuda::cuda_module_symbol);
  if (!symbol) return {nullptr, fmt::format("{} is something else", kind.file)};
  const cuda::CudaModule* found = reinterpret_cast<const cuda::CudaModule* (*)()>(symbol)();
  if (!(found->mark == cuda::build_mark()))
    return {nullptr, fmt::format("{} belongs to another build of gpusizer", kind.file)};
  return {found->backend(), ""};
}

class ModuleBackend final : public Backend {
 public:
  explicit ModuleBackend(const Kind& kind) : kind_(kind) {}
  std::string_view name() const override { return kind_.name; }
  std::string_view description() const override { return kind_.description; }

  Probe probe() const override {
    const Opened opened = open_module(kind_);
    return opened.backend ? opened.backend->probe() : Probe{{}, opened.reason};
  }
  Target target(const Device& device) const override { return required().target(device); }
  std::unique_ptr<Executor> make_executor(std::vector<LoweredProgram> programs, const Device& device,
                                          Communicator* communicator) const override {
    return required().make_executor(std::move(programs), device, communicator);
  }
  std::vector<std::pair<std::string, std::string>> libraries() const override {
    const Opened opened = open_module(kind_);
    if (!opened.backend || opened.backend->probe().devices.empty()) return {};
    return opened.backend->libraries();
  }

 private:
  const Backend& required() const {
    const Opened opened = open_module(kind_);
    if (!opened.backend)
      throw Error(Fault::environment, fmt::format("no device for '{}': {}", kind_.name, opened.reason), "--device",
                  "see gpusizer list devices");
    return *opened.backend;
  }

  const Kind& kind_;
};

constexpr Kind real_kind{"cuda", "NVIDIA GPUs, through cuBLASLt, cuDNN, NCCL and own kernels",
#if defined(GPUSIZER_WITH_CUDA)
                         "libgpusizer_cuda.so"
#else
                         nullptr
#endif
};

constexpr Kind emulated_kind{"cuda-emulated", "the CUDA backend on an emulated device: right numbers, never a speed",
#if defined(GPUSIZER_WITH_EMULATED_CUDA)
                             "libgpusizer_cuda_emulated.so"
#else
                             nullptr
#endif
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() { return std::make_unique<ModuleBackend>(real_kind); }
std::unique_ptr<Backend> make_emulated_cuda_backend() { return std::make_unique<ModuleBackend>(emulated_kind); }

}  // namespace gpusizer
