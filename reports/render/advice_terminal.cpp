// SPDX-License-Identifier: Apache-2.0
// The sizing answer on a terminal of 100 columns.
#include <fmt/format.h>

#include "reports/render/advice.hpp"
#include "reports/render/advice_words.hpp"
#include "reports/render/text.hpp"
#include "reports/sizing/evidence.hpp"

namespace gpusizer::render {
namespace {

using sizing::Offer;

// Letters that name the rows of the table of figures: a, b, ..., z, aa, ab, ...
std::string row_name(std::size_t index) {
  std::string name = index < 26 ? std::string() : row_name(index / 26 - 1);
  name.push_back(static_cast<char>('a' + index % 26));
  return name;
}

// A paragraph after `first`, wrapped and indented so that it fits the width.
std::string paragraph(const std::string& first, const std::string& text, const Look& look) {
  const std::size_t indent = display_width(first),
                    width = look.width == 0 ? 0 : look.width - std::min(look.width, indent);
  std::string lines;
  const auto wrapped = width < 20 ? std::vector<std::string>{printable(text)} : wrap_to_width(printable(text), width);
  for (const std::string& line : wrapped) lines += (lines.empty() ? first : std::string(indent, ' ')) + line + "\n";
  return lines;
}

std::string figures_table(const sizing::WorkloadAdvice& workload, const Look& look) {
  Table table{{{""},
               {"Measured on", Align::left, 0, 18},
               {"Run", Align::left, 0, 14},
               {workload.workload.unit + " (95 % interval)", Align::left, 0, 16},
               {"Cases", Align::right}},
              {}};
  for (std::size_t i = 0; i < workload.figures.size(); ++i) {
    const sizing::Figure& figure = workload.figures[i];
    table.rows.push_back({row_name(i), sizing::to_text(figure.hardware), sizing::to_text(figure.variant),
                          interval_words(figure.samples_per_second), std::to_string(figure.cases.size())});
  }
  return layout(table, look);
}

std::string marks(const Offer& offer, bool limits) {
  std::string letters;
  if (limits && offer.recommended) letters += '*';
  if (offer.cheapest) letters += 'C';
  if (offer.fastest) letters += 'F';
  if (offer.pareto) letters += 'P';
  return letters;
}

Tone limits_tone(const std::string& words) {
  if (words == "kept") return Tone::good;
  return words.starts_with("too") || words.find(", too") != words.npos ? Tone::bad : Tone::warning;
}

std::vector<Cell> offer_row(const Offer& offer, bool limits, const std::vector<std::string>& notes) {
  const bool flagged = offer.price && !offer.price->flag.empty();
  const Tone money = offer.cheapest ? Tone::good : flagged ? Tone::warning : Tone::plain;
  const std::string numbers = note_numbers(offer, notes);
  std::vector<Cell> row = {marks(offer, limits),
                           offer.instance.name + " " + place_words(offer.instance),
                           row_name(offer.figure),
                           number_words(offer.epoch_seconds.value),
                           {offer.epoch_usd ? usd_words(offer.epoch_usd->value) : "no price", money},
                           duration_words(offer.total_seconds.value),
                           {offer.total_usd ? usd_words(offer.total_usd->value) : "no price", money}};
  if (limits) row.push_back({limits_words(offer), limits_tone(limits_words(offer))});
  row.push_back({price_words(offer) + (numbers.empty() ? "" : " " + numbers), flagged ? Tone::warning : Tone::plain});
  return row;
}

std::string offers_table(const sizing::WorkloadAdvice& workload, const sizing::Goal& goal, const Look& look) {
  const bool limits = goal.deadline_seconds || goal.budget_usd;
  Table table{{{""},
               {"Instance", Align::left, 0, 21},
               {"Run"},
               {"s/epoch", Align::right},
               {"$/epoch", Align::right},
               {"Total", Align::right},
               {"Total $", Align::right}},
              {}};
  if (limits) table.columns.push_back({"Limits", Align::left, 0, 8});
  table.columns.push_back({"Price", Align::left, 0, 16});
  const std::vector<std::string> notes = notes_of(workload);
  for (const Offer& offer : workload.offers) table.rows.push_back(offer_row(offer, limits, notes));
  std::string text = layout(table, look);
  text += paragraph("(",
                    fmt::format("{}C cheapest, F fastest, P nothing is both faster and cheaper; prices are on-demand "
                                "where nothing else is said)",
                                limits ? "* recommended, " : ""),
                    look);
  for (std::size_t i = 0; i < notes.size(); ++i) text += paragraph(fmt::format("[{}] ", i + 1), notes[i], look);
  return text;
}

std::string set_aside_table(const std::vector<sizing::SetAside>& set_aside, const Look& look) {
  Table table{{{"Not used", Align::left, 0, 18},
               {"Report", Align::left, 1, 10},
               {"Samples/s", Align::right},
               {"Why", Align::left, 0, 20}},
              {}};
  for (const sizing::SetAside& one : set_aside)
    table.rows.push_back({one.reference.case_id, one.reference.report,
                          one.samples_per_second ? number_words(*one.samples_per_second) : "-", one.reason});
  return layout(table, look);
}

// One line per sentence, never wrapped, so that the last line can be taken as it is.
std::string summary(const sizing::Advice& advice, const Look& look) {
  if (advice.workloads.empty())
    return paragraph("", "no answer: the reports hold no figure that may be used for an instance", look);
  const bool several = advice.workloads.size() > 1;
  std::string text;
  for (const sizing::WorkloadAdvice& workload : advice.workloads) {
    if (several) text += paragraph("", sizing::to_text(workload.workload), look);
    for (const std::string& sentence : summary_sentences(workload, advice.goal))
      text += (several ? "  " : "") + printable(sentence) + "\n";
  }
  return text;
}

}  // namespace

std::string advice_terminal(const sizing::Advice& advice, const Look& look) {
  std::string text;
  for (const sizing::WorkloadAdvice& workload : advice.workloads) {
    text += paragraph("", sizing::to_text(workload.workload) + ": " + goal_words(advice.goal), look) + "\n";
    text += figures_table(workload, look) + "\n" + offers_table(workload, advice.goal, look) + "\n";
  }
  if (!advice.set_aside.empty()) text += set_aside_table(advice.set_aside, look) + "\n";
  for (const std::string& sentence : advice.not_counted) text += paragraph("- ", sentence, look);
  text += "\n";
  text += summary(advice, look);
  return text;
}

}  // namespace gpusizer::render
