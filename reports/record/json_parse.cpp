// SPDX-License-Identifier: Apache-2.0
// JSON text to a tree: remembers where it is, refuses a key given twice, and keeps the limits.
#include <string>
#include <unordered_set>
#include <vector>

#include "gpusizer/error.hpp"
#include "reports/record/json_tree.hpp"

namespace gpusizer::record {
namespace {

// Receives the parser's events and builds the tree from them.
class TreeBuilder : public nlohmann::json_sax<Tree> {
 public:
  TreeBuilder(std::string_view text, const std::string& file_name) : text_(text), file_name_(file_name) {}

  Tree result() { return std::move(root_); }

  bool null() override { return add(Tree(nullptr)) != nullptr; }
  bool boolean(bool value) override { return add(Tree(value)) != nullptr; }
  bool number_integer(number_integer_t value) override { return add(Tree(value)) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return add(Tree(value)) != nullptr; }
  bool number_float(number_float_t value, const string_t&) override { return add(Tree(value)) != nullptr; }
  bool string(string_t& value) override { return add(Tree(std::move(value))) != nullptr; }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Tree::object()); }
  bool start_array(std::size_t) override { return open(Tree::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.key = name;
    if (!level.keys.insert(name).second) refuse("the key is given twice in one object", "");
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& fault) override {
    const std::size_t byte = position > 0 ? position - 1 : 0;
    if (fault.id == 406) refuse("the number " + token.substr(0, 40) + " is out of range", at_byte(byte));
    if (byte >= text_.size()) refuse("the report is cut off: it ends in the middle", at_byte(text_.size()));
    if (is_no_number(byte)) refuse("NaN and infinity are not numbers of a report", at_byte(byte));
    refuse("the report is not valid JSON", at_byte(byte));
  }

 private:
  struct Level {
    Tree* container;
    std::string key;
    std::unordered_set<std::string> keys;
  };

  Tree* add(Tree value) {
    if (++values_ > most_values)
      refuse("the report has more than " + std::to_string(most_values) + " values", "");
    if (levels_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Level& level = levels_.back();
    if (level.container->is_array()) {
      level.container->push_back(std::move(value));
      return &level.container->back();
    }
    // Keys are known to be new here; the map's own insertion would search all of them again.
    auto& members = static_cast<Tree::object_t::Container&>(level.container->get_ref<Tree::object_t&>());
    members.emplace_back(level.key, std::move(value));
    return &members.back().second;
  }

  bool open(Tree container) {
    if (levels_.size() >= deepest_nesting)
      refuse("the report is nested deeper than " + std::to_string(deepest_nesting) + " levels", "");
    Tree* const place = add(std::move(container));
    levels_.push_back({place, "", {}});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  // The parser stops at the first or second letter of such a word.
  bool is_no_number(std::size_t byte) const {
    for (const std::string_view word : {"NaN", "nan", "Infinity", "inf", "Inf"})
      for (const std::size_t back : {std::size_t{0}, std::size_t{1}})
        if (byte >= back && text_.substr(byte - back).starts_with(word)) return true;
    return false;
  }

  static std::string at_byte(std::size_t byte) { return "byte " + std::to_string(byte); }

  // An open container is the last element of its list already; a value that is still being read is not.
  std::string pointer() const {
    std::string path;
    for (const Level& level : levels_) {
      const bool innermost = &level == &levels_.back();
      const std::size_t index = level.container->size() - (innermost ? 0 : 1);
      path.append("/").append(level.container->is_array() ? std::to_string(index) : pointer_step(level.key));
    }
    return path;
  }

  [[noreturn]] void refuse(const std::string& what, const std::string& byte) const {
    std::string where = file_name_;
    if (!byte.empty()) where += ", " + byte;
    where.append(", at ").append(levels_.empty() ? "the top" : pointer());
    throw Error(Fault::input, what, where);
  }

  std::string_view text_;
  const std::string& file_name_;
  Tree root_;
  std::vector<Level> levels_;
  std::size_t values_ = 0;
};

}  // namespace

std::string pointer_step(std::string_view name) {
  std::string step;
  for (const char c : name) {
    if (c == '~') step += "~0";
    else if (c == '/') step += "~1";
    else step += c;
  }
  return step;
}

Tree parse_tree(std::string_view text, const std::string& file_name) {
  if (text.size() > largest_text_bytes)
    throw Error(Fault::input, "the report is larger than 256 MiB", file_name);
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)  // the parser would take it for the end
    throw Error(Fault::input, "the report holds a NUL byte", file_name + ", byte " + std::to_string(nul));
  TreeBuilder builder(text, file_name);
  if (!Tree::sax_parse(text.begin(), text.end(), &builder))
    throw Error(Fault::input, "the report is not valid JSON", file_name);
  return builder.result();
}

}  // namespace gpusizer::record
