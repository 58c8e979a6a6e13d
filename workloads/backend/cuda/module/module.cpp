// SPDX-License-Identifier: Apache-2.0
// The module's backend: what GPUs there are, what lowering must know about one, and the module's entry.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "gpusizer/error.hpp"
#include "workloads/backend/cuda/cuda_module.hpp"
#include "workloads/backend/cuda/module/cuda_executor.hpp"
#include "workloads/backend/cuda/driver.hpp"
#include "workloads/lowering/fusion.hpp"

namespace gpusizer::cuda {

namespace {

#if defined(GPUSIZER_EMULATED_DEVICE)
constexpr std::string_view backend_name = "cuda-emulated";
#else
constexpr std::string_view backend_name = "cuda";
#endif

constexpr FusionRule fusions[] = {fuse_batch_norm_add_relu, fuse_batch_norm_relu, fuse_add_relu, fuse_conv_relu,
                                  keep_relu_result, fuse_dropout_add};

#if defined(GPUSIZER_EMULATED_DEVICE)
// No precision is fast here.
constexpr DType emulated_dtypes[] = {DType::f32, DType::tf32, DType::f16, DType::bf16};
#endif

int device_number(const Device& device) {
  const size_t colon = device.name.rfind(':');
  return colon == std::string::npos ? 0 : std::atoi(device.name.c_str() + colon + 1);
}

Traits traits_of(int device) {
  int major = 0, minor = 0, multiprocessors = 0;
  GPUSIZER_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  GPUSIZER_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  GPUSIZER_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  return {10 * major + minor, multiprocessors};
}

std::string target_name(const Traits& traits) { return fmt::format("{}-sm{}", backend_name, traits.compute_capability); }

Device device_of(int number) {
  cudaDeviceProp properties{};
  GPUSIZER_CHECK(cudaGetDeviceProperties(&properties, number));
  GPUSIZER_CHECK(cudaSetDevice(number));
  size_t free_bytes = 0, all = 0;
  GPUSIZER_CHECK(cudaMemGetInfo(&free_bytes, &all));
  return {std::string(backend_name), fmt::format("{}:{}", backend_name, number), properties.name, 0, free_bytes};
}


std::string cuda_version(int v) { return fmt::format("{}.{}", v / 1000, v / 10 % 100); }

// GPUSIZER_CUDA_GRAPH=0: each step is launched operation by operation.
bool graphs_wanted() {
  const char* word = std::getenv("GPUSIZER_CUDA_GRAPH");
  return !word || std::string_view(word) != "0";
}

class DeviceBackend final : public Backend {
 public:
  std::string_view name() const override { return backend_name; }
  std::string_view description() const override { return "GPUs"; }

  Probe probe() const override {
    int count = 0, driver = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
      (void)cudaGetLastError();
      (void)cudaDriverGetVersion(&driver);
      return {{}, no_device_reason(error, driver, CUDART_VERSION)};
    }
    if (count == 0) return {{}, "the NVIDIA driver sees no GPU"};
    Probe probe;
    try {
      for (int i = 0; i < count; ++i) probe.devices.push_back(device_of(i));
    } catch (const Error& e) {
      return {{}, e.what()};
    }
    return probe;
  }

  Target target(const Device& device) const override {
    const Traits traits = traits_of(device_number(device));
    Target t;
    t.name = target_name(traits);
    t.fusions = fusions;
#if defined(GPUSIZER_EMULATED_DEVICE)
    t.emulated_dtypes = emulated_dtypes;
#endif
    t.tensor_bytes = stored_bytes;
    t.operation_storage = [traits](const Program& p, const Operation& op) -> OperationStorage {
      const Prepared prepared = prepare({traits, p, op});
      return {prepared.workspace_bytes, prepared.saved_bytes};
    };
    return t;
  }

  std::unique_ptr<Executor> make_executor(std::vector<LoweredProgram> programs, const Device& device,
                                          Communicator*) const override {
    const int number = device_number(device);
    const Traits traits = traits_of(number);
    return std::make_unique<CudaExecutor>(std::move(programs),
                                          ExecutorOptions{number, traits, target_name(traits), graphs_wanted()});
  }

  std::vector<std::pair<std::string, std::string>> libraries() const override {
    int runtime = 0, driver = 0;
    (void)cudaRuntimeGetVersion(&runtime);
    (void)cudaDriverGetVersion(&driver);
    return {{"CUDA runtime", cuda_version(runtime)}, {"CUDA driver", cuda_version(driver)},
            {"cuBLASLt", std::to_string(cublasLtGetVersion())}};
  }
};

}  // namespace

}  // namespace gpusizer::cuda

extern "C" const gpusizer::cuda::CudaModule* gpusizer_cuda_module() {
  using namespace gpusizer::cuda;
  static const CudaModule module{build_mark(), []() -> const gpusizer::Backend* {
                                   static const DeviceBackend backend;
                                   return &backend;
                                 }};
  return &module;
}
