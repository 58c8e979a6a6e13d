// SPDX-License-Identifier: Apache-2.0
// The built-in catalogue, and the files that may take its place.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <system_error>

#include "cloud/catalog/catalog.hpp"
#include "cloud/catalog/embedded_catalog.hpp"
#include "cloud/catalog/read_catalog.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::cloud {
namespace {

constexpr std::uintmax_t largest_file_bytes = std::uintmax_t{64} << 20;

std::string read_file(const std::filesystem::path& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed))
    throw Error(Fault::input, "the catalogue is not a file", path.string(),
                "give a .json file or a folder that holds one");
  if (std::filesystem::file_size(path, failed) > largest_file_bytes || failed)
    throw Error(Fault::input, "the catalogue file is larger than 64 MiB", path.string(), "use a smaller file");
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) throw Error(Fault::input, "the catalogue cannot be read", path.string(), "check that it may be read");
  return text;
}

void replace_parts(Catalog& catalog, const std::filesystem::path& path) {
  std::error_code failed;
  if (!std::filesystem::is_directory(path, failed)) return read_catalog_part(catalog, read_file(path), path.string());
  int parts = 0;
  for (const char* name : {"gpus.json", "instances.json"}) {
    const std::filesystem::path file = path / name;
    if (!std::filesystem::exists(file, failed)) continue;
    read_catalog_part(catalog, read_file(file), file.string());
    ++parts;
  }
  if (parts == 0)
    throw Error(Fault::input, "the folder holds neither gpus.json nor instances.json", path.string(),
                "name the folder that does, or one of the files");
}

// Rows may name a GPU by an alias; behind the reader there is only the catalogue's own name.
void resolve_aliases(Catalog& catalog) {
  for (Instance& instance : catalog.instances)
    if (const Gpu* gpu = instance.gpu.empty() ? nullptr : find_gpu(catalog, instance.gpu)) instance.gpu = gpu->name;
}

}  // namespace

Catalog load_catalog(const std::optional<std::filesystem::path>& path) {
  Catalog catalog;
  read_catalog_part(catalog, embedded_gpus_json(), "built-in gpus.json");
  read_catalog_part(catalog, embedded_instances_json(), "built-in instances.json");
  catalog.origin = "built in";
  if (path) {
    replace_parts(catalog, *path);
    catalog.origin = path->string();
  }
  resolve_aliases(catalog);
  check_catalog(catalog);
  return catalog;
}

}  // namespace gpusizer::cloud
