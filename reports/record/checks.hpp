// SPDX-License-Identifier: Apache-2.0
// Collects what breaks the rules of a report, each problem with its place.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "reports/record/check.hpp"
#include "reports/record/maybe.hpp"

namespace gpusizer::record {

// Collects problems below one place of the report.
class Checks {
 public:
  Checks(std::vector<Problem>& problems, std::string place) : problems_(problems), place_(std::move(place)) {}

  Checks at(const std::string& name) const { return Checks(problems_, place_ + "/" + name); }
  Checks at(const std::string& name, std::size_t index) const { return at(name).at(std::to_string(index)); }

  void require(bool holds, const std::string& name, const std::string& what) const {
    if (holds) return;
    const bool is_index = name.find_first_not_of("0123456789") == std::string::npos;
    problems_.push_back({place_ + "/" + name, (is_index ? "the value" : name) + " " + what});
  }
  void not_negative(double value, const std::string& name) const {
    require(std::isfinite(value), name, "is not a finite number");
    require(!(value < 0), name, "is negative");
  }
  // A non-finite Maybe is written as null, so it is no problem here.
  template <class T>
  void not_negative(const Maybe<T>& value, const std::string& name) const {
    if (value && std::isfinite(static_cast<double>(*value))) not_negative(static_cast<double>(*value), name);
  }
  void share(const Maybe<double>& value, const std::string& name) const {
    not_negative(value, name);
    require(!value || !(*value > 1), name, "is above 1, but it is a share");
  }

 private:
  std::vector<Problem>& problems_;
  std::string place_;
};

}  // namespace gpusizer::record
