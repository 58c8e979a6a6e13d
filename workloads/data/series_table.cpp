// SPDX-License-Identifier: Apache-2.0
// Reads a series column by column in one pass, then fills what is missing and lays it out step by step.
#include "workloads/data/series_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "gpusizer/error.hpp"
#include "workloads/data/csv_file.hpp"
#include "workloads/data/date_text.hpp"
#include "workloads/data/number_cell.hpp"

namespace gpusizer {

namespace {

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

// A column while it is read. One that was not asked for by name is left out when its first value is no number.
struct SeriesColumn {
  size_t place = 0;  // in the file
  bool asked = false, numeric = false, left_out = false;
  std::vector<double> values{};
};

// The rows to take: all, or those with one value in one column.
struct RowFilter {
  bool all = true;
  size_t column = 0;
  std::string value;
  std::set<std::string> seen{};  // other values, for the error when no row has the wanted one

  bool takes(const CsvRow& row) {
    if (all) return true;
    const std::string_view cell = without_blanks(row.cells[column]);
    if (cell == value) return true;
    if (seen.size() < 8) seen.emplace(cell.substr(0, 40));
    return false;
  }
};

RowFilter make_row_filter(const CsvFile& file, const std::string& rows) {
  if (rows.empty()) return {};
  const size_t sign = rows.find('=');
  if (sign == std::string::npos || sign == 0)
    throw Error(Fault::usage, "the choice of rows is not COLUMN=VALUE", rows, "write for example symbol=MSFT");
  return {.all = false, .column = file.column(rows.substr(0, sign)), .value = rows.substr(sign + 1)};
}

void refuse_values_as_header(const CsvFile& file) {
  const bool names = std::any_of(file.header().begin(), file.header().end(), [](const std::string& cell) {
    return !is_missing(cell) && !parse_number(cell) && !parse_date(cell);
  });
  if (!names)
    throw Error(Fault::input, "the first line holds values where the names of the columns are expected", file.where(1));
}

class SeriesReader {
 public:
  SeriesReader(CsvFile& file, const SeriesColumns& wanted)
      : file_(file), wanted_(wanted), filter_(make_row_filter(file, wanted.rows)) {}

  SeriesTable read() {
    CsvRow row;
    while (file_.next(row)) {
      if (!filter_.takes(row)) continue;
      if (dates_us_.empty()) choose_columns(row);
      take_date(row);
      for (SeriesColumn& column : columns_) take_value(column, row);
    }
    if (dates_us_.empty()) refuse_no_rows();
    return finish();
  }

 private:
  [[noreturn]] void refuse_no_rows() const {
    if (filter_.all) throw Error(Fault::input, "the file has a header and no rows", file_.path());
    throw Error(Fault::usage, fmt::format("no row has the wanted value: {}", wanted_.rows), file_.path(),
                fmt::format("there are {}", fmt::join(filter_.seen, ", ")));
  }

  size_t find_date_column(const CsvRow& row) const {
    if (!wanted_.date.empty()) return file_.column(wanted_.date);
    for (size_t i = 0; i < row.cells.size(); ++i) {
      if (parse_date(without_blanks(row.cells[i]))) return i;
    }
    throw Error(
        Fault::input, "no column begins with a date", file_.where(row.line),
        "dates are written as 2010-01-31, 2010/01/31 23:59 or Jan 31 2000; name the date column if it is another");
  }

  // By the first row that is taken.
  void choose_columns(const CsvRow& row) {
    date_column_ = find_date_column(row);
    for (const std::string& name : wanted_.features) ask_for(name);
    if (wanted_.features.empty()) {
      for (size_t i = 0; i < file_.header().size(); ++i) {
        const bool candidate = i != date_column_ && (filter_.all || i != filter_.column) && !file_.header()[i].empty();
        if (candidate) columns_.push_back({.place = i});
      }
    }
    features_ = columns_.size();
    for (const std::string& name : wanted_.targets) target_places_.push_back(ask_for(name));
  }

  // The place in the file of a column that must be numeric.
  size_t ask_for(const std::string& name) {
    const size_t place = file_.column(name);
    if (place == date_column_)
      throw Error(Fault::usage, fmt::format("the date column `{}` cannot be a feature or a target", name),
                  file_.path());
    for (SeriesColumn& column : columns_) {
      if (column.place != place) continue;
      column.asked = true;
      return place;
    }
    columns_.push_back({.place = place, .asked = true});
    return place;
  }

