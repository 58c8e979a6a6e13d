// SPDX-License-Identifier: Apache-2.0
// Starts an emulated kernel: its arguments are copied, as a real launch does, and the grid is queued on its stream.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <tuple>
#include <type_traits>

namespace gpusizer::emulated {

// Queues a grid. `pointers` are the arguments that are pointers: each must be null or memory that the stream's device
// can read, otherwise the device has an illegal address. Returns what cudaLaunchKernelExC would.
cudaError_t launch_body(const void* kernel, const cudaLaunchConfig_t* config, std::function<void()> body,
                        const void* const* pointers, int pointer_count);

template <class... Parameters>
cudaError_t launch(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                   std::type_identity_t<Parameters>... arguments) {
  const void* pointers[sizeof...(Parameters) + 1] = {};
  int count = 0;
  const auto note = [&]([[maybe_unused]] const auto& argument) {
    if constexpr (std::is_pointer_v<std::decay_t<decltype(argument)>>) pointers[count++] = argument;
  };
  (note(arguments), ...);
  auto body = [kernel, copies = std::tuple<std::decay_t<Parameters>...>(arguments...)] { std::apply(kernel, copies); };
  return launch_body(reinterpret_cast<const void*>(kernel), config, std::move(body), pointers, count);
}

}  // namespace gpusizer::emulated
