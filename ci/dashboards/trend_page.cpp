// SPDX-License-Identifier: Apache-2.0
// Draws each series as SVG; colours follow the reader's light or dark.
#include "ci/dashboards/trend_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ci/compare/sentences.hpp"
#include "reports/render/text.hpp"
#include "reports/render/units.hpp"

namespace gpusizer::ci {
namespace {

constexpr double kWidth = 640, kHeight = 150, kTop = 10, kBottom = 20;

// `content-visibility` keeps hundreds of charts cheap: what is not on the screen is not laid out.
constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--paper:#fff;--ink:#1d2530;--soft:#5c6775;--line:#d8dde4;--mark:#1f6feb;--bad:#c62f2f;--good:#1a7f45;--card:#f6f8fa}
@media(prefers-color-scheme:dark){:root{--paper:#12161c;--ink:#e4e9ef;--soft:#9aa6b4;--line:#313944;--mark:#6cb0ff;--bad:#ff7b72;--good:#57c785;--card:#1a2029}}
*{box-sizing:border-box}body{margin:0 auto;max-width:76rem;padding:1rem;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.4rem;margin:.2rem 0}p{margin:.2rem 0;color:var(--soft)}
main{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,28rem),1fr));gap:1rem;margin-top:1rem}
article{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7rem .9rem;min-width:0;content-visibility:auto;contain-intrinsic-size:auto 300px}
h2{font-size:1rem;margin:0;overflow-wrap:anywhere}h2 small{display:block;color:var(--soft);font-weight:400}
b.last{font-size:1.15rem}svg{display:block;width:100%;height:auto;margin:.3rem 0}
.run{fill:none;stroke:var(--mark);stroke-width:1.6;vector-effect:non-scaling-stroke}.level{stroke:var(--soft);stroke-dasharray:4 3;vector-effect:non-scaling-stroke}
.shift{stroke-width:1.5;vector-effect:non-scaling-stroke}.bad{stroke:var(--bad)}.good{stroke:var(--good)}.said{stroke:var(--soft)}
text{fill:var(--soft);font:11px system-ui,sans-serif}ul{margin:.2rem 0;padding-left:1.1rem}li.bad{color:var(--bad)}li.good{color:var(--good)}li.said{color:var(--soft)}a{color:inherit}
details{color:var(--soft)}table{border-collapse:collapse;font-size:13px;width:100%}td,th{padding:.1rem .4rem;text-align:right;border-top:1px solid var(--line)}td:first-child,th:first-child{text-align:left}
)";

std::string value_words(double value, const std::string& unit) {
  if (unit == "s" && value > 0) return render::time_text(value);
  if (unit == "B" && value >= 0) return render::bytes_text(value);
  return unit == "1" ? render::significant(value) : render::significant(value) + " " + unit;
}

bool is_commit(const std::string& text) { return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos; }

std::string commit_html(const std::string& commit, const PageOptions& options) {
  const std::string shown = render::markup_text(commit.substr(0, 10));
  if (options.commit_url.empty() || !is_commit(commit)) return shown.empty() ? "no commit" : shown;
  return fmt::format("<a href=\"{}{}\">{}</a>", render::markup_text(options.commit_url), commit, shown);
}

// Where a run and a value lie in the chart.
struct Frame {
  double low = 0, high = 0;
  std::size_t runs = 0;

  double x(std::size_t i) const { return runs < 2 ? kWidth / 2 : kWidth * static_cast<double>(i) / static_cast<double>(runs - 1); }
  double y(double value) const { return kTop + (kHeight - kTop - kBottom) * (high - value) / (high - low); }
};

Frame frame_of(const Trend& trend) {
  const auto [low, high] = std::minmax_element(trend.points.begin(), trend.points.end(), [](const Point& a, const Point& b) { return a.value < b.value; });
  const double margin = high->value > low->value ? 0.08 * (high->value - low->value) : std::max(1e-12, 0.05 * std::abs(low->value));
  return {low->value - margin, high->value + margin, trend.points.size()};
}

const char* tone_of_shift(const LevelShift& shift) { return shift.accepted || shift.false_alarm ? "said" : shift.worse ? "bad" : "good"; }

std::size_t place_of(const Trend& trend, const LevelShift& shift) {
  const auto found = std::find_if(trend.points.begin(), trend.points.end(), [&](const Point& p) { return p.time_ms >= shift.time_ms; });
  return static_cast<std::size_t>(found - trend.points.begin());
}

