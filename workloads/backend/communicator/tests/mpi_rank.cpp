// SPDX-License-Identifier: Apache-2.0
// One rank of the tests with mpirun: plays the scene named by its first argument, and writes how it ended to a file
// named after its rank in the folder that is its second.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>

#include "workloads/backend/communicator/collectives.hpp"
#include "workloads/backend/communicator/world.hpp"

namespace gpusizer {
namespace {

std::string learn_texts(Communicator& own) {
  const auto texts = own.all_gather(std::string(static_cast<size_t>(own.rank()), 'x'));
  return texts.back() + own.broadcast(1, own.rank() == 1 ? "one" : "") + std::string(own.kind());
}

std::string sum_up(Communicator& own) {
  std::vector<int32_t> ranks;
  for (int r = 0; r < own.size(); ++r) ranks.push_back(r);
  std::vector<float> values(300000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 1.0F / static_cast<float>(i * 3 + static_cast<size_t>(own.rank()) + 1);
  const std::vector<size_t> bytes{values.size() * sizeof(float)};
  std::vector<std::byte> staging(all_reduce_staging_bytes(bytes, ranks.size()));
  const Summand tensor{values.data(), values.data(), values.size(), Element::f32};
  CollectiveRun run = all_reduce(own, ranks, std::span(&tensor, 1), staging);
  run.run();
  std::string sums(reinterpret_cast<const char*>(values.data()), bytes[0]);
  return std::to_string(std::hash<std::string>{}(sums));
}

std::string lose_rank_1(Communicator& own, int signal) {
  own.enter_step(5);
  own.barrier();
  if (own.rank() == 1) ::raise(signal);
  own.barrier();
  return "went on";
}

std::string give_up(Communicator& own) {
  own.enter_step(1);
  if (own.rank() == 1) {
    own.abort("out of memory");
    return "aborted";
  }
  own.barrier();
  return "went on";
}

std::string leave_early(Communicator& own) {
  int value = own.rank();
  const auto bytes = std::as_writable_bytes(std::span(&value, 1));
  if (own.rank() == 1) own.wait(own.send(0, Channel::control, bytes));
  if (own.rank() != 0) return "left";
  own.wait(own.receive(1, Channel::control, bytes));
  if (value != 1) return "wrong";
  own.wait(own.receive(1, Channel::control, bytes));
  return "went on";
}

std::string send_another_length(Communicator& own) {
  std::vector<std::byte> bytes(own.rank() == 0 ? 4 : 8);
  if (own.rank() == 0) own.wait(own.send(1, Channel::control, bytes));
  if (own.rank() == 1) own.wait(own.receive(0, Channel::control, bytes));
  own.barrier();
  return "went on";
}

const std::map<std::string, std::function<std::string(Communicator&)>> scenes{
    {"texts", learn_texts},
    {"sums", sum_up},
    {"kill", [](Communicator& own) { return lose_rank_1(own, SIGKILL); }},
    {"stop", [](Communicator& own) { return lose_rank_1(own, SIGSTOP); }},
    {"give-up", give_up},
    {"leave", leave_early},
    {"length", send_another_length},
};

int play(const std::string& scene, const std::string& folder) {
  std::string said;
  int code = 0;
  const World world = find_world(process_environment());
  try {
    const auto own = open_communicator(world, 2);
    own->barrier();
    try {
      said = scenes.at(scene)(*own);
    } catch (const std::exception& error) {
      said = error.what();
      code = 4;
    }
    std::ofstream(folder + "/" + std::to_string(world.rank)) << said;
  } catch (const std::exception& error) {
    std::ofstream(folder + "/" + std::to_string(world.rank)) << error.what();
    code = 5;
  }
  return code;
}

}  // namespace
}  // namespace gpusizer

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::signal(SIGTERM, SIG_IGN);  // mpirun's first word when a rank is lost
  std::_Exit(gpusizer::play(argv[1], argv[2]));
}
