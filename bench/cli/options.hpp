// SPDX-License-Identifier: Apache-2.0
// Flags of a command: their description, strict parsing, and one-sentence refusals.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/command.hpp"

namespace gpusizer::cli {

// What a command accepts. `usage` and `examples` are printed by --help before and after the flags.
class Options {
 public:
  Options(std::string command, std::string usage, std::string examples);

  void group(const std::string& heading);  // of the flags that follow, in the help text
  void flag(const std::string& name, const std::string& placeholder, const std::string& help);    // --name VALUE
  void many(const std::string& name, const std::string& placeholder, const std::string& help);    // may be repeated
  void toggle(const std::string& name, const std::string& help);                                  // --name
  void positional(const std::string& name, int most);                                             // words without a flag

  // True: --help was asked for and printed, and the command is done. Throws Error(usage) for what it does not accept.
  bool parse(const Arguments& arguments);

  bool has(const std::string& name) const;
  std::optional<std::string> value(const std::string& name) const;
  std::vector<std::string> values(const std::string& name) const;

 private:
  void print_help() const;
  std::vector<std::string> flag_names() const;
  void refuse_empty_values() const;
  [[noreturn]] void refuse_unknown(const std::string& word) const;

  std::string command_, usage_, examples_;
  std::vector<boost::program_options::options_description> shown_;  // by group
  boost::program_options::options_description hidden_;
  boost::program_options::positional_options_description places_;
  boost::program_options::variables_map values_;
};

}  // namespace gpusizer::cli
