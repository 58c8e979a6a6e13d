// SPDX-License-Identifier: Apache-2.0
// Everybody greets rank 0 and learns where the others listen; then each rank connects to all lower ones.
#include "workloads/backend/communicator/rendezvous.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <random>
#include <thread>

#include "workloads/backend/communicator/greeting.hpp"
#include "workloads/backend/communicator/rank_signs.hpp"

namespace gpusizer {

namespace {

constexpr double seconds_to_greet = 5;  // for somebody who has connected

[[noreturn]] void refuse(const std::string& what, const std::string& hint = "") {
  throw Error(Fault::environment, what, "", hint);
}

template <typename T>
std::span<const std::byte> seen(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <typename T>
std::span<std::byte> filled(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

std::string seconds_text(double seconds) { return fmt::format("{:.3g} s", seconds); }

class Meeting {
 public:
  Meeting(const RendezvousPlace& place, double timeout_seconds)
      : place_(place),
        timeout_(timeout_seconds),
        deadline_(steady_seconds() + timeout_seconds),
        where_(fmt::format("{}:{}", place.address, place.port)),
        peers_(static_cast<size_t>(place.size)),
        listeners_(static_cast<size_t>(place.size)) {}

  std::vector<PeerConnections> run() {
    if (place_.rank == 0)
      gather();
    else
      ask();
    connect_to_lower_ranks();
    accept_higher_ranks();
    return std::move(peers_);
  }

 private:
  struct Guest {  // has connected, and has not finished greeting
    Socket socket;
    Hello hello{};
    size_t read = 0;
    double deadline = 0;
  };

  Socket& notices(int rank) { return peers_[static_cast<size_t>(rank)][notice_connection]; }

  Hello own_hello(int connection) const {
    Hello hello;
    hello.rank = place_.rank;
    hello.size = place_.size;
    hello.connection = connection;
    hello.token = token_;
    hello.set_run(place_.run);
    return hello;
  }

  // Rank 0's own address, if it is one of this machine; else, behind a translated address, all of this machine.
  void listen_for_everybody() {
    for (const Address& address : resolve(place_.address, place_.port)) {
      listener_ = listen_at(address);
      if (!listener_ && errno == EADDRNOTAVAIL) {
        Address any{.bytes = {}, .length = address.length};
        any.bytes.ss_family = address.bytes.ss_family;
        listener_ = listen_at(with_port(any, place_.port));
      }
      if (listener_) return;
    }
    if (errno == EADDRINUSE)
      refuse(fmt::format("rank 0 cannot listen at {}: the port is in use", where_),
             "is another run using it? choose another MASTER_PORT");
    refuse(fmt::format("rank 0 cannot listen at {}: {}", where_, std::strerror(errno)));
  }

  // Rank 0: until all have greeted.
  void gather() {
    listen_for_everybody();
    std::random_device random;
    token_ = (uint64_t{random()} << 32u | random()) | 1u;
    std::string trouble;
    std::vector<int> missing = ranks_without_notices();
    while (!missing.empty() && trouble.empty() && steady_seconds() < deadline_) {
      next_guests([&](Guest& guest) {
        if (guest.hello.token == 0) trouble = take_rank(guest);
      });
      missing = ranks_without_notices();
    }
    if (trouble.empty() && !missing.empty())
      trouble = fmt::format("rank{} {} of {} did not come to {} within {}", missing.size() > 1 ? "s" : "",
                            fmt::join(missing, ", "), place_.size, where_, seconds_text(timeout_));
    for (int r = 1; r < place_.size; ++r)
      if (notices(r)) answer(notices(r), trouble);
    if (!trouble.empty()) refuse(trouble);
  }

  std::vector<int> ranks_without_notices() {
    std::vector<int> missing;
    for (int r = 1; r < place_.size; ++r)
      if (!notices(r)) missing.push_back(r);
    return missing;
  }

  // Returns why the rendezvous cannot go on.
  std::string take_rank(Guest& guest) {
    const Hello& hello = guest.hello;
    std::string trouble;
    if (hello.run_name() != own_hello(0).run_name()) {
      answer(guest.socket, fmt::format("another run is using {}; choose another MASTER_PORT", where_));
      return "";
    }
    if (hello.size != place_.size)
      trouble = fmt::format("rank {} was told that there are {} ranks, and rank 0 that there are {}; check WORLD_SIZE",
                            hello.rank, hello.size, place_.size);
    else if (hello.rank < 1 || hello.rank >= place_.size)
      trouble = fmt::format("somebody says that it is rank {} of {}; check RANK", hello.rank, place_.size);
    else if (notices(hello.rank))
      trouble = fmt::format(
          "two processes say that they are rank {}; check RANK, or choose another MASTER_PORT if two "
          "runs use {}",
          hello.rank, where_);
    if (!trouble.empty()) {
      answer(guest.socket, trouble);
      return trouble;
    }
    const Address from = peer_address(guest.socket);
    listeners_[static_cast<size_t>(hello.rank)] = {with_port(from, hello.port), is_loopback(from) ? 1U : 0U};
    notices(hello.rank) = std::move(guest.socket);
    return "";
  }

  void answer(const Socket& to, const std::string& trouble) {
    const auto places = std::as_bytes(std::span(listeners_));
    const auto text = std::as_bytes(std::span(trouble));
    Answer reply;
    reply.accepted = trouble.empty() ? 1 : 0;
    reply.token = token_;
    reply.bytes = trouble.empty() ? places.size() : text.size();
    const double soon = steady_seconds() + seconds_to_greet;
    if (write_all(to, seen(reply), soon)) write_all(to, trouble.empty() ? places : text, soon);
  }

  // Other ranks: greet rank 0 and hear where everybody listens.
  void ask() {
    Socket to_rank_0 = connect_patiently();
    master_ = peer_address(to_rank_0);
    listener_ = listen_at(with_port(own_address(to_rank_0), 0));
    if (!listener_) refuse(fmt::format("rank {} cannot listen: {}", place_.rank, std::strerror(errno)));
    Hello hello = own_hello(notice_connection);
    hello.port = port_of(own_address(listener_));
    Answer reply;
    if (!write_all(to_rank_0, seen(hello), deadline_) || !read_all(to_rank_0, filled(reply), deadline_))
      refuse(fmt::format("rank 0 at {} did not answer rank {}: {}", where_, place_.rank,
                         errno == 0 ? "it closed the connection" : std::strerror(errno)));
    if (reply.magic != greeting_magic || reply.version != greeting_version || reply.bytes > (1U << 24U))
      refuse(fmt::format("what listens at {} is not this version of gpusizer", where_), "choose another MASTER_PORT");
    read_answer(to_rank_0, reply);
    token_ = reply.token;
    notices(0) = std::move(to_rank_0);
  }

  void read_answer(const Socket& from, const Answer& reply) {
    std::string bytes(reply.bytes, '\0');
    if (!read_all(from, std::as_writable_bytes(std::span(bytes)), deadline_))
      refuse(fmt::format("rank 0 at {} stopped in its answer", where_));
    if (reply.accepted == 0) refuse(bytes);
    if (bytes.size() != listeners_.size() * sizeof(RankAddress)) refuse(fmt::format("{} answers nonsense", where_));
    std::memcpy(listeners_.data(), bytes.data(), bytes.size());
  }

  // Rank 0 may start later than the others.
  Socket connect_patiently() {
    const std::vector<Address> addresses = resolve(place_.address, place_.port);
    int why = 0;
    for (;;) {
      for (const Address& address : addresses) {
        if (Socket socket = connect_once(address, deadline_)) return socket;
        why = errno;
      }
      if (steady_seconds() > deadline_)
        refuse(fmt::format("rank {} could not reach rank 0 at {} within {}: {}", place_.rank, where_,
                           seconds_text(timeout_), std::strerror(why)),
               "check MASTER_ADDR and MASTER_PORT");
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
  }

  void connect_to_lower_ranks() {
    for (int peer = 0; peer < place_.rank; ++peer)
      for (int c = 0; c < connection_count; ++c) {
        Socket& socket = peers_[static_cast<size_t>(peer)][static_cast<size_t>(c)];
        if (socket) continue;
        const RankAddress& there = listeners_[static_cast<size_t>(peer)];
        Address address = master_;
        if (peer > 0) address = there.beside_rank_0 ? with_port(master_, port_of(there.address)) : there.address;
        socket = connect_once(address, deadline_);
        if (!socket || !write_all(socket, seen(own_hello(c)), deadline_))
          refuse(fmt::format("rank {} could not reach rank {} at {}: {}", place_.rank, peer, to_string(address),
                             std::strerror(errno)));
      }
  }

  void accept_higher_ranks() {
    for (;;) {
      int missing = -1;
      for (int peer = place_.rank + 1; peer < place_.size; ++peer)
        for (const Socket& socket : peers_[static_cast<size_t>(peer)])
          if (!socket) missing = peer;
      if (missing < 0) return;
      if (steady_seconds() > deadline_)
        refuse(
            fmt::format("rank {} did not connect to rank {} within {}", missing, place_.rank, seconds_text(timeout_)));
      next_guests([&](Guest& guest) {
        const Hello& h = guest.hello;
        if (h.token != token_ || h.rank <= place_.rank || h.rank >= place_.size || h.connection < 0 ||
            h.connection >= connection_count)
          return;
        Socket& place = peers_[static_cast<size_t>(h.rank)][static_cast<size_t>(h.connection)];
        if (!place) place = std::move(guest.socket);
      });
    }
  }

  // Waits a moment for connections and greetings; hands each guest that has finished greeting to `welcome`.
  template <typename Welcome>
  void next_guests(Welcome welcome) {
    std::vector<int> descriptors{listener_.descriptor()};
    for (const Guest& guest : guests_) descriptors.push_back(guest.socket.descriptor());
    wait_readable(descriptors, std::min(deadline_, steady_seconds() + 0.1));
    while (Socket socket = accept_one(listener_))
      guests_.push_back({.socket = std::move(socket), .deadline = steady_seconds() + seconds_to_greet});
    for (auto guest = guests_.begin(); guest != guests_.end();) {
      const bool gone = !listen_to(*guest) || steady_seconds() > guest->deadline;
      const bool greeted = guest->read == sizeof(Hello);
      if (greeted && guest->hello.is_ours()) welcome(*guest);
      guest = gone || greeted ? guests_.erase(guest) : std::next(guest);
    }
  }

  // Reads more of a greeting; false when no more will come.
  static bool listen_to(Guest& guest) {
    while (guest.read < sizeof(Hello)) {
      const auto rest = filled(guest.hello).subspan(guest.read);
      const ssize_t n = ::recv(guest.socket.descriptor(), rest.data(), rest.size(), 0);
      if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
      if (n == 0) return false;
      guest.read += static_cast<size_t>(n);
    }
    return true;
  }

  const RendezvousPlace& place_;
  const double timeout_, deadline_;
  const std::string where_;
  std::vector<PeerConnections> peers_;
  std::vector<RankAddress> listeners_;
  std::list<Guest> guests_;
  Socket listener_;
  Address master_;
  uint64_t token_ = 0;
};

}  // namespace

std::vector<PeerConnections> meet(const RendezvousPlace& place, double timeout_seconds) {
  if (place.size < 1 || place.rank < 0 || place.rank >= place.size)
    refuse(fmt::format("there is no rank {} among {}", place.rank, place.size));
  if (place.port < 1 || place.port > 65535) refuse(fmt::format("{} is not a port", place.port), "check MASTER_PORT");
  return Meeting(place, timeout_seconds).run();
}

}  // namespace gpusizer
