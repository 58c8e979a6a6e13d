// SPDX-License-Identifier: Apache-2.0
// The only file that knows MPI. Nothing in it blocks but start and finish.
#include <mpi.h>

#include <cstring>

#include "workloads/backend/communicator/mpi_calls.hpp"

namespace gpusizer {

namespace {

static_assert(sizeof(MPI_Request) <= sizeof(MpiRequest));

constexpr int tag = 7;
MPI_Comm channels[mpi_channel_count];

MPI_Request& request_of(MpiRequest* request) { return *reinterpret_cast<MPI_Request*>(request->bytes); }

int start(int* rank, int* size) {
  int already = 0, provided = 0;
  if (const int error = MPI_Initialized(&already)) return error;
  if (already) return MPI_ERR_OTHER;  // it can be started once in the life of a process
  if (const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided)) return error;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (provided < MPI_THREAD_SERIALIZED) return MPI_ERR_UNSUPPORTED_OPERATION;
  for (MPI_Comm& channel : channels) {
    if (const int error = MPI_Comm_dup(MPI_COMM_WORLD, &channel)) return error;
    MPI_Comm_set_errhandler(channel, MPI_ERRORS_RETURN);
  }
  if (const int error = MPI_Comm_rank(MPI_COMM_WORLD, rank)) return error;
  return MPI_Comm_size(MPI_COMM_WORLD, size);
}

int send(int to, int channel, const void* bytes, size_t count, MpiRequest* request) {
  return MPI_Isend(bytes, static_cast<int>(count), MPI_BYTE, to, tag, channels[channel], &request_of(request));
}

int receive(int from, int channel, void* bytes, size_t count, MpiRequest* request) {
  return MPI_Irecv(bytes, static_cast<int>(count), MPI_BYTE, from == any_rank ? MPI_ANY_SOURCE : from, tag,
                   channels[channel], &request_of(request));
}

int test(MpiRequest* request, int* done, int* from, size_t* count) {
  MPI_Status status;
  status.MPI_SOURCE = any_rank;
  *done = 0;
  if (const int error = MPI_Test(&request_of(request), done, &status)) return error;
  if (!*done) return MPI_SUCCESS;
  int received = 0;
  MPI_Get_count(&status, MPI_BYTE, &received);
  *from = status.MPI_SOURCE;
  *count = received > 0 ? static_cast<size_t>(received) : 0;
  return MPI_SUCCESS;
}

int barrier(MpiRequest* request) { return MPI_Ibarrier(channels[0], &request_of(request)); }

void cancel(MpiRequest* request) {
  MPI_Cancel(&request_of(request));
  MPI_Request_free(&request_of(request));
}

int finish() {
  for (MPI_Comm& channel : channels) MPI_Comm_free(&channel);
  return MPI_Finalize();
}

const char* error_text(int code) {
  static char text[MPI_MAX_ERROR_STRING + 1];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "unknown error";
  text[length] = '\0';
  return text;
}

const char* library() {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "MPI";
  text[length] = '\0';
  return text;
}

}  // namespace

}  // namespace gpusizer

extern "C" const gpusizer::MpiCalls* gpusizer_mpi_calls() {
  using namespace gpusizer;
  static const MpiCalls calls{mpi_calls_version, library(), start,  send,      receive, test,
                              barrier,           cancel,    finish, error_text};
  return &calls;
}
