// SPDX-License-Identifier: Apache-2.0
// Philox and the starting values drawn from it.
#include "workloads/program/initial_values.hpp"

#include <cmath>
#include <numbers>

#include "workloads/program/part.hpp"

namespace gpusizer {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return c;
}

namespace {

// FNV-1a: the same number for the same name everywhere.
uint64_t hash(const std::string& name) {
  uint64_t h = 0xcbf29ce484222325u;
  for (const char ch : name) h = (h ^ static_cast<unsigned char>(ch)) * 0x100000001b3u;
  return h;
}

// In (0, 1): never 0, so that its logarithm exists.
double unit(uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }

std::array<double, 4> draw(Initializer::Kind kind, const std::array<uint32_t, 4>& w) {
  if (kind == Initializer::Kind::uniform)
    return {2 * unit(w[0]) - 1, 2 * unit(w[1]) - 1, 2 * unit(w[2]) - 1, 2 * unit(w[3]) - 1};
  const double r0 = std::sqrt(-2 * std::log(unit(w[0]))), r1 = std::sqrt(-2 * std::log(unit(w[2])));
  const double a0 = 2 * std::numbers::pi * unit(w[1]), a1 = 2 * std::numbers::pi * unit(w[3]);
  return {r0 * std::cos(a0), r0 * std::sin(a0), r1 * std::cos(a1), r1 * std::sin(a1)};
}

}  // namespace

std::vector<float> initial_values(const Tensor& tensor, uint64_t seed) {
  if (tensor.part) {
    Tensor whole = tensor;
    whole.shape = tensor.part->whole;
    whole.part.reset();
    return cut(*tensor.part, initial_values(whole, seed));
  }
  const auto count = static_cast<size_t>(element_count(tensor.shape));
  const Initializer init = tensor.initial;
  if (init.kind == Initializer::Kind::constant) return std::vector<float>(count, static_cast<float>(init.value));
  std::vector<float> values(count);
  const uint64_t name = hash(tensor.name);
  const std::array<uint32_t, 2> key{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (size_t block = 0; block * 4 < count; ++block) {
    const auto words = philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                               static_cast<uint32_t>(name), static_cast<uint32_t>(name >> 32)}, key);
    const auto four = draw(init.kind, words);
    for (size_t i = 0; i < 4 && block * 4 + i < count; ++i) values[block * 4 + i] = static_cast<float>(init.value * four[i]);
  }
  return values;
}

}  // namespace gpusizer
