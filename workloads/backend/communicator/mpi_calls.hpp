// SPDX-License-Identifier: Apache-2.0
// What the MPI module, a library that is opened only under a launcher, offers to the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpusizer {

// A message under way; what is in it is the module's.
struct MpiRequest {
  alignas(8) unsigned char bytes[16];
};

// None of these throws. Those that return int return 0, or a code that error_text() explains. They may be called from
// any thread, one at a time.
struct MpiCalls {
  uint32_t version;     // mpi_calls_version of the program and of the module must be the same
  const char* library;  // "Open MPI v4.1.4, ..."
  // Starts MPI and names this rank. May end the process if MPI cannot start at all.
  int (*start)(int* rank, int* size);
  // A message on one of mpi_channel_count channels, each with an order of its own; at most 2^30 bytes. `from` may be any_rank.
  int (*send)(int to, int channel, const void* bytes, size_t count, MpiRequest* request);
  int (*receive)(int from, int channel, void* bytes, size_t count, MpiRequest* request);
  // `done`: 0 or 1; then the request is void, and a receiver's `from` and `count` are what came.
  int (*test)(MpiRequest* request, int* done, int* from, size_t* count);
  int (*barrier)(MpiRequest* request);  // to be tested as a message
  void (*cancel)(MpiRequest* request);  // a message that was never received
  int (*finish)();                      // blocks until all ranks call it
  const char* (*error_text)(int code);
};

inline constexpr uint32_t mpi_calls_version = 2;
inline constexpr int any_rank = -1;
inline constexpr int mpi_channel_count = 5;
inline constexpr size_t mpi_most_bytes = size_t{1} << 30U;
// The name of the module's only symbol, a function without arguments that returns a `const MpiCalls*`.
inline constexpr const char* mpi_calls_symbol = "gpusizer_mpi_calls";

}  // namespace gpusizer