std::string chart(const Trend& trend) {
  const Frame frame = frame_of(trend);
  std::string svg = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{} runs\">", kWidth, kHeight, trend.points.size());
  std::string line;
  for (std::size_t i = 0; i < trend.points.size(); ++i) line += fmt::format("{:.1f},{:.1f} ", frame.x(i), frame.y(trend.points[i].value));
  std::size_t from = 0;
  for (const LevelShift& shift : trend.shifts) {
    const std::size_t at = place_of(trend, shift);
    const double x = (frame.x(at) + frame.x(at ? at - 1 : 0)) / 2;
    svg += fmt::format("<line class=\"level\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", frame.x(from), x, frame.y(shift.before), frame.y(shift.before));
    svg += fmt::format("<line class=\"shift {}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.0f}\" y2=\"{:.0f}\"/>", tone_of_shift(shift), x, x, kTop, kHeight - kBottom);
    from = at;
  }
  svg += fmt::format("<polyline class=\"run\" points=\"{}\"/>", line);
  svg += fmt::format("<text x=\"0\" y=\"{:.0f}\">{}</text><text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>", kHeight - 4,
                     utc_of(trend.points.front().time_ms).substr(0, 10), kWidth, kHeight - 4, utc_of(trend.points.back().time_ms).substr(0, 10));
  return svg + fmt::format("<text x=\"0\" y=\"10\">{}</text></svg>", render::markup_text(value_words(frame.high, trend.key.unit)));
}

std::string shifts_html(const Trend& trend, const PageOptions& options) {
  std::string list;
  for (const LevelShift& shift : trend.shifts) {
    const std::string said = shift.accepted ? fmt::format(" accepted by {}: {}", render::markup_text(shift.author), render::markup_text(shift.reason))
                             : shift.false_alarm ? fmt::format(" no shift ({}: {})", render::markup_text(shift.author), render::markup_text(shift.reason)) : "";
    list += fmt::format("<li class=\"{}\">{} at {}, {}{}</li>", tone_of_shift(shift), signed_percent(shift.change), commit_html(shift.commit, options),
                        utc_of(shift.time_ms).substr(0, 10), said);
  }
  return list.empty() ? "" : "<ul>" + list + "</ul>";
}

// The numbers beside the chart, for those who cannot see it or want to copy them: the newest ten.
std::string table_html(const Trend& trend, const PageOptions& options) {
  std::string rows;
  const std::size_t from = trend.points.size() > 10 ? trend.points.size() - 10 : 0;
  for (std::size_t i = trend.points.size(); i-- > from;)
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>", utc_of(trend.points[i].time_ms).substr(0, 16), commit_html(trend.points[i].commit, options),
                        render::markup_text(value_words(trend.points[i].value, trend.key.unit)));
  return "<details><summary>newest runs</summary><table><tr><th>time (UTC)</th><th>commit</th><th>value</th></tr>" + rows + "</table></details>";
}

std::string card(const Trend& trend, const PageOptions& options) {
  return fmt::format("<article><h2>{}<small>{}, {} is better, {}; environment {}</small></h2><p><b class=\"last\">{}</b> in the newest of {} runs</p>{}{}{}</article>\n",
                     render::markup_text(trend.key.case_id), render::markup_text(trend.key.metric), record::to_word(trend.key.better), record::to_word(trend.key.provenance),
                     render::markup_text(trend.key.environment.substr(0, 6)), render::markup_text(value_words(trend.points.back().value, trend.key.unit)), trend.points.size(), chart(trend),
                     shifts_html(trend, options), table_html(trend, options));
}

}  // namespace

std::string trend_page(const std::vector<Trend>& trends, const PageOptions& options) {
  std::string cards;
  std::size_t open = 0, shown = 0;
  for (const Trend& trend : trends) {
    if (trend.points.empty()) continue;
    ++shown;
    for (const LevelShift& shift : trend.shifts) open += shift.worse && !shift.accepted && !shift.false_alarm;
    cards += card(trend, options);
  }
  return fmt::format("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                     "<title>{}</title><style>{}</style></head>\n<body><h1>{}</h1><p>{} series; {} shift{} to the worse that nobody has accepted. A dashed line is a level "
                     "before a shift, an upright line the shift: red to the worse, green to the better, grey when somebody has said why.</p>\n<main>\n{}</main></body></html>\n",
                     render::markup_text(options.title), kStyle, render::markup_text(options.title), shown, open, open == 1 ? "" : "s", cards);
}

}  // namespace gpusizer::ci
