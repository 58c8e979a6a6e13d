// SPDX-License-Identifier: Apache-2.0
// Lets one list of a struct's fields serve for reading and for writing.
#pragma once

#include <concepts>
#include <type_traits>

namespace gpusizer::record {

// A struct of the report, const (when writing) or not (when reading).
template <class S, class T>
concept Is = std::same_as<std::remove_const_t<S>, T>;

}  // namespace gpusizer::record
