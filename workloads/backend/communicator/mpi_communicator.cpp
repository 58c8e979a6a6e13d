// SPDX-License-Identifier: Apache-2.0
// Messages over MPI, tested until they are finished.
#include "workloads/backend/communicator/mpi_communicator.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <list>
#include <thread>

#include "workloads/backend/communicator/polled_communicator.hpp"

namespace gpusizer {

namespace {

constexpr int notice_channel = channel_count;
static_assert(notice_channel < mpi_channel_count);
constexpr double seconds_for_an_end = 0.02;  // until the notice of an end has left
constexpr double seconds_behind_rank_0 = 3;  // after a failure
constexpr size_t most_unsent_signs = 1000;

void sleep_seconds(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

class MpiCommunicator final : public PolledCommunicator {
 public:
  MpiCommunicator(const MpiCalls& calls, int rank, int size, double timeout_seconds)
      : PolledCommunicator(rank, size, timeout_seconds), calls_(calls) {
    const std::lock_guard lock(mutex());
    await_notice();
  }
  ~MpiCommunicator() override {
    const std::lock_guard lock(mutex());
    if (!failure() && all_come_to_the_end()) {
      calls_.cancel(&notice_request_);
      calls_.finish();
    } else if (rank() != 0 && (!failure() || failure()->rank() != 0)) {
      sleep_seconds(std::min(timeout_seconds(), seconds_behind_rank_0));
    }
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  std::string_view kind() const override { return "mpi"; }

  // MPI says nothing by itself: short naps at first, longer ones while nothing comes.
  void pause(double most_seconds) override {
    const int naps = naps_.fetch_add(1);
    sleep_seconds(std::min(most_seconds, 2e-5 * (1 << std::clamp(naps, 0, 4))));
  }

 protected:
  void begin(size_t index) override {
    const Message& m = message(index);
    if (parts_.size() <= index) parts_.resize(index + 1);
    Parts& parts = parts_[index];
    parts.requests.clear();
    parts.done = 0;
    size_t first = 0;
    do {  // a message without bytes is a message
      const size_t count = std::min(mpi_most_bytes, m.bytes - first);
      MpiRequest& request = parts.requests.emplace_back();
      const auto channel = static_cast<int>(m.channel);
      const int error = m.outgoing ? calls_.send(m.peer, channel, m.source + first, count, &request)
                                   : calls_.receive(m.peer, channel, m.target + first, count, &request);
      if (error) return fail_with(m.peer, error);
      first += count;
    } while (first < m.bytes);
  }

  void move(size_t asked) override {
    hear();
    Parts& parts = parts_[asked];
    const Message& m = message(asked);
    while (parts.done < parts.requests.size() && !failure()) {
      int done = 0, from = 0;
      size_t count = 0;
      if (const int error = calls_.test(&parts.requests[parts.done], &done, &from, &count))
        return fail_with(m.peer, error);
      if (!done) return;
      const size_t expected = std::min(mpi_most_bytes, m.bytes - parts.done * mpi_most_bytes);
      if (!m.outgoing && count != expected)
        return fail(CommunicationError(
            m.peer, fmt::format("rank {} sends {} bytes where rank {} expects {}", m.peer, count, rank(), expected)));
      ++parts.done;
    }
    if (failure()) return;
    naps_ = 0;
    finish(asked);
  }

  bool may_still_come(const Message&, double left_seconds) override { return left_seconds < 1; }

  void tell(int peer, const Notice& notice) override {
    forget_sent();
    if (notice.kind == Notice::Kind::sign && unsent_.size() > most_unsent_signs) return;
    Unsent& one = unsent_.emplace_back();
    one.notice = notice;
    if (calls_.send(peer, notice_channel, &one.notice, sizeof(Notice), &one.request) != 0) {
      unsent_.pop_back();  // nobody is there
      return;
    }
    if (notice.kind != Notice::Kind::abort) return;
    for (const double end = steady_seconds() + seconds_for_an_end; steady_seconds() < end; sleep_seconds(1e-4)) {
      int done = 0, from = 0;
      size_t count = 0;
      if (calls_.test(&one.request, &done, &from, &count) != 0 || done) return unsent_.pop_back();
    }
  }

 private:
  struct Parts {
    std::vector<MpiRequest> requests;
    size_t done = 0;
  };
  struct Unsent {
    Notice notice;
    MpiRequest request;
  };

  void fail_with(int peer, int error) {
    fail(CommunicationError(
        peer, fmt::format("a message between rank {} and rank {} failed: {}", rank(), peer, calls_.error_text(error))));
  }

  void await_notice() {
    if (const int error = calls_.receive(any_rank, notice_channel, &notice_, sizeof notice_, &notice_request_))
      fail_with(rank(), error);
  }

  void hear() {
    while (!failure()) {
      int done = 0, from = 0;
      size_t count = 0;
      if (const int error = calls_.test(&notice_request_, &done, &from, &count)) return fail_with(rank(), error);
      if (!done) return;
      const Notice one = notice_;
      await_notice();  // first: hearing of an end ends all calls
      if (from >= 0 && from < size() && count == sizeof one) heard(from, one);
    }
  }

  void forget_sent() {
    std::erase_if(unsent_, [this](Unsent& one) {
      int done = 0, from = 0;
      size_t count = 0;
      return calls_.test(&one.request, &done, &from, &count) != 0 || done;
    });
  }

  // MPI_Finalize waits for ever for a rank that does not come.
  bool all_come_to_the_end() {
    tell_all(notice_of(Notice::Kind::leaving));
    MpiRequest request{};
    if (calls_.barrier(&request) != 0) return false;
    for (const double end = steady_seconds() + timeout_seconds(); steady_seconds() < end; sleep_seconds(2e-4)) {
      hear();
      if (failure()) return false;
      int done = 0, from = 0;
      size_t count = 0;
      if (calls_.test(&request, &done, &from, &count) != 0) return false;
      if (done) return true;
    }
    return false;
  }

  const MpiCalls& calls_;
  std::deque<Parts> parts_;  // by message
  std::list<Unsent> unsent_;
  Notice notice_;
  MpiRequest notice_request_{};
  std::atomic<int> naps_ = 0;
};

std::string beside_the_program(const char* name) {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  std::string program(path.data(), length > 0 ? static_cast<size_t>(length) : 0);
  return program.substr(0, program.rfind('/') + 1) + name;
}

}  // namespace

const MpiCalls& open_mpi_module(const std::string& file) {
  const std::string path = file.empty() ? beside_the_program("libgpusizer_mpi.so") : file;
  const auto refuse = [&path](const std::string& why) {
    throw Error(Fault::environment, fmt::format("the MPI module cannot be opened: {}", why), path,
                "build gpusizer where Open MPI's development files are installed, name the module in "
                "GPUSIZER_MPI_MODULE, or join the ranks with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
  };
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);  // Open MPI's own parts look for its symbols
  if (!module) refuse(::access(path.c_str(), F_OK) == 0 ? ::dlerror() : "there is no such file");
  const auto calls_of = reinterpret_cast<const MpiCalls* (*)()>(::dlsym(module, mpi_calls_symbol));
  if (!calls_of) refuse("it is something else");
  const MpiCalls* calls = calls_of();
  if (calls->version != mpi_calls_version) refuse("it belongs to another version of gpusizer");
  return *calls;
}

std::unique_ptr<Communicator> open_mpi(const MpiCalls& calls, const std::string& launcher, int rank, int size,
                                       double timeout_seconds) {
  int mpi_rank = -1, mpi_size = 0;
  if (const int error = calls.start(&mpi_rank, &mpi_size))
    throw Error(Fault::environment, fmt::format("MPI does not start: {}", calls.error_text(error)), calls.library);
  if (mpi_rank != rank || mpi_size != size)
    throw Error(
        Fault::environment,
        fmt::format("{} started rank {} of {}, and MPI sees rank {} of {}", launcher, rank, size, mpi_rank, mpi_size),
        calls.library, "use the mpirun of that library, or RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
  return std::make_unique<MpiCommunicator>(calls, rank, size, timeout_seconds);
}

}  // namespace gpusizer
