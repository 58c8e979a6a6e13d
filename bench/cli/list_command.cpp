// SPDX-License-Identifier: Apache-2.0
// gpusizer list: what there is to run, to run it on, and to rent.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "bench/cli/command.hpp"
#include "bench/cli/listing.hpp"
#include "bench/cli/options.hpp"
#include "bench/cli/terminal.hpp"
#include "bench/run_config/model_flags.hpp"
#include "bench/run_config/settings.hpp"
#include "cloud/catalog/nearest_names.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::cli {
namespace {

struct Subject {
  std::string_view name;
  Listing (*list)();
  bool is_long = false;  // in a list of everything its length is enough
};

// To add a list: a function in a file list_*.cpp, and a line here.
constexpr Subject kSubjects[] = {{"models", list_models}, {"data", list_data}, {"devices", list_devices},
                                 {"suites", list_suites}, {"instances", list_instances, true}};

constexpr const char* kListExamples =
    "  gpusizer list                               an overview\n"
    "  gpusizer list instances                     what can be rented, with prices and their dates\n"
    "  gpusizer list models --json\n"
    "  gpusizer list program resnet50 --json       parameters, FLOPs and memory, counted exactly\n"
    "  gpusizer list program resnet50 --batch 2    its step program, operation by operation\n"
    "  gpusizer list program resnet50 --target cpu     the same as the CPU backend runs it\n";

void print(const Subject& subject, bool json) {
  const Listing listing = subject.list();
  std::cout << (json ? listing.json : render::layout(listing.table, look_of_stdout()));
}

void print_in_overview(const Subject& subject) {
  std::cout << subject.name << "\n";
  if (!subject.is_long) return print(subject, false);
  std::cout << fmt::format("  {} rows: see gpusizer list {}\n", subject.list().table.rows.size(), subject.name);
}

int print_all(bool json) {
  if (json) std::cout << "{\n";
  for (const Subject& subject : kSubjects) {
    const bool last = &subject == std::end(kSubjects) - 1;
    if (json) std::cout << fmt::format("\"{}\": ", subject.name);
    if (json) print(subject, true);
    else print_in_overview(subject);
    std::cout << (json ? (last ? "}\n" : ",\n") : (last ? "" : "\n"));
  }
  return 0;
}

[[noreturn]] void refuse(const std::string& word) {
  std::vector<std::string> known{"program"};
  for (const Subject& subject : kSubjects) known.emplace_back(subject.name);
  const auto near = cloud::nearest_names(word, known, 1);
  throw Error(Fault::usage, fmt::format("there is no list of '{}'", word), "",
              near.empty() ? "see gpusizer list --help" : fmt::format("did you mean {}?", near.front()));
}

Options list_options() {
  Options options("list", "[models|data|devices|suites|instances|program MODEL]", kListExamples);
  options.toggle("json", "as JSON");
  for (const Setting& setting : settings())
    if (shapes_program(setting.name))
      options.flag(std::string(setting.name), std::string(setting.placeholder),
                   "of a program: " + std::string(setting.help));
  options.flag("target", "NAME", "of a program: as this backend runs it");
  options.flag("mode", "train|evaluate", "of a program: the training step or the evaluation [train]");
  options.positional("word", 2);
  return options;
}

}  // namespace

int list_command(const Arguments& arguments) {
  Options options = list_options();
  if (options.parse(arguments)) return 0;
  const auto words = options.values("word");
  if (words.empty()) return print_all(options.has("json"));
  if (words.front() == "program") {
    if (words.size() < 2) throw Error(Fault::usage, "which model's program?", "", "write gpusizer list program resnet50");
    return list_program(options, words[1]);
  }
  if (words.size() > 1) throw Error(Fault::usage, fmt::format("'{}' is one word too many", words[1]), "", "leave it out");
  const auto subject = std::find_if(std::begin(kSubjects), std::end(kSubjects),
                                    [&](const Subject& s) { return s.name == words.front(); });
  if (subject == std::end(kSubjects)) refuse(words.front());
  print(*subject, options.has("json"));
  return 0;
}

}  // namespace gpusizer::cli
