// SPDX-License-Identifier: Apache-2.0
// gpusizer version (also --version): which build this is.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/cli/command.hpp"
#include "bench/cli/options.hpp"
#include "bench/machine/describe.hpp"
#include "reports/record/record.hpp"
#include "workloads/backend/backend.hpp"

namespace gpusizer::cli {

int version_command(const Arguments& arguments) {
  Options options("version", "[--json]", "  gpusizer --version --json\n");
  options.toggle("json", "as JSON");
  if (options.parse(arguments)) return 0;
  const record::Tool tool = describe_tool();
  nlohmann::ordered_json json = {{"name", tool.name},           {"version", tool.version},
                                 {"git_commit", nullptr},       {"build_type", tool.build_type},
                                 {"compiler", tool.compiler},   {"report_schema", record::schema_name},
                                 {"libraries", nlohmann::ordered_json::object()}};
  if (!tool.git_commit.empty()) json["git_commit"] = tool.git_commit;
  for (const auto& backend : make_backends())
    for (const auto& [library, version] : backend->libraries()) json["libraries"][library] = version;
  if (options.has("json")) {
    std::cout << json.dump(2) << "\n";
    return 0;
  }
  std::cout << fmt::format("gpusizer {} ({}, {}, {})\n", tool.version,
                           tool.git_commit.empty() ? "no repository" : tool.git_commit, tool.build_type, tool.compiler);
  for (const auto& [library, version] : json["libraries"].items())
    std::cout << fmt::format("{} {}\n", library, version.get<std::string>());
  return 0;
}

}  // namespace gpusizer::cli
