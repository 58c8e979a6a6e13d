// SPDX-License-Identifier: Apache-2.0
// The sizing answer as GitHub Markdown.
#include <fmt/format.h>

#include "reports/render/advice.hpp"
#include "reports/render/advice_words.hpp"
#include "reports/render/markdown.hpp"
#include "reports/sizing/evidence.hpp"

namespace gpusizer::render {
namespace {

using sizing::Offer;

// A row of untrusted cells.
std::string table_row(const std::vector<std::string>& cells) {
  std::vector<std::string> safe;
  for (const std::string& cell : cells) safe.push_back(markdown_text(cell));
  return markdown_row(safe);
}

std::string figures(const sizing::WorkloadAdvice& workload) {
  std::string text = table_row({"Run", "Measured on", "How", workload.workload.unit + " (95 % interval)", "Cases"});
  text += "|---|---|---|---:|---:|\n";
  for (std::size_t i = 0; i < workload.figures.size(); ++i) {
    const sizing::Figure& figure = workload.figures[i];
    text += table_row({std::to_string(i + 1), sizing::to_text(figure.hardware), sizing::to_text(figure.variant),
                       interval_words(figure.samples_per_second), std::to_string(figure.cases.size())});
  }
  return text;
}

std::string marks(const Offer& offer) {
  std::string words;
  const auto add = [&](bool is, const char* word) {
    if (is) words += fmt::format("{}{}", words.empty() ? "" : ", ", word);
  };
  add(offer.recommended, "recommended");
  add(offer.cheapest, "cheapest");
  add(offer.fastest, "fastest");
  add(offer.pareto, "Pareto");
  return words;
}

std::string offers(const sizing::WorkloadAdvice& workload) {
  const std::vector<std::string> notes = notes_of(workload);
  std::string text = table_row(
      {"Instance", "Where", "Run", "s/epoch", "$/epoch", "Total", "Total $", "Limits", "Price", "Marks", "Notes"});
  text += "|---|---|---:|---:|---:|---:|---:|---|---|---|---|\n";
  for (const Offer& offer : workload.offers)
    text += table_row(
        {offer.instance.name, place_words(offer.instance), std::to_string(offer.figure + 1),
         number_words(offer.epoch_seconds.value), offer.epoch_usd ? usd_words(offer.epoch_usd->value) : "no price",
         duration_words(offer.total_seconds.value), offer.total_usd ? usd_words(offer.total_usd->value) : "no price",
         limits_words(offer), price_words(offer), marks(offer), note_numbers(offer, notes)});
  text += "\n";
  for (std::size_t i = 0; i < notes.size(); ++i) text += fmt::format("{}. {}\n", i + 1, markdown_text(notes[i]));
  return text;
}

std::string set_aside(const std::vector<sizing::SetAside>& cases) {
  std::string text = table_row({"Not used", "Report", "Samples/s", "Why"}) + "|---|---|---:|---|\n";
  for (const sizing::SetAside& one : cases)
    text += table_row({one.reference.case_id, one.reference.report,
                       one.samples_per_second ? number_words(*one.samples_per_second) : "", one.reason});
  return text;
}

}  // namespace

std::string advice_markdown(const sizing::Advice& advice) {
  std::string text = fmt::format("# What to rent\n\n{}\n\n", markdown_text(goal_words(advice.goal)));
  for (const sizing::WorkloadAdvice& workload : advice.workloads)
    text += fmt::format("## {}\n\n{}\n{}\n", markdown_text(sizing::to_text(workload.workload)), figures(workload),
                        offers(workload));
  if (!advice.set_aside.empty()) text += fmt::format("## Not used\n\n{}\n", set_aside(advice.set_aside));
  text += "## What is not counted\n\n";
  for (const std::string& sentence : advice.not_counted) text += fmt::format("- {}\n", markdown_text(sentence));
  text += "\n## In short\n\n";
  if (advice.workloads.empty()) text += "- no answer: the reports hold no figure that may be used for an instance\n";
  for (const sizing::WorkloadAdvice& workload : advice.workloads)
    for (const std::string& sentence : summary_sentences(workload, advice.goal))
      text += fmt::format("- {}: {}\n", markdown_text(sizing::to_text(workload.workload)), markdown_text(sentence));
  return text;
}

}  // namespace gpusizer::render
