// SPDX-License-Identifier: Apache-2.0
// Boost.Program_options with its guessing switched off and its exceptions put into our words.
#include "bench/cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "cloud/catalog/nearest_names.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::cli {

namespace po = boost::program_options;

namespace {

constexpr unsigned kLineWidth = 110, kHelpWidth = 60;

// Long flags only, "--x value" or "--x=value", never an abbreviation: a script must mean the same in the next version.
constexpr int kStyle = po::command_line_style::allow_long | po::command_line_style::long_allow_next |
                       po::command_line_style::long_allow_adjacent;

}  // namespace

Options::Options(std::string command, std::string usage, std::string examples)
    : command_(std::move(command)), usage_(std::move(usage)), examples_(std::move(examples)) {
  group("Flags");
  toggle("help", "this text");
}

void Options::group(const std::string& heading) { shown_.emplace_back(heading, kLineWidth, kHelpWidth); }

void Options::flag(const std::string& name, const std::string& placeholder, const std::string& help) {
  shown_.back().add_options()(name.c_str(), po::value<std::string>()->value_name(placeholder), help.c_str());
}

void Options::many(const std::string& name, const std::string& placeholder, const std::string& help) {
  shown_.back().add_options()(name.c_str(), po::value<std::vector<std::string>>()->value_name(placeholder), help.c_str());
}

void Options::toggle(const std::string& name, const std::string& help) {
  shown_.back().add_options()(name.c_str(), po::bool_switch(), help.c_str());
}

void Options::positional(const std::string& name, int most) {
  hidden_.add_options()(name.c_str(), po::value<std::vector<std::string>>(), "");
  places_.add(name.c_str(), most);
}

bool Options::parse(const Arguments& arguments) {
  po::options_description all;
  for (const auto& group : shown_) all.add(group);
  all.add(hidden_);
  try {
    po::store(po::command_line_parser(arguments).options(all).positional(places_).style(kStyle).run(), values_);
    po::notify(values_);
  } catch (const po::unknown_option& error) {
    refuse_unknown(error.get_option_name());
  } catch (const po::too_many_positional_options_error&) {
    throw Error(Fault::usage, "a word that belongs to no flag", "", fmt::format("see gpusizer {} --help", command_));
  } catch (const po::multiple_occurrences& error) {
    throw Error(Fault::usage, "the flag is given twice", error.get_option_name(), "keep one of them");
  } catch (const po::error_with_option_name& error) {
    throw Error(Fault::usage, "the flag needs a value, or takes none", error.get_option_name(),
                fmt::format("see gpusizer {} --help", command_));
  } catch (const po::error& error) {
    throw Error(Fault::usage, error.what(), "", fmt::format("see gpusizer {} --help", command_));
  }
  for (const std::string& word : values_.count("word") ? values("word") : std::vector<std::string>{})
    if (word.starts_with("-") && word.size() > 1) refuse_unknown(word);  // a short flag; none exists
  refuse_empty_values();
  if (!values_["help"].as<bool>()) return false;
  print_help();
  return true;
}

bool Options::has(const std::string& name) const {
  const auto& value = values_[name];
  if (value.empty()) return false;
  if (const auto* toggled = boost::any_cast<bool>(&value.value())) return *toggled;
  return true;
}

std::optional<std::string> Options::value(const std::string& name) const {
  return values_.count(name) ? std::optional(values_[name].as<std::string>()) : std::nullopt;
}

std::vector<std::string> Options::values(const std::string& name) const {
  return values_.count(name) ? values_[name].as<std::vector<std::string>>() : std::vector<std::string>{};
}

void Options::print_help() const {
  std::ostringstream flags;
  for (const auto& group : shown_) flags << group << "\n";
  std::cout << "Usage: gpusizer " << command_ << " " << usage_ << "\n\n" << flags.str() << "Examples:\n" << examples_;
}

std::vector<std::string> Options::flag_names() const {
  std::vector<std::string> names;
  for (const auto& group : shown_)
    for (const auto& option : group.options()) names.push_back("--" + option->long_name());
  return names;
}

// An empty word is most often a shell variable that was not set; what it meant cannot be guessed.
void Options::refuse_empty_values() const {
  for (const auto& [name, value] : values_) {
    const auto* one = boost::any_cast<std::string>(&value.value());
    const auto* several = boost::any_cast<std::vector<std::string>>(&value.value());
    const bool empty = (one && one->empty()) || (several && std::count(several->begin(), several->end(), ""));
    if (!empty) continue;
    const std::string where = name == "word" ? "" : "--" + name;
    throw Error(Fault::usage, where.empty() ? "a word is empty" : "the value of the flag is empty", where,
                fmt::format("give one or leave it out; see gpusizer {} --help", command_));
  }
}

void Options::refuse_unknown(const std::string& word) const {
  const auto near = cloud::nearest_names(word, flag_names(), 1);
  throw Error(Fault::usage, fmt::format("unknown flag '{}'", word), "",
              near.empty() ? fmt::format("see gpusizer {} --help", command_)
                           : fmt::format("did you mean {}? see gpusizer {} --help", near.front(), command_));
}

}  // namespace gpusizer::cli
