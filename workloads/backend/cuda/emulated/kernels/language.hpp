// SPDX-License-Identifier: Apache-2.0
// Indices, barriers, shuffles, votes and atomics of CUDA's device language.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "workloads/backend/cuda/emulated/kernels/block.hpp"

// Set each time a CUDA thread is resumed. Variables, since macros of these names would break cudaLaunchConfig_t.
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

namespace gpusizer::emulated {

template <class T>
T shuffle_from(Place place, unsigned mask, T value, int source) {
  static_assert(sizeof(T) <= 16 && std::is_trivially_copyable_v<T>);
  T result;
  meet_in_warp(place, mask, WarpOperation::shuffle, source, &value, &result, sizeof(T));
  return result;
}

inline int first_of_segment(int width) { return static_cast<int>(lane_of_warp()) & ~(width - 1); }

template <class T>
T shuffle_index(Place place, unsigned mask, T value, int source, int width = warpSize) {
  return shuffle_from(place, mask, value, first_of_segment(width) + (source & (width - 1)));
}

// A source outside the segment leaves the lane its own value.
template <class T>
T shuffle_within(Place place, unsigned mask, T value, int source, int width) {
  const int first = first_of_segment(width), own = static_cast<int>(lane_of_warp());
  return shuffle_from(place, mask, value, source < first || source >= first + width ? own : source);
}

template <class T>
T shuffle_xor(Place place, unsigned mask, T value, int bits, int width = warpSize) {
  return shuffle_within(place, mask, value, static_cast<int>(lane_of_warp()) ^ bits, width);
}

template <class T>
T shuffle_down(Place place, unsigned mask, T value, unsigned distance, int width = warpSize) {
  return shuffle_within(place, mask, value, static_cast<int>(lane_of_warp() + distance), width);
}

template <class T>
T shuffle_up(Place place, unsigned mask, T value, unsigned distance, int width = warpSize) {
  return shuffle_within(place, mask, value, static_cast<int>(lane_of_warp()) - static_cast<int>(distance), width);
}

inline unsigned ballot(Place place, unsigned mask, int predicate) {
  const int truth = predicate != 0;
  unsigned result;
  meet_in_warp(place, mask, WarpOperation::ballot, 0, &truth, &result, sizeof result);
  return result;
}

inline void sync_warp(Place place, unsigned mask = 0xffffffffu) {
  meet_in_warp(place, mask, WarpOperation::sync, 0, nullptr, nullptr, 0);
}

// Atomic, so that the thread sanitizer knows atomics from races.
template <class T, class Change>
T change_atomically(T* at, Change change) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
  static_assert(sizeof(T) == sizeof(Bits));
  Bits* bits = reinterpret_cast<Bits*>(at);
  Bits before = __atomic_load_n(bits, __ATOMIC_RELAXED), after;
  T old;
  do {
    std::memcpy(static_cast<void*>(&old), &before, sizeof old);
    const T changed = change(old);
    std::memcpy(&after, &changed, sizeof after);
  } while (!__atomic_compare_exchange_n(bits, &before, after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

}  // namespace gpusizer::emulated

#define GPUSIZER_EMU_PLACE (::gpusizer::emulated::Place{__FILE__, __LINE__, __COUNTER__})
#define __syncthreads() ((void)::gpusizer::emulated::sync_block(GPUSIZER_EMU_PLACE, 0))
#define __syncthreads_count(p) (::gpusizer::emulated::sync_block(GPUSIZER_EMU_PLACE, !!(p)))
#define __syncthreads_or(p) (::gpusizer::emulated::sync_block(GPUSIZER_EMU_PLACE, !!(p)) != 0)
#define __syncthreads_and(p) (::gpusizer::emulated::sync_block(GPUSIZER_EMU_PLACE, !(p)) == 0)
#define __syncwarp(...) (::gpusizer::emulated::sync_warp(GPUSIZER_EMU_PLACE __VA_OPT__(, ) __VA_ARGS__))
#define __shfl_sync(...) (::gpusizer::emulated::shuffle_index(GPUSIZER_EMU_PLACE, __VA_ARGS__))
#define __shfl_xor_sync(...) (::gpusizer::emulated::shuffle_xor(GPUSIZER_EMU_PLACE, __VA_ARGS__))
#define __shfl_down_sync(...) (::gpusizer::emulated::shuffle_down(GPUSIZER_EMU_PLACE, __VA_ARGS__))
#define __shfl_up_sync(...) (::gpusizer::emulated::shuffle_up(GPUSIZER_EMU_PLACE, __VA_ARGS__))
#define __ballot_sync(m, p) (::gpusizer::emulated::ballot(GPUSIZER_EMU_PLACE, m, p))
#define __any_sync(m, p) (::gpusizer::emulated::ballot(GPUSIZER_EMU_PLACE, m, p) != 0)
#define __all_sync(m, p) (::gpusizer::emulated::ballot(GPUSIZER_EMU_PLACE, m, !(p)) == 0)

template <class T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  return gpusizer::emulated::change_atomically(at, [value](T old) { return T(old + value); });
}
template <class T>
T atomicSub(T* at, std::type_identity_t<T> value) {
  return gpusizer::emulated::change_atomically(at, [value](T old) { return T(old - value); });
}
template <class T>
T atomicMax(T* at, std::type_identity_t<T> value) {
  return gpusizer::emulated::change_atomically(at, [value](T old) { return old < value ? value : old; });
}
template <class T>
T atomicMin(T* at, std::type_identity_t<T> value) {
  return gpusizer::emulated::change_atomically(at, [value](T old) { return value < old ? value : old; });
}
template <class T>
T atomicAnd(T* at, std::type_identity_t<T> value) {
  return gpusizer::emulated::change_atomically(at, [value](T old) { return T(old & value); });
}
template <class T>
T atomicOr(T* at, std::type_identity_t<T> value) {
  return gpusizer::emulated::change_atomically(at, [value](T old) { return T(old | value); });
}
template <class T>
T atomicExch(T* at, std::type_identity_t<T> value) {
  return gpusizer::emulated::change_atomically(at, [value](T) { return value; });
}
template <class T>
T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return gpusizer::emulated::change_atomically(at, [=](T old) { return old == expected ? value : old; });
}
// CUDA's wrap-around increment: back to 0 after `last`.
inline unsigned atomicInc(unsigned* at, unsigned last) {
  return gpusizer::emulated::change_atomically(at, [last](unsigned old) { return old >= last ? 0u : old + 1; });
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
