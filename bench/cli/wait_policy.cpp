// SPDX-License-Identifier: Apache-2.0
// Chooses OMP_WAIT_POLICY by the load seen at start.
#include "bench/cli/wait_policy.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "bench/machine/cpu.hpp"
#include "bench/machine/text_file.hpp"

namespace gpusizer::cli {
namespace {

constexpr double kBusyShare = 0.05;
constexpr auto kLook = std::chrono::milliseconds(200);

std::optional<double> others_now() {
  const auto begin = cpu_time();
  const double own = own_cpu_seconds();
  std::this_thread::sleep_for(kLook);
  return others_share(begin, cpu_time(), own_cpu_seconds() - own);
}

// The words this process was started with.
std::vector<std::string> own_words() {
  std::vector<std::string> words;
  const std::string all = read_text_file("/proc/self/cmdline");
  for (std::size_t start = 0; start < all.size();) {
    const std::size_t end = all.find('\0', start);
    words.push_back(all.substr(start, end - start));
    if (end == std::string::npos) break;
    start = end + 1;
  }
  return words;
}

void start_anew() {
  std::vector<std::string> words = own_words();
  if (words.empty()) return;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv("/proc/self/exe", pointers.data());  // returns only when it failed: then the run goes on as it is
}

}  // namespace

std::string wait_policy_for(std::optional<double> others_share) {
  return others_share && *others_share > kBusyShare ? "passive" : "";
}

void choose_wait_policy() {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;  // also what stops this from going round for ever
  const std::string policy = wait_policy_for(others_now());
  if (policy.empty()) return;
  if (setenv("OMP_WAIT_POLICY", policy.c_str(), 1) == 0) start_anew();
}

}  // namespace gpusizer::cli
