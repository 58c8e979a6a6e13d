// SPDX-License-Identifier: Apache-2.0
// Errors as texts, from everybody to everybody.
#include "bench/runner/lockstep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <new>
#include <optional>
#include <sstream>

#include "bench/machine/cpu.hpp"
#include "bench/runner/cores.hpp"

namespace gpusizer {
namespace {

constexpr char kBetween = '\x1f';  // the parts of an error; no text for people has it

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// Processes that say the same share these cores.
std::string cores_text() { return fmt::format("{}:{}", host_name(), fmt::join(usable_cores(), ",")); }

// The state of a process as a letter, as ps shows it; '-': there is none.
char process_state(std::int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(") ");
  return name_end == std::string::npos || name_end + 2 >= text.size() ? '-' : text[name_end + 2];
}

// An error that can be sent; nothing: there was none.
struct Sent {
  Fault fault = Fault::failed;
  bool out_of_memory = false;
  std::string problem, where, hint;
};

std::string text_of(const std::optional<Sent>& sent) {
  if (!sent) return "";
  return fmt::format("{}{}{}{}{}{}{}{}{}", static_cast<int>(sent->fault), kBetween, sent->out_of_memory ? 1 : 0, kBetween,
                     sent->problem, kBetween, sent->where, kBetween, sent->hint);
}

Sent sent_of(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == kBetween) parts.emplace_back();
    else parts.back() += c;
  }
  parts.resize(5);
  return {static_cast<Fault>(std::stoi(parts[0])), parts[1] == "1", parts[2], parts[3], parts[4]};
}

// The first lines in which two texts differ.
std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  std::istringstream lines_a(a), lines_b(b);
  std::string line_a, line_b;
  do {
    if (!std::getline(lines_a, line_a)) line_a = "nothing more";
    if (!std::getline(lines_b, line_b)) line_b = "nothing more";
  } while (line_a == line_b && (lines_a || lines_b));
  return {line_a, line_b};
}

std::optional<Sent> error_of(const std::function<void()>& work, std::exception_ptr& own) {
  try {
    work();
    return std::nullopt;
  } catch (const CommunicationError&) {
    throw;  // there is nobody left to tell
  } catch (const OutOfMemory& error) {
    own = std::current_exception();
    return Sent{error.fault(), true, error.problem(), error.where(), error.hint()};
  } catch (const Error& error) {
    own = std::current_exception();
    return Sent{error.fault(), false, error.problem(), error.where(), error.hint()};
  } catch (const std::bad_alloc&) {
    own = std::current_exception();
    return Sent{Fault::failed, true, "the system gave no more memory", "", ""};
  } catch (const std::exception& error) {
    own = std::current_exception();
    return Sent{Fault::failed, false, error.what(), "", ""};
  }
}

}  // namespace

Lockstep::Lockstep(Communicator* processes) : processes_(processes) {
  if (!processes_) return;
  local_.only = processes_->rank();
  const std::string own = cores_text();
  const auto all = processes_->all_gather(own);
  local_.neighbours = 0;
  for (int rank = 0; rank < processes_->size(); ++rank) {
    if (all[static_cast<std::size_t>(rank)] != own) continue;
    if (rank == processes_->rank()) local_.place = local_.neighbours;
    ++local_.neighbours;
  }
  const auto hosts = processes_->all_gather(fmt::format("{} {}", getpid(), host_name()));
  const auto host_of = [](const std::string& text) { return text.substr(text.find(' ')); };
  for (int rank = 0; rank < processes_->size(); ++rank) {
    const std::string& other = hosts[static_cast<std::size_t>(rank)];
    if (rank != processes_->rank() && host_of(other) == host_of(hosts[static_cast<std::size_t>(processes_->rank())]))
      neighbours_.push_back({rank, std::stoll(other)});
  }
}

std::optional<MissingRank> Lockstep::missing() const {
  for (const Neighbour& one : neighbours_) {
    const char state = process_state(one.process);
    const bool stopped = state == 'T' || state == 't';
    if (stopped || state == '-' || state == 'Z' || state == 'X')
      return MissingRank{one.rank, fmt::format("rank {} {} (process {})", one.rank, stopped ? "was stopped" : "has ended",
                                               one.process)};
  }
  return std::nullopt;
}

void Lockstep::together(const std::function<void()>& work) const {
  if (!processes_) return work();
  std::exception_ptr own;
  const auto sent = error_of(work, own);
  const auto texts = processes_->all_gather(text_of(sent));
  if (own) std::rethrow_exception(own);
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].empty()) continue;
    const Sent other = sent_of(texts[rank]);
    const std::string problem = fmt::format("rank {}: {}", rank, other.problem);
    if (other.out_of_memory) throw OutOfMemory(problem, other.hint);
    throw Error(other.fault, problem, other.where, other.hint);
  }
}

std::optional<double> Lockstep::neighbours_cpu_seconds() const {
  double sum = 0;
  for (const Neighbour& one : neighbours_) {
    const auto seconds = process_cpu_seconds(one.process);
    if (!seconds) return std::nullopt;
    sum += *seconds;
  }
  return sum;
}

int Lockstep::any_signal(int own) const {
  if (!processes_) return own;
  for (const std::string& text : processes_->all_gather(std::to_string(own)))
    if (const int signal = std::stoi(text); signal != 0) return signal;
  return 0;
}

std::string Lockstep::of_leader(const std::string& own) const {
  return processes_ ? processes_->broadcast(0, own) : own;
}

void Lockstep::require_same(const std::string& text) const {
  if (!processes_) return;
  const auto all = processes_->all_gather(text);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    const auto [own, first] = first_difference(all[rank], all[0]);
    throw Error(Fault::usage, fmt::format("rank {} was started with '{}', and rank 0 with '{}'", rank, own, first), "",
                "start the same program with the same options everywhere");
  }
}

}  // namespace gpusizer
