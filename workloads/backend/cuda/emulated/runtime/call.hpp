// SPDX-License-Identifier: Apache-2.0
// The frame of every runtime function: planted failures, broken devices, captures that forbid it, and the last error.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "workloads/backend/cuda/emulated/runtime/machine.hpp"

namespace gpusizer::emulated {

enum class WhileCapturing : uint8_t { allowed, forbidden };

// What the call must return before it does anything, or success. Counts the call.
cudaError_t refusal(const char* function, WhileCapturing rule);
// Remembers an error as the thread's last one and as unasked; returns it.
cudaError_t returned(const char* function, cudaError_t status);

// Locks the machine and runs `body(lock)`, which returns the status.
template <class Body>
cudaError_t runtime_call(const char* function, WhileCapturing rule, Body&& body) {
  Lock lock(machine().mutex);
  if (const cudaError_t refused = refusal(function, rule)) return returned(function, refused);
  return returned(function, std::forward<Body>(body)(lock));
}

// For what gives something back: done even on a broken device, whose error is returned all the same.
template <class Body>
cudaError_t cleanup_call(const char* function, WhileCapturing rule, Body&& body) {
  Lock lock(machine().mutex);
  const cudaError_t refused = refusal(function, rule);
  if (refused == cudaErrorStreamCaptureUnsupported) return returned(function, refused);
  const cudaError_t status = std::forward<Body>(body)(lock);
  return returned(function, refused != cudaSuccess ? refused : status);
}

template <class Body>
cudaError_t runtime_call(const char* function, Body&& body) {
  return runtime_call(function, WhileCapturing::allowed, std::forward<Body>(body));
}

}  // namespace gpusizer::emulated
