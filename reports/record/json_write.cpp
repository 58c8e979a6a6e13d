// SPDX-License-Identifier: Apache-2.0
// A report to JSON: walks the field lists and builds the tree.
#include <cmath>

#include "gpusizer/error.hpp"
#include "reports/record/check.hpp"
#include "reports/record/fields.hpp"
#include "reports/record/json.hpp"
#include "reports/record/json_tree.hpp"

namespace gpusizer::record {
namespace {


template <class T>
Tree tree_of(const T& value);

// Collects the fields of one struct into one object.
class Writer {
 public:
  template <class T>
  void field(const char* name, const T& value) {
    object_[name] = tree_of(value);
  }
  template <class T>
  void field(const char* name, const Maybe<T>& value) {
    object_[name] = nullptr;
    if (!value) reasons_[name] = value.null_reason();
    else if (!std::isfinite(static_cast<double>(*value))) reasons_[name] = "the value was not finite";
    else object_[name] = *value;
  }
  template <class T>
  void nullable(const char* name, const std::optional<T>& value, const std::string& null_reason) {
    object_[name] = value ? tree_of(*value) : Tree(nullptr);
    if (!value) reasons_[name] = null_reason.empty() ? "not recorded" : null_reason;
  }
  template <class T>
  void absent_or(const char* name, const std::optional<T>& value) {
    if (value) object_[name] = tree_of(*value);
  }
  void reason(const char* name, const std::string& text) {
    if (!text.empty()) object_[name] = text;
  }
  void numbers(const char* name, const Numbers& values) {
    if (!values.empty()) object_[name] = tree_of(values);
  }
  void unknown(const UnknownFields& unknown_fields) {
    for (const auto& [name, text] : unknown_fields)
      if (name == reasons_key) reasons_.update(parse_tree(text, "an unknown field"));
    if (!reasons_.empty()) object_[reasons_key] = reasons_;
    for (const auto& [name, text] : unknown_fields)
      if (name != reasons_key) object_[name] = parse_tree(text, "an unknown field");
  }

  Tree result() { return std::move(object_); }

 private:
  Tree object_ = Tree::object(), reasons_ = Tree::object();
};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

Tree object_of(const Numbers& numbers) {
  Tree object = Tree::object();
  for (const auto& [name, number] : numbers)
    object[name] = number && std::isfinite(*number) ? Tree(*number) : Tree(nullptr);
  return object;
}

template <class T>
Tree tree_of(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return to_word(value);
  } else if constexpr (IsOptional<T>::value) {
    return value ? Tree(*value) : Tree(nullptr);
  } else if constexpr (IsVector<T>::value) {
    Tree list = Tree::array();
    for (const auto& item : value) list.push_back(tree_of(item));
    return list;
  } else if constexpr (std::is_same_v<T, StringMap>) {
    Tree object = Tree::object();
    auto& members = static_cast<Tree::object_t::Container&>(object.get_ref<Tree::object_t&>());
    for (const auto& [name, text] : value) members.emplace_back(name, text);
    return object;
  } else if constexpr (std::is_same_v<T, Numbers>) {
    return object_of(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else {
    Writer writer;
    fields(writer, value);
    return writer.result();
  }
}

}  // namespace

std::string to_json(const Report& report) {
  const auto problems = check_report(report);
  if (!problems.empty())
    throw Error(Fault::failed, "the report was not written: " + problems.front().what, problems.front().pointer,
                "this is a fault of gpusizer, please report it");
  return print_tree(tree_of(report));
}

}  // namespace gpusizer::record