  void take_date(const CsvRow& row) {
    const std::string_view cell = without_blanks(row.cells[date_column_]);
    const auto date_us = parse_date(cell);
    if (!date_us) {
      throw Error(Fault::input, fmt::format("`{:.60}` is no date that is known here", cell),
                  file_.where(row.line, date_column_), "write dates as 2010-01-31 or 2010-01-31 23:59");
    }
    if (!dates_us_.empty() && *date_us <= dates_us_.back()) {
      throw Error(
          Fault::input,
          fmt::format("the dates do not ascend: {} follows {}", date_text(*date_us), date_text(dates_us_.back())),
          file_.where(row.line, date_column_),
          "sort the file by date; where it holds several series, choose the rows of one: COLUMN=VALUE");
    }
    dates_us_.push_back(*date_us);
  }

  void take_value(SeriesColumn& column, const CsvRow& row) {
    if (column.left_out) return;
    const std::string_view cell = row.cells[column.place];
    if (is_missing(cell)) {
      column.values.push_back(missing_value);
      return;
    }
    const auto value = parse_number(cell);
    if (!value && !column.asked && !column.numeric) {
      column.left_out = true;
      column.values = {};
      return;
    }
    if (!value) {
      throw Error(Fault::input, fmt::format("`{:.60}` is no number, or none that can be used", cell),
                  file_.where(row.line, column.place), "numbers are written as 39.4 or 1.5e3");
    }
    column.numeric = true;
    column.values.push_back(*value);
  }

  // Columns that turned out to be text, or to have no value at all, go; unless they were asked for.
  void keep_numeric() {
    std::vector<SeriesColumn> kept;
    for (size_t i = 0; i < columns_.size(); ++i) {
      SeriesColumn& column = columns_[i];
      const std::string& name = file_.header()[column.place];
      if (column.numeric) {
        table_.features += i < features_ ? 1 : 0;
        kept.push_back(std::move(column));
      } else if (column.asked) {
        throw Error(Fault::input, fmt::format("the column `{}` has no value", name), file_.path());
      } else {
        table_.left_out.push_back(name);
      }
    }
    columns_ = std::move(kept);
    if (table_.features == 0)
      throw Error(Fault::input, "no column holds numbers", file_.path(), "numbers are written with a point: 39.4");
  }

  size_t leading_gap() const {
    size_t rows = 0;
    for (const SeriesColumn& column : columns_) {
      const auto first =
          std::find_if(column.values.begin(), column.values.end(), [](double v) { return !std::isnan(v); });
      rows = std::max(rows, static_cast<size_t>(first - column.values.begin()));
    }
    return rows;
  }

  void lay_out() {
    const size_t first = leading_gap(), steps = dates_us_.size() - first, width = columns_.size();
    table_.dropped = static_cast<int64_t>(first);
    table_.values.resize(steps * width);
    for (size_t i = 0; i < width; ++i) {
      double last = 0;
      for (size_t row = 0; row < columns_[i].values.size(); ++row) {
        const double value = columns_[i].values[row];
        last = std::isnan(value) ? last : value;  // of a dropped row too
        if (row < first) continue;
        table_.filled += std::isnan(value) ? 1 : 0;
        table_.values[(row - first) * width + i] = last;
      }
      columns_[i].values = {};
    }
    table_.dates_us.assign(dates_us_.begin() + static_cast<std::ptrdiff_t>(first), dates_us_.end());
  }

  SeriesTable finish() {
    keep_numeric();
    lay_out();
    table_.location = file_.path();
    table_.step = find_time_step(table_.dates_us);
    for (const SeriesColumn& column : columns_) table_.columns.push_back(file_.header()[column.place]);
    if (target_places_.empty()) table_.targets = {0};
    for (const size_t place : target_places_) {
      const auto found =
          std::find_if(columns_.begin(), columns_.end(), [&](const auto& c) { return c.place == place; });
      table_.targets.push_back(found - columns_.begin());
    }
    return std::move(table_);
  }

  CsvFile& file_;
  const SeriesColumns& wanted_;
  RowFilter filter_;
  size_t date_column_ = 0, features_ = 0;
  std::vector<SeriesColumn> columns_;
  std::vector<size_t> target_places_;
  std::vector<int64_t> dates_us_;
  SeriesTable table_;
};

}  // namespace

SeriesTable read_series_table(const std::filesystem::path& path, const SeriesColumns& wanted) {
  CsvFile file(path);
  refuse_values_as_header(file);
  return SeriesReader(file, wanted).read();
}

}  // namespace gpusizer
