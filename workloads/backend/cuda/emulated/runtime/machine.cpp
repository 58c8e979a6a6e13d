// SPDX-License-Identifier: Apache-2.0
// The one machine of the process, and what tests do to it.
#include "workloads/backend/cuda/emulated/runtime/machine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "gpusizer/error.hpp"

namespace gpusizer::emulated {
namespace {

// "function:nth:status,..."
std::map<std::string, PlantedFailure> planted_by_environment() {
  std::map<std::string, PlantedFailure> planted;
  const char* text = std::getenv("GPUSIZER_EMU_FAIL");
  std::istringstream list(text ? text : "");
  for (std::string item; std::getline(list, item, ',');) {
    const size_t second = item.rfind(':'), first = second ? item.rfind(':', second - 1) : std::string::npos;
    if (first == std::string::npos || second == std::string::npos || first == second)
      throw Error(Fault::usage, "the emulated device cannot use '" + item + "'", "GPUSIZER_EMU_FAIL",
                  "give function:nth call:status");
    planted[item.substr(0, first)] = {std::atoi(item.c_str() + first + 1), std::atoi(item.c_str() + second + 1)};
  }
  return planted;
}

void abandon_all(bool (*chosen)(cudaStream_t)) {
  const std::vector<cudaStream_t> streams = machine().streams;  // some of them go
  for (const cudaStream_t stream : streams) {
    if (!chosen(stream)) continue;
    abandon_work(stream);
    delete_if_done(stream);
  }
}

// For whole programs: GPUSIZER_EMU_STRICT=1 ends one that let errors pass unnoticed with this code.
constexpr int strict_exit_code = 99;

void look_back_at_exit() {
  const std::vector<std::string> unasked = unasked_errors();
  for (const std::string& error : unasked)
    std::fprintf(stderr, "[emulated devices] nobody asked about an error: %s\n", error.c_str());
  if (!unasked.empty()) std::_Exit(strict_exit_code);
}

bool in_device_order(int device) { return device >= 0 && device < static_cast<int>(most_emulated_devices); }

}  // namespace

Machine::Machine() : planted(planted_by_environment()) {
  const char* strict = std::getenv("GPUSIZER_EMU_STRICT");
  if (strict && *strict == '1') std::atexit(look_back_at_exit);
}

Machine& machine() {
  static Machine* one = new Machine;  // never destroyed: a program's last cudaFree may come after static destructors
  return *one;
}

HostThread& host_thread() {
  thread_local HostThread thread;
  return thread;
}

void configure(const Settings& settings) {
  Machine& m = machine();
  const Lock lock(m.mutex);
  abandon_all([](cudaStream_t) { return true; });
  m.settings = settings;
  m.random.seed(settings.seed);
  m.broken.fill(cudaSuccess);
  m.fault.clear();
  m.planted.clear();
  m.calls.clear();
  m.unasked.clear();
  m.shared_limit.clear();
  host_thread() = {};
}

const Settings& current_settings() { return machine().settings; }

void fail_on_call(const std::string& function, int nth, int status) {
  const Lock lock(machine().mutex);
  machine().planted[function] = {nth, status};
}

int calls_of(const std::string& function) {
  const Lock lock(machine().mutex);
  const auto found = machine().calls.find(function);
  return found == machine().calls.end() ? 0 : found->second;
}

int planted_status(const char* function) {
  const Lock lock(machine().mutex);
  Machine& m = machine();
  ++m.calls[function];
  const auto found = m.planted.find(function);
  if (found == m.planted.end() || --found->second.calls_left > 0) return 0;
  const int status = found->second.status;
  m.planted.erase(found);
  return status;
}

void break_device(int device, int status, const std::string& message) {
  const Lock lock(machine().mutex);
  if (in_device_order(device)) set_broken(device, static_cast<cudaError_t>(status), message);
}

void clear_errors() {
  const Lock lock(machine().mutex);
  abandon_all([](cudaStream_t s) { return machine().broken[static_cast<size_t>(s->device)] != cudaSuccess; });
  machine().broken.fill(cudaSuccess);
  machine().fault.clear();
  host_thread().last_error = cudaSuccess;
}

std::string fault_message() {
  const Lock lock(machine().mutex);
  return machine().fault;
}

std::vector<std::string> unasked_errors() {
  const Lock lock(machine().mutex);
  std::vector<std::string> texts;
  for (const auto& [function, status] : machine().unasked) texts.push_back(function + " returned " + status);
  return texts;
}

void forget_unasked_errors() {
  const Lock lock(machine().mutex);
  machine().unasked.clear();
}

void note_returned_error(const char* function, int, const std::string& status_name) {
  const Lock lock(machine().mutex);
  remember_unasked(function, status_name);
}

void note_asked(const std::string& status_name) {
  const Lock lock(machine().mutex);
  std::erase_if(machine().unasked, [&](const auto& error) { return error.second == status_name; });
}

size_t used_bytes(int device) {
  const Lock lock(machine().mutex);
  return in_device_order(device) ? machine().used[static_cast<size_t>(device)] : 0;
}

int live_allocations(int device) {
  const Lock lock(machine().mutex);
  return static_cast<int>(std::count_if(machine().memory.begin(), machine().memory.end(), [&](const auto& entry) {
    return entry.second.device == device && !entry.second.pinned;
  }));
}

Lock lock_machine() { return Lock(machine().mutex); }

void wake_waiters() { machine().changed.notify_all(); }

}  // namespace gpusizer::emulated
