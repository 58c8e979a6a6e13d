// SPDX-License-Identifier: Apache-2.0
// Each channel between two ranks has a connection of its own, so that the kernel keeps what nobody has asked for yet,
// and bytes go straight into the receiver's buffer.
#include "workloads/backend/communicator/tcp_communicator.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>

#include "workloads/backend/communicator/polled_communicator.hpp"

namespace gpusizer {

namespace {

// A message goes as its length, then its bytes.
constexpr size_t header_bytes = sizeof(uint64_t);

class TcpCommunicator final : public PolledCommunicator {
 public:
  TcpCommunicator(std::vector<PeerConnections> connections, const RendezvousPlace& place, double timeout_seconds)
      : PolledCommunicator(place.rank, place.size, timeout_seconds) {
    for (PeerConnections& one : connections) {
      Peer& peer = peers_.emplace_back();
      for (size_t c = 0; c < channel_count; ++c) peer.lanes[c].socket = std::move(one[c]);
      peer.notices = std::move(one[notice_connection]);
    }
  }
  ~TcpCommunicator() override {
    const std::lock_guard lock(mutex());
    if (!failure()) tell_all(notice_of(Notice::Kind::leaving));
    const double deadline = steady_seconds() + 1;
    for (Peer& peer : peers_)
      if (peer.notices) write_all(peer.notices, std::as_bytes(std::span(peer.unsaid)), deadline);
    for (Peer& peer : peers_) {  // what is unread at the end would take back what was written
      ::shutdown(peer.notices.descriptor(), SHUT_WR);
      hear(peer);
    }
  }
  TcpCommunicator(const TcpCommunicator&) = delete;
  TcpCommunicator& operator=(const TcpCommunicator&) = delete;

  std::string_view kind() const override { return "tcp"; }

  void pause(double most_seconds) override {
    std::vector<pollfd> all;
    {
      const std::lock_guard lock(mutex());
      if (failure()) return;
      all = awaited();
    }
    const timespec most{0, static_cast<long>(std::clamp(most_seconds, 0.0, 0.9) * 1e9)};
    ::ppoll(all.data(), all.size(), &most, nullptr);
  }

 protected:
  void begin(size_t index) override {
    Message& m = message(index);
    Lane& one = lane(m);
    m.length = m.bytes;
    (m.outgoing ? one.sending : one.receiving).push_back(index);
    if (m.outgoing) push(m.peer, one);
  }

  void move(size_t) override {
    std::vector<pollfd> all = awaited();
    if (::poll(all.data(), all.size(), 0) <= 0) return;
    for (size_t p = 0; p < peers_.size(); ++p) hear(peers_[p]);
    for (size_t p = 0; p < peers_.size() && !failure(); ++p)
      for (Lane& one : peers_[p].lanes) {
        push(static_cast<int>(p), one);
        pull(static_cast<int>(p), one);
      }
  }

  bool may_still_come(const Message& m, double) override { return !lane(m).closed; }

  void tell(int to, const Notice& notice) override {
    Peer& peer = peers_[static_cast<size_t>(to)];
    if (!peer.notices || (notice.kind == Notice::Kind::sign && !peer.unsaid.empty())) return;
    peer.unsaid.append(reinterpret_cast<const char*>(&notice), sizeof notice);
    say(peer);
  }

 private:
  struct Lane {
    Socket socket;
    std::deque<size_t> sending, receiving;
    bool closed = false;
  };
  struct Peer {
    std::array<Lane, channel_count> lanes;
    Socket notices;
    std::string unsaid;  // of notices that the kernel has not taken yet
    Notice heard;
    size_t heard_bytes = 0;
  };

  Lane& lane(const Message& m) { return peers_[static_cast<size_t>(m.peer)].lanes[static_cast<size_t>(m.channel)]; }

