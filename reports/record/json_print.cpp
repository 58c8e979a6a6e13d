// SPDX-License-Identifier: Apache-2.0
// A tree as JSON text that people can read and a diff can show.
#include <cmath>

#include "gpusizer/error.hpp"
#include "reports/record/json_tree.hpp"
#include "reports/record/number_text.hpp"

namespace gpusizer::record {
namespace {

constexpr std::size_t line_width = 110;

std::string quoted(const std::string& text) {
  return Tree(text).dump(-1, ' ', false, Tree::error_handler_t::replace);
}

// A point or an exponent keeps it a floating number.
std::string number(double value) {
  if (!std::isfinite(value)) throw Error(Fault::failed, "a report cannot hold NaN or infinity");
  std::string text = shortest_text(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string scalar(const Tree& tree) {
  if (tree.is_string()) return quoted(tree.get_ref<const std::string&>());
  if (tree.is_number_float()) return number(tree.get<double>());
  return tree.dump();
}

bool is_plain_list(const Tree& list) {
  for (const Tree& item : list)
    if (item.is_structured()) return false;
  return true;
}

class Printer {
 public:
  std::string text;

  void print(const Tree& tree, std::size_t indent) {
    if (tree.is_object()) print_object(tree, indent);
    else if (tree.is_array()) print_array(tree, indent);
    else text += scalar(tree);
  }

 private:
  void new_line(std::size_t indent) {
    text += '\n';
    text.append(indent, ' ');
  }

  void print_object(const Tree& object, std::size_t indent) {
    text += '{';
    bool first = true;
    for (const auto& [key, value] : object.items()) {
      if (!first) text += ',';
      first = false;
      new_line(indent + 2);
      text += quoted(key) + ": ";
      print(value, indent + 2);
    }
    if (!first) new_line(indent);
    text += '}';
  }

  void print_array(const Tree& array, std::size_t indent) {
    text += '[';
    if (is_plain_list(array)) {
      print_plain_list(array, indent + 2);
    } else {
      for (std::size_t i = 0; i < array.size(); ++i) {
        if (i) text += ',';
        new_line(indent + 2);
        print(array[i], indent + 2);
      }
      new_line(indent);
    }
    text += ']';
  }

  void print_plain_list(const Tree& list, std::size_t indent) {
    const std::size_t last_line = text.rfind('\n');
    std::size_t column = text.size() - (last_line == std::string::npos ? 0 : last_line + 1);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string item = scalar(list[i]) + (i + 1 < list.size() ? "," : "");
      if (i && column + 1 + item.size() > line_width) {
        new_line(indent);
        column = indent;
      } else if (i) {
        text += ' ';
        ++column;
      }
      text += item;
      column += item.size();
    }
  }
};

}  // namespace

std::string print_tree(const Tree& tree) {
  Printer printer;
  printer.print(tree, 0);
  printer.text += '\n';
  return printer.text;
}

}  // namespace gpusizer::record
