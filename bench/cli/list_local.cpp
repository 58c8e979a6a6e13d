// SPDX-License-Identifier: Apache-2.0
// The lists of what this program and this machine have: models, data sources, devices, suites.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/cli/listing.hpp"
#include "bench/run_config/suite_file.hpp"
#include "workloads/backend/backend.hpp"
#include "workloads/data/data_sources.hpp"
#include "workloads/models/models.hpp"

namespace gpusizer::cli {
namespace {

using nlohmann::ordered_json;
using render::Align;

std::string text_of(const ordered_json& json) { return json.dump(2) + "\n"; }

const char* path_word(PathUse use) {
  switch (use) {
    case PathUse::none: return "no path";
    case PathUse::optional: return "path optional";
    case PathUse::required: return "needs a path";
  }
  return "";
}

}  // namespace

Listing list_models() {
  Listing listing{{{{"model"}, {"family"}, {"image", Align::right}, {"classes", Align::right}, {"stem"}, {.heading = "what it is", .min_width = 20}}, {}}, {}};
  ordered_json json = ordered_json::array();
  for (const ModelEntry& model : models()) {
    const ModelOptions& o = model.defaults;
    listing.table.rows.push_back({std::string(model.name), std::string(model.family),
                                  fmt::format("{0}x{1}x{1}", o.channels, o.image_size), std::to_string(o.classes), o.stem,
                                  std::string(model.description)});
    json.push_back({{"name", model.name}, {"family", model.family}, {"description", model.description},
                    {"classes", o.classes}, {"image_size", o.image_size}, {"channels", o.channels}, {"stem", o.stem}});
  }
  listing.json = text_of(json);
  return listing;
}

Listing list_data() {
  Listing listing{{{{"data"}, {"path"}, {.heading = "what it is", .min_width = 20}}, {}}, {}};
  ordered_json json = ordered_json::array();
  for (const DataSourceEntry& source : data_sources()) {
    listing.table.rows.push_back({std::string(source.name), path_word(source.path), std::string(source.description)});
    json.push_back({{"name", source.name}, {"path", path_word(source.path)}, {"description", source.description}});
  }
  listing.json = text_of(json);
  return listing;
}

Listing list_devices() {
  Listing listing{{{{"backend"}, {"device"}, {"threads", Align::right}, {"GiB", Align::right}, {.heading = "what it is", .min_width = 20}}, {}}, {}};
  ordered_json json = ordered_json::array();
  for (const auto& backend : make_backends()) {
    const Probe probe = backend->probe();
    for (const Device& d : probe.devices) {
      listing.table.rows.push_back({std::string(backend->name()), d.name, std::to_string(d.threads),
                                    fmt::format("{:.1f}", static_cast<double>(d.memory_bytes) / (1 << 30)),
                                    fmt::format("{}; {}", d.model, backend->description())});
      json.push_back({{"backend", backend->name()}, {"device", d.name}, {"model", d.model}, {"threads", d.threads},
                      {"memory_bytes", d.memory_bytes}, {"description", backend->description()}});
    }
    if (!probe.devices.empty()) continue;
    listing.table.rows.push_back({std::string(backend->name()), "none", "", "", probe.reason});
    json.push_back({{"backend", backend->name()}, {"device", nullptr}, {"reason", probe.reason}});
  }
  listing.json = text_of(json);
  return listing;
}

Listing list_suites() {
  Listing listing{{{{"suite"}, {"cases", Align::right}, {.heading = "what it is", .min_width = 20}}, {}}, {}};
  ordered_json json = ordered_json::array();
  for (const CompiledSuite& compiled : compiled_suites()) {
    const std::string name(compiled.name);
    const auto ids = case_ids(make_run_config(name, {}));
    const std::string description = load_suite(name).description;
    listing.table.rows.push_back({name, std::to_string(ids.size()), description});
    json.push_back({{"name", name}, {"description", description}, {"cases", ids}});
  }
  listing.json = text_of(json);
  return listing;
}

}  // namespace gpusizer::cli