  std::vector<pollfd> awaited() {
    std::vector<pollfd> all;
    const auto add = [&all](const Socket& socket, bool in, bool out) {
      if (!socket || !(in || out)) return;
      all.push_back({socket.descriptor(), static_cast<short>((in ? POLLIN : 0) | (out ? POLLOUT : 0)), 0});
    };
    for (const Peer& peer : peers_) {
      add(peer.notices, true, !peer.unsaid.empty());
      for (const Lane& one : peer.lanes)
        if (!one.closed) add(one.socket, !one.receiving.empty(), !one.sending.empty());
    }
    return all;
  }

  static bool try_later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

  void push(int to, Lane& one) {
    while (!one.sending.empty() && !one.closed) {
      Message& m = message(one.sending.front());
      const size_t of_header = m.moved < header_bytes ? header_bytes - m.moved : 0;
      const size_t sent = m.moved > header_bytes ? m.moved - header_bytes : 0;
      std::array<iovec, 2> parts{iovec{reinterpret_cast<char*>(&m.length) + (header_bytes - of_header), of_header},
                                 iovec{const_cast<std::byte*>(m.source) + sent, m.bytes - sent}};
      msghdr text{};
      text.msg_iov = parts.data();
      text.msg_iovlen = parts.size();
      const ssize_t n = ::sendmsg(one.socket.descriptor(), &text, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0) {
        if (!try_later()) one.closed = true;  // why is what the connection for notices tells
        return;
      }
      m.moved += static_cast<size_t>(n);
      m.first_asked = 0;
      note_life(to);
      if (m.moved < header_bytes + m.bytes) return;
      finish(one.sending.front());
      one.sending.pop_front();
    }
  }

  void pull(int from, Lane& one) {
    while (!one.receiving.empty() && !one.closed && !failure()) {
      Message& m = message(one.receiving.front());
      const bool header = m.moved < header_bytes;
      std::byte* target =
          header ? reinterpret_cast<std::byte*>(&m.length) + m.moved : m.target + m.moved - header_bytes;
      const size_t wanted = header_bytes + (header ? 0 : m.bytes) - m.moved;
      const ssize_t n = ::recv(one.socket.descriptor(), target, wanted, MSG_DONTWAIT);
      if (n <= 0) {
        if (n == 0 || !try_later()) one.closed = true;
        return;
      }
      m.moved += static_cast<size_t>(n);
      m.first_asked = 0;
      note_life(from);
      if (m.moved < header_bytes) continue;
      if (m.length != m.bytes)
        return fail(CommunicationError(
            from, fmt::format("rank {} sends {} bytes where rank {} expects {}", from, m.length, rank(), m.bytes)));
      if (m.moved < header_bytes + m.bytes) continue;
      finish(one.receiving.front());
      one.receiving.pop_front();
    }
  }

  void say(Peer& peer) {
    while (!peer.unsaid.empty()) {
      const ssize_t n =
          ::send(peer.notices.descriptor(), peer.unsaid.data(), peer.unsaid.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0) {
        if (!try_later()) peer.unsaid.clear();  // nobody is there
        return;
      }
      peer.unsaid.erase(0, static_cast<size_t>(n));
    }
  }

  void hear(Peer& peer) {
    const auto from = static_cast<int>(&peer - peers_.data());
    if (!peer.notices) return;
    say(peer);
    for (;;) {
      std::byte* target = reinterpret_cast<std::byte*>(&peer.heard) + peer.heard_bytes;
      const ssize_t n = ::recv(peer.notices.descriptor(), target, sizeof(Notice) - peer.heard_bytes, MSG_DONTWAIT);
      if (n < 0 && try_later()) return;
      if (n <= 0) {
        peer.notices.close();
        return lost(from, "ended unexpectedly");
      }
      peer.heard_bytes += static_cast<size_t>(n);
      if (peer.heard_bytes < sizeof(Notice)) continue;
      peer.heard_bytes = 0;
      heard(from, peer.heard);
    }
  }

  std::vector<Peer> peers_;
};

}  // namespace

std::unique_ptr<Communicator> open_tcp(const RendezvousPlace& place, double timeout_seconds) {
  return std::make_unique<TcpCommunicator>(meet(place, timeout_seconds), place, timeout_seconds);
}

}  // namespace gpusizer
