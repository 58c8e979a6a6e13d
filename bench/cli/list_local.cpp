// SPDX-License-Identifier: Apache-2.0
// The lists of what this program and this machine have: models, data sources, devices, suites.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/cli/listing.hpp"
#include "bench/run_config/family.hpp"
#include "bench/run_config/model_flags.hpp"
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

std::string sample_text(const ModelEntry& model) {
  const ModelOptions& o = model.defaults;
  switch (family_of(model).data) {
    case DataKind::images: return fmt::format("{0}x{1}x{1}", o.channels, o.image_size);
    case DataKind::text: return fmt::format("{} tokens", o.sequence);
    case DataKind::series: return fmt::format("{}x{} to {}", o.window, o.features, o.horizon);
  }
  return "";
}

// What a sample does not show already.
std::string options_text(const ModelOptions& o) {
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
  if (o.classes > 0 && o.image_size > 0) add(fmt::format("{} classes", o.classes));
  if (!o.stem.empty()) add(o.stem + " stem");
  if (o.layers > 0) add(fmt::format("{} layers", o.layers));
  if (o.hidden > 0) add(fmt::format("hidden {}", o.hidden));
  if (o.heads > 0) add(fmt::format("{} heads", o.heads));
  if (!o.head.empty()) add(o.head);
  if (!o.loss.empty()) add(o.loss);
  return text;
}

}  // namespace

Listing list_models() {
  Listing listing{{{{"model"}, {"family"}, {"sample", Align::right}, {"usual options"}, {.heading = "what it is", .min_width = 20}}, {}}, {}};
  ordered_json json = ordered_json::array();
  for (const ModelEntry& model : models()) {
    const ModelOptions& o = model.defaults;
    listing.table.rows.push_back({std::string(model.name), std::string(model.family), sample_text(model),
                                  options_text(o), std::string(model.description)});
    json.push_back({{"name", model.name}, {"family", model.family}, {"learns_from", to_string(family_of(model).data)},
                    {"description", model.description}});
    for (const NamedNumber& option : number_options())
      if (o.*option.member > 0) json.back()[std::string(option.name)] = o.*option.member;
    for (const NamedWord& option : word_options())
      if (!(o.*option.member).empty()) json.back()[std::string(option.name)] = o.*option.member;
  }
  listing.json = text_of(json);
  return listing;
}

Listing list_data() {
  Listing listing{{{{"data"}, {"kind"}, {"path"}, {.heading = "what it is", .min_width = 20}}, {}}, {}};
  ordered_json json = ordered_json::array();
  for (const DataSourceEntry& source : data_sources()) {
    const std::string kind(source.kind ? to_string(*source.kind) : "any");
    listing.table.rows.push_back({std::string(source.name), kind, path_word(source.path), std::string(source.description)});
    json.push_back({{"name", source.name}, {"kind", kind}, {"path", path_word(source.path)},
                    {"description", source.description}});
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
