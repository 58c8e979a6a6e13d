// SPDX-License-Identifier: Apache-2.0
// Thin wrappers of the socket calls.
#include "workloads/backend/communicator/socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "gpusizer/error.hpp"
#include "workloads/backend/communicator/rank_signs.hpp"

namespace gpusizer {

namespace {

// False when the deadline passed first.
bool wait_for(int descriptor, short events, double deadline) {
  for (;;) {
    const double left = deadline - steady_seconds();
    pollfd one{descriptor, events, 0};
    const int ready = ::poll(&one, 1, left > 0 ? static_cast<int>(std::min(left, 60.0) * 1000) + 1 : 0);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (steady_seconds() >= deadline) {
      errno = ETIMEDOUT;
      return false;
    }
  }
}

void send_at_once(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// `step` moves some bytes and returns as read() does.
template <typename Step>
bool move_all(const Socket& socket, size_t count, short events, double deadline, Step step) {
  for (size_t moved = 0; moved < count;) {
    const ssize_t n = step(moved);
    if (n > 0) {
      moved += static_cast<size_t>(n);
    } else if (n == 0) {
      errno = 0;
      return false;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(socket.descriptor(), events, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

void Socket::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

std::string to_string(const Address& address) {
  char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&address.bytes), address.length, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
  return address.bytes.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

bool is_loopback(const Address& address) {
  if (address.bytes.ss_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in&>(address.bytes).sin_addr.s_addr) >> 24u == 127;
  const in6_addr& six = reinterpret_cast<const sockaddr_in6&>(address.bytes).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
}

int port_of(const Address& address) {
  return ntohs(address.bytes.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(address.bytes).sin_port
                                                  : reinterpret_cast<const sockaddr_in6&>(address.bytes).sin6_port);
}

Address with_port(Address address, int port) {
  const in_port_t value = htons(static_cast<uint16_t>(port));
  if (address.bytes.ss_family == AF_INET)
    reinterpret_cast<sockaddr_in&>(address.bytes).sin_port = value;
  else
    reinterpret_cast<sockaddr_in6&>(address.bytes).sin6_port = value;
  return address;
}

Address own_address(const Socket& socket) {
  Address a{.bytes = {}, .length = sizeof(sockaddr_storage)};
  ::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&a.bytes), &a.length);
  return a;
}

Address peer_address(const Socket& socket) {
  Address a{.bytes = {}, .length = sizeof(sockaddr_storage)};
  ::getpeername(socket.descriptor(), reinterpret_cast<sockaddr*>(&a.bytes), &a.length);
  return a;
}

std::vector<Address> resolve(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0)
    throw Error(Fault::environment, fmt::format("the host '{}' was not found: {}", host, ::gai_strerror(error)));
  std::vector<Address> addresses;
  for (const addrinfo* one = found; one; one = one->ai_next) {
    Address& a = addresses.emplace_back();
    std::memcpy(&a.bytes, one->ai_addr, one->ai_addrlen);
    a.length = one->ai_addrlen;
  }
  ::freeaddrinfo(found);
  return addresses;
}

Socket listen_at(const Address& address) {
  Socket socket(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (!socket) return socket;
  ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.descriptor(), reinterpret_cast<const sockaddr*>(&address.bytes), address.length) != 0 ||
      ::listen(socket.descriptor(), SOMAXCONN) != 0) {
    const int why = errno;
    socket.close();
    errno = why;
  }
  return socket;
}

Socket accept_one(const Socket& listener) {
  Socket socket(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket) send_at_once(socket.descriptor());
  return socket;
}

Socket connect_once(const Address& address, double deadline) {
  Socket socket(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return socket;
  int error = 0;
  if (::connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&address.bytes), address.length) != 0) {
    error = errno;
    socklen_t length = sizeof error;
    if (error == EINPROGRESS) {
      if (wait_for(socket.descriptor(), POLLOUT, deadline))
        ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &length);
      else
        error = ETIMEDOUT;
    }
  }
  // Where nobody listens on a port of the system's own choice, a socket may be connected to itself.
  if (error == 0 && to_string(own_address(socket)) == to_string(peer_address(socket))) error = ECONNREFUSED;
  if (error == 0) {
    send_at_once(socket.descriptor());
    return socket;
  }
  socket.close();
  errno = error;
  return socket;
}

bool write_all(const Socket& socket, std::span<const std::byte> bytes, double deadline) {
  return move_all(socket, bytes.size(), POLLOUT, deadline, [&](size_t moved) {
    return ::send(socket.descriptor(), bytes.data() + moved, bytes.size() - moved, MSG_NOSIGNAL);
  });
}

bool read_all(const Socket& socket, std::span<std::byte> bytes, double deadline) {
  return move_all(socket, bytes.size(), POLLIN, deadline, [&](size_t moved) {
    return ::recv(socket.descriptor(), bytes.data() + moved, bytes.size() - moved, 0);
  });
}

void wait_readable(std::span<const int> descriptors, double deadline) {
  std::vector<pollfd> all;
  for (const int one : descriptors) all.push_back({one, POLLIN, 0});
  const double left = deadline - steady_seconds();
  ::poll(all.data(), all.size(), left > 0 ? static_cast<int>(std::min(left, 60.0) * 1000) + 1 : 0);
}

}  // namespace gpusizer
