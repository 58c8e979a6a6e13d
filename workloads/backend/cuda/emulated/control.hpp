// SPDX-License-Identifier: Apache-2.0
// What a test may do to the emulated machine: set it up, make calls fail, break a device, and ask what went wrong.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "workloads/backend/cuda/emulated/settings.hpp"

namespace gpusizer::emulated {

// Without this call the first use takes settings_from_environment(). All errors, injected failures and guards are
// forgotten; memory, streams and events that a program still holds stay valid as far as their device exists.
void configure(const Settings& settings);
const Settings& current_settings();

// The `nth` call (1: the next) of a function of any emulated library, such as "cudaMalloc", "cublasLtMatmul" or
// "ncclAllReduce", does nothing but return `status`. "launch" means kernel launches.
// GPUSIZER_EMU_FAIL="cudaMalloc:3:2,launch:10:719" does the same from outside.
void fail_on_call(const std::string& function, int nth, int status);
int calls_of(const std::string& function);  // since configure()

// From now on every call that uses the device returns `status`, a cudaError_t, until clear_errors().
void break_device(int device, int status, const std::string& message);
void clear_errors();
// What broke a device, in words: which kernel, where, why. Empty: nothing did.
std::string fault_message();

// Errors that a function returned and whose meaning nobody asked for, by an error's text or cudaGetLastError():
// "cudaMemcpyAsync returned cudaErrorInvalidValue". Not counted: cudaErrorNotReady and refusals that are answers (a
// library's "not supported").
std::vector<std::string> unasked_errors();
void forget_unasked_errors();

// Nothing may be written to these bytes of device memory (a gap between two buffers of one arena): filled with a
// pattern that is looked at after every task. Every allocation has such guards before and behind it.
void guard(void* at, size_t bytes);
void remove_guards(const void* at, size_t bytes);  // all guards that begin in these bytes

size_t used_bytes(int device);
int live_allocations(int device);

}  // namespace gpusizer::emulated
