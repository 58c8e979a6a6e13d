// SPDX-License-Identifier: Apache-2.0
// Processes that run the same cases together agree on what happened to each of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/runner/prepared_case.hpp"
#include "workloads/backend/communicator/communicator.hpp"

namespace gpusizer {

// A rank whose process does not run any more, as far as this machine can tell.
struct MissingRank {
  int rank = 0;
  std::string how;  // "rank 2 has ended (process 1234)"
};

// One process alone agrees with itself. Every function is called by all processes in the same order, and throws
// CommunicationError when one of them is lost.
class Lockstep {
 public:
  // nullptr: this process is alone. The communicator must outlive this.
  explicit Lockstep(Communicator* processes = nullptr);

  Communicator* processes() const { return processes_; }
  bool leads() const { return !processes_ || processes_->rank() == 0; }
  // Which ranks of a case are here.
  const LocalRanks& local() const { return local_; }

  // Does the work; when it threw on any process, throws on all of them: the own error, else the first other one's with
  // its rank.
  void together(const std::function<void()>& work) const;
  // The signal that a process got, the first one's in the order of ranks; 0: none.
  int any_signal(int own) const;
  // What rank 0 says.
  std::string of_leader(const std::string& own) const;
  // Throws Error(usage) where a text that says how a run was started is not the same everywhere.
  void require_same(const std::string& text) const;

  // Processor time that the other processes of this run on this machine have taken so far; nothing once one has ended.
  std::optional<double> neighbours_cpu_seconds() const;

  // The first rank on this machine whose process has ended or was stopped. Asks nobody.
  std::optional<MissingRank> missing() const;

 private:
  struct Neighbour {
    int rank = 0;
    std::int64_t process = 0;
  };

  Communicator* processes_;
  LocalRanks local_;
  std::vector<Neighbour> neighbours_;  // other ranks on this machine
};

}  // namespace gpusizer
