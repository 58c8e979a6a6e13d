// SPDX-License-Identifier: Apache-2.0
// Sockets of TCP with a deadline for everything that waits.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpusizer {

// Owns a file descriptor; no program started later inherits it.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  void close();

 private:
  int descriptor_ = -1;
};

struct Address {
  sockaddr_storage bytes{};
  socklen_t length = 0;
};

std::string to_string(const Address& address);  // "127.0.0.1:29500"
bool is_loopback(const Address& address);
int port_of(const Address& address);
Address with_port(Address address, int port);
Address own_address(const Socket& socket);
Address peer_address(const Socket& socket);

// The addresses of a host's name. Throws Error(environment) where there is none.
std::vector<Address> resolve(const std::string& host, int port);

// A listening socket; an empty one, with errno set, where the address cannot be had. Port 0: any that is free.
Socket listen_at(const Address& address);

// All of the following do not block. Deadlines are steady_seconds().

// The next connection; empty when there is none.
Socket accept_one(const Socket& listener);
// One attempt; empty, with errno set, where nobody answers before the deadline.
Socket connect_once(const Address& address, double deadline);
// Moves all the bytes; false, with errno set (0: the other side closed), when that failed or took too long.
bool write_all(const Socket& socket, std::span<const std::byte> bytes, double deadline);
bool read_all(const Socket& socket, std::span<std::byte> bytes, double deadline);
// Until one of the descriptors can be read, or the deadline.
void wait_readable(std::span<const int> descriptors, double deadline);

}  // namespace gpusizer
