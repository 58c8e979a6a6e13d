// SPDX-License-Identifier: Apache-2.0
// The one exception type of gpusizer: what happened, where, and what to do about it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace gpusizer {

// Whose fault it was. The values are the program's exit codes.
enum class Fault {
  usage = 2,        // a flag, a suite file or a request that cannot be
  input = 3,        // a file that is unreadable, damaged or not comparable
  failed = 4,       // a case failed or nothing was measured
  environment = 5,  // a device, library or permission is missing
};

// Thrown by every room. `what()` is one sentence for a person:
//   "<what> (<where>); <hint>", with the empty parts left out and control characters as \xNN.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, std::string what, std::string where = "", std::string hint = "")
      : std::runtime_error(sentence(what, where, hint)), fault_(fault), what_(printable(what)),
        where_(printable(where)), hint_(printable(hint)) {}

  Fault fault() const noexcept { return fault_; }
  int exit_code() const noexcept { return static_cast<int>(fault_); }
  const std::string& problem() const noexcept { return what_; }
  const std::string& where() const noexcept { return where_; }  // file and JSON pointer, flag, line, layer
  const std::string& hint() const noexcept { return hint_; }

 private:
  // Names from files and flags are in the sentence: a NUL would cut it, other control characters would steer a terminal.
  static std::string printable(const std::string& text) {
    constexpr const char* digits = "0123456789abcdef";
    std::string safe;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && byte != 0x7f) safe += c;
      else safe.append("\\x") += {digits[byte >> 4u], digits[byte & 15u]};
    }
    return safe;
  }

  static std::string sentence(const std::string& what, const std::string& where, const std::string& hint) {
    std::string text = what;
    if (!where.empty()) text += " (" + where + ")";
    if (!hint.empty()) text += "; " + hint;
    return printable(text);
  }

  Fault fault_;
  std::string what_, where_, hint_;
};

}  // namespace gpusizer
