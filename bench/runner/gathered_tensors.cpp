// SPDX-License-Identifier: Apache-2.0
// Rank 0 names a tensor, everybody knows who has what of it, and the values come or go.
#include "bench/runner/gathered_tensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <sstream>

namespace gpusizer {
namespace {

using Pieces = std::map<std::string, Part>;  // by name; what is whole is its own only piece
using Holders = std::map<std::string, std::map<std::int64_t, int>>;

constexpr char kRead = 'r', kWrite = 'w';  // before a name; nothing: that was all

Part part_of(const Tensor& tensor) {
  if (tensor.part) return *tensor.part;
  return {.whole = tensor.shape, .axis = 0, .blocks = 1, .index = 0, .count = 1};
}

Pieces pieces_of(const HeldTensors& own) {
  Pieces pieces;
  for (const Tensor& tensor : persistent_tensors(own.executor, own.program_count))
    pieces[tensor.name] = part_of(tensor);
  return pieces;
}

// A line for each: name, piece, number of pieces, shape of the whole. Names have no spaces.
std::string text_of(const Pieces& pieces) {
  std::string text;
  for (const auto& [name, part] : pieces)
    text += fmt::format("{} {} {} {}\n", name, part.index, part.count, fmt::join(part.whole, " "));
  return text;
}

// What everybody said: the lowest rank that holds each piece, and the tensors in the order of their names.
struct Inventory {
  Holders first_holder;
  std::map<std::string, Shape> whole;
};

Inventory take_inventory(const HeldTensors& own, const Pieces& pieces) {
  Inventory inventory;
  const auto texts = own.others.all_gather(text_of(pieces));
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    std::istringstream lines(texts[rank]);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string name;
      std::int64_t index = 0, count = 1;
      words >> name >> index >> count;
      inventory.first_holder[name].try_emplace(index, static_cast<int>(rank));
      Shape& shape = inventory.whole[name];
      shape.clear();
      for (std::int64_t extent = 0; words >> extent;) shape.push_back(extent);
    }
  }
  return inventory;
}

std::size_t piece_elements(const Part& part) {
  return static_cast<std::size_t>(element_count(part.whole) / part.count);
}

std::vector<float> read_own(const HeldTensors& own, const std::string& name, const Part& part) {
  std::vector<float> values(piece_elements(part));
  own.executor.read(name, values);
  return values;
}

// What is whole may be a scalar, which has no dimension to cut.
void put(const Part& part, std::span<const float> piece, std::span<float> whole) {
  if (part.count == 1) std::ranges::copy(piece, whole.begin());
  else paste(part, piece, whole);
}

void write_own(const HeldTensors& own, const std::string& name, const Part& part, std::span<const float> whole) {
  if (part.count == 1) own.executor.write(name, whole);
  else own.executor.write(name, cut(part, whole));
}

}  // namespace

GatheredTensors::GatheredTensors(const HeldTensors& own) : own_(own), held_(pieces_of(own)) {
  const Inventory inventory = take_inventory(own, held_);
  first_holder_ = inventory.first_holder;
  for (const auto& [name, shape] : inventory.whole) tensors_.push_back({name, StoredType::f32, shape});
}

GatheredTensors::~GatheredTensors() {
  try {
    own_.others.broadcast(0, "");
  } catch (const std::exception&) {
    // They are lost, and whoever needs them next will say so.
  }
}

std::vector<StoredTensor> GatheredTensors::tensors() const { return tensors_; }

void GatheredTensors::read(const std::string& name, std::span<float> values) {
  own_.others.broadcast(0, kRead + name);
  for (const auto& [index, rank] : first_holder_.at(name)) {
    if (rank == 0) {
      const Part& part = held_.at(name);
      put(part, read_own(own_, name, part), values);
      continue;
    }
    std::int64_t cutting[3] = {};  // how the whole was cut
    own_.others.wait(own_.others.receive(rank, Channel::control, std::as_writable_bytes(std::span(cutting))));
    const auto it = std::ranges::find(tensors_, name, &StoredTensor::name);
    const Part part{.whole = it->shape, .axis = cutting[0], .blocks = cutting[1], .index = index, .count = cutting[2]};
    std::vector<float> piece(piece_elements(part));
    own_.others.wait(own_.others.receive(rank, Channel::control, std::as_writable_bytes(std::span(piece))));
    put(part, piece, values);
  }
}

void GatheredTensors::write(const std::string& name, std::span<const float> values) {
  own_.others.broadcast(0, kWrite + name);
  std::string bytes(values.size_bytes(), '\0');
  std::memcpy(bytes.data(), values.data(), values.size_bytes());
  own_.others.broadcast(0, bytes);
  if (const auto own = held_.find(name); own != held_.end()) write_own(own_, name, own->second, values);
}

void serve_tensors(const HeldTensors& own) {
  const Pieces held = pieces_of(own);
  const Inventory inventory = take_inventory(own, held);
  for (std::string wish = own.others.broadcast(0, ""); !wish.empty(); wish = own.others.broadcast(0, "")) {
    const std::string name = wish.substr(1);
    const auto piece = held.find(name);
    if (wish.front() == kWrite) {
      const std::string bytes = own.others.broadcast(0, "");
      std::vector<float> whole(bytes.size() / sizeof(float));
      std::memcpy(whole.data(), bytes.data(), bytes.size());
      if (piece != held.end()) write_own(own, name, piece->second, whole);
    } else if (piece != held.end() &&
               inventory.first_holder.at(name).at(piece->second.index) == own.others.rank()) {
      const Part& part = piece->second;
      const std::int64_t cutting[3] = {part.axis, part.blocks, part.count};
      const std::vector<float> values = read_own(own, name, part);
      own.others.wait(own.others.send(0, Channel::control, std::as_bytes(std::span(cutting))));
      own.others.wait(own.others.send(0, Channel::control, std::as_bytes(std::span(values))));
    }
  }
}

}  // namespace gpusizer
