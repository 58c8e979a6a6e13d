// SPDX-License-Identifier: Apache-2.0
// Which environment variables may enter a report: an allow-list, and a second look at the values.
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "reports/record/environment.hpp"

namespace gpusizer::record {
namespace {

constexpr std::array<std::string_view, 9> allowed_names = {
    "OMP_NUM_THREADS",    "OMP_PROC_BIND",      "OMP_PLACES",   "OMP_WAIT_POLICY", "GOMP_CPU_AFFINITY",
    "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "MALLOC_ARENA_MAX", "LD_BIND_NOW"};

constexpr std::array<std::string_view, 8> allowed_prefixes = {"DNNL_",  "ONEDNN_", "NCCL_", "UCX_",
                                                              "FI_",    "OMPI_MCA_", "CUDA_", "CUDNN_"};

constexpr std::array<std::string_view, 6> secret_words = {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL"};

constexpr std::size_t longest_value = 256;

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

bool mentions_secret(const std::string& text) {
  const std::string shouted = upper(text);
  return std::any_of(secret_words.begin(), secret_words.end(),
                     [&](std::string_view word) { return shouted.find(word) != std::string::npos; });
}

// Keys and tokens are long runs of letters and digits; settings are words, numbers and paths.
bool looks_random(const std::string& value) {
  std::size_t run = 0;
  bool digit = false, letter = false;
  for (const unsigned char c : value) {
    const bool part = std::isalnum(c) || c == '+' || c == '=';
    if (!part) run = 0, digit = letter = false;
    if (part) ++run;
    digit = digit || (part && std::isdigit(c));
    letter = letter || (part && std::isalpha(c));
    if (run >= 20 && digit && letter) return true;
  }
  return false;
}

}  // namespace

bool is_allowed_variable(const std::string& name, const std::string& value) {
  const bool known = std::find(allowed_names.begin(), allowed_names.end(), name) != allowed_names.end() ||
                     std::any_of(allowed_prefixes.begin(), allowed_prefixes.end(),
                                 [&](std::string_view prefix) { return name.starts_with(prefix); });
  return known && value.size() <= longest_value && !mentions_secret(name) && !mentions_secret(value) &&
         !looks_random(value) && value.find("://") == std::string::npos && value.find('@') == std::string::npos;
}

StringMap allowed_variables(const char* const* environment) {
  StringMap allowed;
  for (; environment && *environment; ++environment) {
    const std::string pair = *environment;
    const auto equals = pair.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = pair.substr(0, equals), value = pair.substr(equals + 1);
    if (is_allowed_variable(name, value)) allowed[name] = value;
  }
  return allowed;
}

}  // namespace gpusizer::record
