// SPDX-License-Identifier: Apache-2.0
// JSON to a report: walks the field lists, checks every type, keeps what it does not know.
#include <charconv>
#include <limits>
#include <set>

#include "gpusizer/error.hpp"
#include "reports/record/check.hpp"
#include "reports/record/fields.hpp"
#include "reports/record/json.hpp"
#include "reports/record/json_tree.hpp"

namespace gpusizer::record {
namespace {


// Where in the file we are: a chain on the stack, turned into text only when something is wrong.
struct Place {
  const std::string& file_name;
  const Place* parent = nullptr;
  std::string_view name;
  std::size_t index = 0;

  Place at(std::string_view child) const { return {file_name, this, child, 0}; }
  Place at(std::size_t child) const { return {file_name, this, {}, child}; }
  std::string pointer() const {
    if (!parent) return "";
    return parent->pointer() + "/" + (name.empty() ? std::to_string(index) : pointer_step(name));
  }
};

[[noreturn]] void refuse(const Place& place, const std::string& what, const std::string& hint = "") {
  const std::string pointer = place.pointer();
  throw Error(Fault::input, what, place.file_name + ", at " + (pointer.empty() ? "the top" : pointer), hint);
}

void require(bool holds, const Place& place, const char* what) {
  if (!holds) refuse(place, what);
}

template <class T>
void read(const Tree& tree, const Place& place, T& value);

// Takes the fields of one struct out of one object.
class Reader {
 public:
  Reader(const Tree& object, const Place& place) : object_(object), place_(place) {
    require(object.is_object(), place, "an object was expected");
    known_.insert(reasons_key);
    if (const auto found = object.find(reasons_key); found != object.end())
      read(*found, place_.at(reasons_key), reasons_);
  }

  template <class T>
  void field(const char* name, T& value) {
    const Tree* const tree = find(name);
    if (!tree) refuse(place_, std::string("the field \"") + name + "\" is missing");
    read(*tree, place_.at(name), value);
  }
  template <class T>
  void field(const char* name, Maybe<T>& value) {
    const Tree* const tree = find(name);
    if (!tree) {
      value = Maybe<T>::missing("not in the report");
    } else if (tree->is_null()) {
      value = Maybe<T>::missing(take_reason(name));
    } else {
      T number{};
      read(*tree, place_.at(name), number);
      value = number;
    }
  }
  template <class T>
  void nullable(const char* name, std::optional<T>& value, std::string& null_reason) {
    absent_or(name, value);
    null_reason = value ? "" : find(name) ? take_reason(name) : "not in the report";
  }
  template <class T>
  void absent_or(const char* name, std::optional<T>& value) {
    const Tree* const tree = find(name);
    value.reset();
    if (tree && !tree->is_null()) read(*tree, place_.at(name), value.emplace());
  }
  void reason(const char* name, std::string& text) {
    text.clear();
    if (const Tree* const tree = find(name); tree && !tree->is_null()) read(*tree, place_.at(name), text);
  }
  void numbers(const char* name, Numbers& values) {
    values.clear();
    if (const Tree* const tree = find(name); tree && !tree->is_null()) read(*tree, place_.at(name), values);
  }
  // Comes last: everything that no field has asked for.
  void unknown(UnknownFields& unknown_fields) {
    unknown_fields.clear();
    if (!reasons_.empty()) {
      Tree rest = Tree::object();
      // Names of a map differ; the tree's own insertion would search all of them again.
      auto& members = static_cast<Tree::object_t::Container&>(rest.get_ref<Tree::object_t&>());
      for (const auto& [name, text] : reasons_) members.emplace_back(name, text);
      unknown_fields.emplace_back(reasons_key, rest.dump());
    }
    for (const auto& [name, value] : object_.items())
      if (!known_.contains(name)) unknown_fields.emplace_back(name, value.dump());
  }

 private:
  const Tree* find(const char* name) {
    known_.insert(name);
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }

  std::string take_reason(const char* name) {
    const auto found = reasons_.find(name);
    if (found == reasons_.end() || found->second.empty())
      refuse(place_.at(name), "a null needs its reason", "put it into \"null_reasons\" of the same object");
    const std::string reason = found->second;
    reasons_.erase(found);
    return reason;
  }

