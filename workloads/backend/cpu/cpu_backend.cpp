// SPDX-License-Identifier: Apache-2.0
// What the CPU backend finds on a machine, and what lowering must know to plan programs for it.
#include "workloads/backend/cpu/cpu_backend.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "workloads/backend/cpu/cpu_executor.hpp"
#include "workloads/backend/cpu/int8_products.hpp"
#include "workloads/lowering/fusion.hpp"

namespace gpusizer {

namespace {

using namespace gpusizer::cpu;

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") && line.find(':') != std::string::npos) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

// The cores this process may use: a container's or a batch system's share, not the host's count; and no more than
// OMP_NUM_THREADS asks for, by which batch systems and people limit programs.
int usable_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
  const char* limit = std::getenv("OMP_NUM_THREADS");
  const int wanted = limit ? std::atoi(limit) : 0;  // what is no number limits nothing; of a list the first counts
  return wanted > 0 ? std::min(cores, wanted) : cores;
}

// The control group's limit where there is one (cgroup v2), else the machine's memory.
uint64_t usable_memory_bytes() {
  const uint64_t machine = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t limit = 0;
  std::ifstream("/sys/fs/cgroup/memory.max") >> limit;  // "max" leaves 0
  return limit > 0 ? std::min(limit, machine) : machine;
}

OperationStorage storage_of(const Engine& engine, const Program& program, const Operation& op) {
  const Layouts layouts(program, engine.vector.lanes);
  const auto kernel = make_kernel({engine, layouts, program, op});
  return {kernel->workspace_bytes(), kernel->saved_bytes()};
}

int64_t bytes_of(const Tensor& t, int block) {
  if (t.role == Role::input) return 0;  // bound by address
  if (t.dtype == DType::i8 || t.dtype == DType::u8)
    return is_persistent(t.role) ? int8_weight_bytes(t.shape) : element_count(t.shape);
  const bool image = t.shape.size() == 4 && (t.role == Role::activation || t.role == Role::gradient);
  // A weight's gradient has four dimensions too; blocks of channels never make it smaller than it is.
  const int64_t elements = image ? element_count({t.shape[0], round_up(t.shape[1], block), t.shape[2], t.shape[3]})
                                 : element_count(t.shape);
  return elements * 4;  // shorter element types are emulated in f32 words
}

class CpuBackend final : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  std::string_view description() const override { return "this machine's processor, through oneDNN and own vector kernels"; }

  Probe probe() const override {
    return {{{"cpu", "cpu", processor_name(), usable_threads(), usable_memory_bytes()}}, ""};
  }

  Target target(const Device& device) const override {
    const int threads = std::max(1, device.threads), block = matching_vector_kernels().lanes;
    static constexpr FusionRule fusions[] = {fuse_batch_norm_add_relu, fuse_batch_norm_relu, fuse_add_relu, fuse_conv_relu,
                                             keep_relu_result, fuse_dropout_add};
    Target t;
    t.name = "cpu";
    t.fusions = fusions;
    t.early_updates = true;
    static constexpr DType emulated[] = {DType::f16, DType::bf16, DType::tf32};  // stored as f32 words
    t.emulated_dtypes = emulated;
    t.tensor_bytes = [block](const Tensor& tensor) { return bytes_of(tensor, block); };
    t.operation_storage = [threads](const Program& p, const Operation& op) {
      omp_set_num_threads(threads);  // oneDNN's scratch memory depends on it
      Engine engine;
      engine.threads = threads;
      return storage_of(engine, p, op);
    };
    return t;
  }

  std::unique_ptr<Executor> make_executor(std::vector<LoweredProgram> programs, const Device& device,
                                          Communicator* communicator) const override {
    return std::make_unique<CpuExecutor>(std::move(programs), device.threads, communicator);
  }

  std::vector<std::pair<std::string, std::string>> libraries() const override {
    const dnnl_version_t* v = dnnl_version();
    return {{"oneDNN", fmt::format("{}.{}.{}", v->major, v->minor, v->patch)},
            {"vector kernels", matching_vector_kernels().instruction_set}};
  }
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace gpusizer
