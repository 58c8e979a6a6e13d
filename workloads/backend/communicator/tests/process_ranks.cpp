// SPDX-License-Identifier: Apache-2.0
// Forked processes that answer through pipes.
#include "workloads/backend/communicator/tests/process_ranks.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <exception>

#include "workloads/backend/communicator/rank_signs.hpp"
#include "workloads/backend/communicator/socket.hpp"

namespace gpusizer::testing {

namespace {

struct Process {
  int id = 0, pipe = -1;
};

Process start_process(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t id = ::fork();
  if (id != 0) {
    ::close(ends[1]);
    return {id, ends[0]};
  }
  ::close(ends[0]);
  std::string said;
  try {
    said = body();
  } catch (const std::exception& error) {
    said = error.what();
  }
  said += '\n';
  const auto written = ::write(ends[1], said.data(), said.size());
  ::_exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
}

bool is_stopped(const Process& process) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(process.id), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

std::string hear(const Process& process, double deadline) {
  std::string said;
  while (steady_seconds() < deadline) {
    pollfd one{process.pipe, POLLIN, 0};
    if (::poll(&one, 1, 50) <= 0) {
      if (is_stopped(process)) break;
      continue;
    }
    std::array<char, 4096> part{};
    const ssize_t n = ::read(process.pipe, part.data(), part.size());
    if (n <= 0) break;
    said.append(part.data(), static_cast<size_t>(n));
  }
  if (said.empty() || said.back() != '\n') return no_word;
  said.pop_back();
  return said;
}

}  // namespace

std::vector<std::string> run_processes(int size, const std::function<std::string(int rank)>& body,
                                       const std::function<void(const std::vector<int>& ids)>& beside,
                                       double most_seconds) {
  const double deadline = steady_seconds() + most_seconds;
  std::vector<Process> processes;
  std::vector<int> ids;
  for (int r = 0; r < size; ++r) {
    processes.push_back(start_process([&] { return body(r); }));
    ids.push_back(processes.back().id);
  }
  if (beside) beside(ids);
  std::vector<std::string> said;
  for (const Process& one : processes) said.push_back(hear(one, deadline));
  for (const Process& one : processes) {
    ::close(one.pipe);
    ::kill(one.id, SIGKILL);  // its word is the last thing it does; a stopped one has to be ended
    ::waitpid(one.id, nullptr, 0);
  }
  return said;
}

int free_port() {
  Address any{.bytes = {}, .length = sizeof(sockaddr_in)};
  any.bytes.ss_family = AF_INET;
  reinterpret_cast<sockaddr_in&>(any.bytes).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return port_of(own_address(listen_at(any)));
}

}  // namespace gpusizer::testing
