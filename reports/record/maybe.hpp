// SPDX-License-Identifier: Apache-2.0
// A number that may be missing: then it says why. 0 and -1 never stand in for a missing number.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace gpusizer::record {

// In JSON: the plain number, or null with the reason under the same name in the object's "null_reasons".
// A non-finite double is written as null, "the value was not finite".
template <class T>
class Maybe {
 public:
  Maybe() = default;
  Maybe(T value) : value_(std::move(value)) {}  // NOLINT: `case.memory.peak_rss_bytes = 5` is the point
  Maybe(std::optional<T> value, std::string null_reason)
      : value_(std::move(value)), null_reason_(value_ ? "" : std::move(null_reason)) {}

  static Maybe missing(std::string null_reason) { return Maybe(std::nullopt, std::move(null_reason)); }

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }
  const T& operator*() const { return *value_; }
  const std::optional<T>& optional() const { return value_; }

  // Why there is no value; empty when there is one.
  std::string null_reason() const {
    if (value_) return "";
    return null_reason_.empty() ? "not recorded" : null_reason_;
  }

  friend bool operator==(const Maybe& left, const Maybe& right) {
    return left.value_ == right.value_ && left.null_reason() == right.null_reason();
  }

 private:
  std::optional<T> value_;
  std::string null_reason_;
};

}  // namespace gpusizer::record
