// SPDX-License-Identifier: Apache-2.0
// What the ranks of an exchange compute once all have arrived: sums in the order of ranks, rounded once.
#include <algorithm>
#include <cstring>

#include "workloads/backend/cuda/emulated/nccl/world.hpp"
#include "workloads/backend/cuda/emulated/numbers/element.hpp"

namespace gpusizer::emulated {
namespace {

Element element_of_nccl(ncclDataType_t type) {
  switch (type) {
    case ncclFloat32:
      return Element::f32;
    case ncclFloat64:
      return Element::f64;
    case ncclFloat16:
      return Element::f16;
    case ncclBfloat16:
      return Element::bf16;
    case ncclInt64:
    case ncclUint64:
      return Element::i64;
    case ncclInt32:
    case ncclUint32:
      return Element::i32;
    case ncclInt8:
      return Element::i8;
    case ncclUint8:
      return Element::u8;
    default:
      return Element::unknown;
  }
}

template <class T>
T combine(ncclRedOp_t operation, T a, T b) {
  switch (operation) {
    case ncclProd:
      return static_cast<T>(a * b);
    case ncclMax:
      return std::max(a, b);
    case ncclMin:
      return std::min(a, b);
    default:
      return static_cast<T>(a + b);
  }
}

// `offset`: of the elements that are reduced, in each rank's send buffer.
template <class T, class Read>
std::vector<T> reduced(const Meeting& meeting, size_t offset, size_t count, const Read& read) {
  const ncclRedOp_t operation = meeting.calls[0].operation;
  std::vector<T> result(count);
  for (size_t i = 0; i < count; ++i) {
    T value = read(meeting.calls[0].from, offset + i);
    for (size_t rank = 1; rank < meeting.calls.size(); ++rank)
      value = combine(operation, value, read(meeting.calls[rank].from, offset + i));
    result[i] = operation == ncclAvg ? static_cast<T>(value / static_cast<T>(meeting.calls.size())) : value;
  }
  return result;
}

// Whole numbers and doubles as themselves, everything else in float.
std::vector<char> reduce_bytes(const Meeting& meeting, size_t offset, size_t count) {
  const Element type = element_of_nccl(meeting.calls[0].type);
  std::vector<char> bytes(count * element_bytes(type));
  const auto keep = [&]<class T>(const std::vector<T>& values) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  };
  const auto direct = [&]<class T>(T) {
    keep(reduced<T>(meeting, offset, count, [](const void* from, size_t i) { return static_cast<const T*>(from)[i]; }));
  };
  switch (type) {
    case Element::f64:
      direct(double{});
      break;
    case Element::i64:
      direct(int64_t{});
      break;
    case Element::i32:
      direct(int32_t{});
      break;
    case Element::i8:
      direct(int8_t{});
      break;
    case Element::u8:
      direct(uint8_t{});
      break;
    default: {
      const auto read = [&](const void* from, size_t i) { return read_element(type, from, static_cast<int64_t>(i)); };
      const std::vector<float> values = reduced<float>(meeting, offset, count, read);
      for (size_t i = 0; i < count; ++i) write_element(type, bytes.data(), static_cast<int64_t>(i), values[i]);
    }
  }
  return bytes;
}

void put_bytes(void* to, const std::vector<char>& bytes) { std::memcpy(to, bytes.data(), bytes.size()); }

// Everything is read before anything is written, since buffers may be the same.
void reduce_to(const Meeting& meeting, bool everybody) {
  const auto& calls = meeting.calls;
  const std::vector<char> bytes = reduce_bytes(meeting, 0, calls[0].count);
  for (size_t rank = 0; rank < calls.size(); ++rank)
    if (everybody || static_cast<int>(rank) == calls[0].peer) put_bytes(calls[rank].to, bytes);
}

void broadcast(const Meeting& meeting) {
  const auto& calls = meeting.calls;
  const auto* root = static_cast<const char*>(calls[static_cast<size_t>(calls[0].peer)].from);
  const std::vector<char> bytes(root, root + calls[0].count * bytes_of(calls[0].type));
  for (const ExchangeCall& call : calls) put_bytes(call.to, bytes);
}

void all_gather(const Meeting& meeting) {
  const size_t bytes = meeting.calls[0].count * bytes_of(meeting.calls[0].type);
  std::vector<char> all;
  for (const ExchangeCall& call : meeting.calls)
    all.insert(all.end(), static_cast<const char*>(call.from), static_cast<const char*>(call.from) + bytes);
  for (const ExchangeCall& call : meeting.calls) put_bytes(call.to, all);
}

void reduce_scatter(const Meeting& meeting) {
  const size_t count = meeting.calls[0].count;
  std::vector<std::vector<char>> shares;
  for (size_t rank = 0; rank < meeting.calls.size(); ++rank)
    shares.push_back(reduce_bytes(meeting, rank * count, count));
  for (size_t rank = 0; rank < meeting.calls.size(); ++rank) put_bytes(meeting.calls[rank].to, shares[rank]);
}

}  // namespace

const char* name_of(Exchange kind) {
  static constexpr const char* names[] = {"ncclAllReduce",     "ncclReduce", "ncclBroadcast", "ncclAllGather",
                                          "ncclReduceScatter", "ncclSend",   "ncclRecv"};
  return names[static_cast<size_t>(kind)];
}

size_t bytes_of(ncclDataType_t type) { return element_bytes(element_of_nccl(type)); }

size_t elements_read(const ExchangeCall& call, int ranks) {
  if (call.kind == Exchange::receive) return 0;
  return call.kind == Exchange::reduce_scatter ? call.count * static_cast<size_t>(ranks) : call.count;
}

size_t elements_written(const ExchangeCall& call, int ranks) {
  if (call.kind == Exchange::send) return 0;
  return call.kind == Exchange::all_gather ? call.count * static_cast<size_t>(ranks) : call.count;
}

std::string disagreement(const Meeting& meeting, Exchange kind) {
  const ExchangeCall& first = meeting.calls[0];
  const bool message = kind == Exchange::send || kind == Exchange::receive;
  for (size_t i = 1; i < meeting.calls.size(); ++i) {
    const ExchangeCall& other = meeting.calls[i];
    const bool same = first.count == other.count && bytes_of(first.type) == bytes_of(other.type) &&
                      (message || (first.kind == other.kind && first.type == other.type &&
                                   first.operation == other.operation && first.peer == other.peer));
    if (!same)
      return std::string("ranks disagree: ") + name_of(first.kind) + " of " + std::to_string(first.count) +
             " elements meets " + name_of(other.kind) + " of " + std::to_string(other.count);
  }
  return "";
}

void exchange(const Meeting& meeting, Exchange kind) {
  switch (kind) {
    case Exchange::all_reduce:
      return reduce_to(meeting, true);
    case Exchange::reduce:
      return reduce_to(meeting, false);
    case Exchange::broadcast:
      return broadcast(meeting);
    case Exchange::all_gather:
      return all_gather(meeting);
    case Exchange::reduce_scatter:
      return reduce_scatter(meeting);
    case Exchange::send:
    case Exchange::receive:
      std::memmove(meeting.calls[1].to, meeting.calls[0].from,
                   meeting.calls[0].count * bytes_of(meeting.calls[0].type));
  }
}

}  // namespace gpusizer::emulated
