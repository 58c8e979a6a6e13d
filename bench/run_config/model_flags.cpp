// SPDX-License-Identifier: Apache-2.0
// The table of the models' options, and its rules.
#include "bench/run_config/model_flags.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/data/masking.hpp"

namespace gpusizer {
namespace {

constexpr int64_t kLargestImage = 4096;
constexpr int64_t kLargestWidth = 1'000'000;
constexpr int64_t kMostLayers = 10'000;
constexpr int64_t kMostTokens = 1'000'000;

// In the order of a case's id.
constexpr NamedNumber kNumbers[] = {
    {"image_size", "--image-size", "px", &ModelOptions::image_size, kLargestImage},
    {"channels", "--channels", "ch", &ModelOptions::channels, kLargestWidth},
    {"classes", "--classes", "classes", &ModelOptions::classes, kLargestWidth},
    {"layers", "--layers", "layers", &ModelOptions::layers, kMostLayers},
    {"hidden", "--hidden", "hidden", &ModelOptions::hidden, kLargestWidth},
    {"heads", "--heads", "heads", &ModelOptions::heads, kLargestWidth},
    {"feed_forward", "--feed-forward", "ff", &ModelOptions::feed_forward, kLargestWidth},
    {"vocabulary", "--vocabulary", "words", &ModelOptions::vocabulary, 100 * kLargestWidth},
    {"sequence", "--sequence", "tokens", &ModelOptions::sequence, kMostTokens},
    {"predictions", "--predictions", "masked", &ModelOptions::predictions, kMostTokens},
    {"window", "--window", "in", &ModelOptions::window, kMostTokens},
    {"horizon", "--horizon", "out", &ModelOptions::horizon, kMostTokens},
    {"features", "--features", "features", &ModelOptions::features, kLargestWidth},
};

constexpr NamedWord kWords[] = {
    {"stem", "--stem", &ModelOptions::stem, {"imagenet", "cifar"}},
    {"head", "--head", &ModelOptions::head, {"pretraining", "classification"}},
    {"loss", "--loss", &ModelOptions::loss, {"mse", "pinball"}},
};

constexpr NamedShare kShares[] = {
    {"dropout", "--dropout", &ModelOptions::dropout},
    {"label_smoothing", "--label-smoothing", &ModelOptions::label_smoothing},
};

[[noreturn]] void refuse_foreign(const ModelEntry& model, std::string_view name, std::string_view flag) {
  std::string spaced(name);
  std::replace(spaced.begin(), spaced.end(), '_', ' ');
  throw Error(Fault::usage, fmt::format("{} has no {}", model.name, spaced), std::string(flag), "leave it out");
}

void check_number(const ModelEntry& model, const NamedNumber& option, int64_t value) {
  if (value == 0) return;
  if (model.defaults.*option.member == 0) refuse_foreign(model, option.name, option.flag);
  if (value < 0 || value > option.most)
    throw Error(Fault::usage, fmt::format("{} is out of range", value), std::string(option.flag),
                fmt::format("use 0 to {}", option.most));
}

void check_word(const ModelEntry& model, const NamedWord& option, const std::string& value) {
  if (value.empty()) return;
  if ((model.defaults.*option.member).empty()) refuse_foreign(model, option.name, option.flag);
  if (std::ranges::find(option.allowed, value) == std::end(option.allowed))
    throw Error(Fault::usage, fmt::format("'{}' is not possible", value), std::string(option.flag),
                fmt::format("use {} or {}", option.allowed[0], option.allowed[1]));
}

void check_share(const ModelEntry& model, const NamedShare& option, const std::optional<double>& value) {
  if (!value) return;
  if (!(model.defaults.*option.member)) refuse_foreign(model, option.name, option.flag);
  if (!(*value >= 0 && *value < 1))
    throw Error(Fault::usage, fmt::format("{} is no share", *value), std::string(option.flag), "use 0 up to below 1");
}

bool follows(const ModelOptions& options, const NamedNumber& option) {
  if (option.member == &ModelOptions::feed_forward) return options.feed_forward == 4 * options.hidden;
  if (option.member != &ModelOptions::predictions || options.sequence == 0) return false;
  return options.predictions == default_predictions(options.sequence);
}

}  // namespace

std::span<const NamedNumber> number_options() { return kNumbers; }
std::span<const NamedWord> word_options() { return kWords; }
std::span<const NamedShare> share_options() { return kShares; }

bool shapes_program(std::string_view setting_name) {
  const auto is = [&](const auto& option) { return option.flag.substr(2) == setting_name; };
  return setting_name == "batch" || std::ranges::any_of(kNumbers, is) || std::ranges::any_of(kWords, is) ||
         std::ranges::any_of(kShares, is);
}

void check_model_options(const ModelEntry& model, const ModelOptions& options) {
  for (const NamedNumber& option : kNumbers) check_number(model, option, options.*option.member);
  for (const NamedWord& option : kWords) check_word(model, option, options.*option.member);
  for (const NamedShare& option : kShares) check_share(model, option, options.*option.member);
  if (options.classes == 1)
    throw Error(Fault::usage, "one class cannot be learned", "--classes", "use at least 2");
}

ModelOptions derived_options(const ModelEntry& model, ModelOptions options) {
  const ModelOptions& usual = model.defaults;
  if (options.hidden > 0 && options.feed_forward == 0 && usual.feed_forward > 0)
    options.feed_forward = 4 * options.hidden;
  if (options.sequence > 0 && options.predictions == 0 && usual.predictions > 0)
    options.predictions = default_predictions(options.sequence);
  return options;
}

std::string id_words(const ModelOptions& options) {
  std::string words;
  for (const NamedWord& option : kWords)
    if (!(options.*option.member).empty()) words += "/" + options.*option.member;
  for (const NamedNumber& option : kNumbers)
    if (options.*option.member > 0 && !follows(options, option))
      words += fmt::format("/{}{}", options.*option.member, option.id_suffix);
  for (const NamedShare& option : kShares)
    if (options.*option.member) words += fmt::format("/{}{}", option.flag.substr(2), *(options.*option.member));
  return words;
}

}  // namespace gpusizer