  const Tree& object_;
  const Place& place_;
  std::set<std::string, std::less<>> known_;
  StringMap reasons_;
};

void read_integer(const Tree& tree, const Place& place, std::int64_t& value) {
  require(tree.is_number_integer(), place, "a whole number was expected");
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  require(!tree.is_number_unsigned() || tree.get<std::uint64_t>() <= most, place, "the number is too large");
  value = tree.get<std::int64_t>();
}

void read_unsigned(const Tree& tree, const Place& place, std::uint64_t& value) {
  require(tree.is_number_unsigned(), place, "a whole number of at least 0 was expected");
  value = tree.get<std::uint64_t>();
}

template <class Kind>
void read_kind(const Tree& tree, const Place& place, Kind& value) {
  require(tree.is_string(), place, "a word was expected");
  if (kind_from_word(tree.get_ref<const std::string&>(), value)) return;
  std::string words;
  for (const auto& [kind, word] : kind_words<Kind>()) words.append(words.empty() ? "" : ", ").append(word);
  refuse(place, "the word is not one of: " + words);
}

template <class Map>
void read_map(const Tree& tree, const Place& place, Map& map) {
  require(tree.is_object(), place, "an object was expected");
  map.clear();
  for (const auto& [name, text] : tree.items()) read(text, place.at(name), map[name]);
}

template <class T>
void read_list(const Tree& tree, const Place& place, std::vector<T>& list) {
  require(tree.is_array(), place, "a list was expected");
  list.clear();
  list.reserve(tree.size());
  for (std::size_t i = 0; i < tree.size(); ++i) read(tree[i], place.at(i), list.emplace_back());
}

// One branch per kind of field; a struct of the report is walked by its field list.
template <class T>
void read(const Tree& tree, const Place& place, T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    require(tree.is_string(), place, "a text was expected");
    value = tree.get<std::string>();
  } else if constexpr (std::is_same_v<T, double>) {
    require(tree.is_number(), place, "a number was expected");
    value = tree.get<double>();
  } else if constexpr (std::is_same_v<T, bool>) {
    require(tree.is_boolean(), place, "true or false was expected");
    value = tree.get<bool>();
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    read_integer(tree, place, value);
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    read_unsigned(tree, place, value);
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    value.reset();
    if (!tree.is_null()) read(tree, place, value.emplace());
  } else if constexpr (std::is_enum_v<T>) {
    read_kind(tree, place, value);
  } else if constexpr (std::is_same_v<T, StringMap> || std::is_same_v<T, Numbers>) {
    read_map(tree, place, value);
  } else if constexpr (requires { value.emplace_back(); }) {
    read_list(tree, place, value);
  } else {
    Reader reader(tree, place);
    fields(reader, value);
  }
}

// Before anything else, since a report of another schema has other fields.
void check_schema(const Tree& tree, const Place& place) {
  require(tree.is_object(), place, "the file is not a report: an object was expected");
  const auto found = tree.find("schema");
  if (found == tree.end() || !found->is_string())
    refuse(place.at("schema"), "the file is not a gpusizer report: it names no schema");
  const auto& name = found->get_ref<const std::string&>();
  if (name == schema_name) return;
  constexpr std::string_view family = "gpusizer.report/";
  int major = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = name.starts_with(family) ? std::from_chars(name.data() + family.size(), end, major)
                                               : std::from_chars_result{nullptr, std::errc::invalid_argument};
  if (parsed.ec == std::errc() && parsed.ptr == end && major > 1)
    refuse(place.at("schema"), "the report has the newer format \"" + name + "\", this program reads up to 1",
           "read it with a newer gpusizer");
  refuse(place.at("schema"), "the file is not a gpusizer report: its schema is not gpusizer.report/1");
}

}  // namespace

Report report_from_json(std::string_view text, const std::string& file_name) {
  const Tree tree = parse_tree(text, file_name);
  const Place top{file_name, nullptr, {}, 0};
  check_schema(tree, top);
  Report report;
  read(tree, top, report);
  const auto problems = check_report(report);
  if (!problems.empty())
    throw Error(Fault::input, problems.front().what, file_name + ", at " + problems.front().pointer);
  return report;
}

}  // namespace gpusizer::record
