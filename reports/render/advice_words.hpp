// SPDX-License-Identifier: Apache-2.0
// Numbers and sentences of the sizing answer, the same in the terminal and in Markdown.
#pragma once

#include <string>
#include <vector>

#include "reports/sizing/advice.hpp"

namespace gpusizer::render {

// "1,281,167", "2,500", "64.06", "0.3907": thousands grouped, at least four significant digits.
std::string number_words(double value);

// "$1,310.80", "$35.17", "$0.0123": cents from a dollar on, below it three significant digits. Never "$0" for a price
// above 0.
std::string usd_words(double usd);

// "64.1 s", "96.1 min", "14.2 h", "5.3 d".
std::string duration_words(double seconds);

// "20,000 (19,800 to 20,200)"; "20,000 (interval not known)".
std::string interval_words(const sizing::Interval& interval);

// "$0.1785/h 2026-07-20", with the market before the date if it is not on-demand; or why there is no price.
std::string price_words(const sizing::Offer& offer);

// "aws us-east-1".
std::string place_words(const cloud::Instance& instance);

// "kept", "too slow", "maybe too dear", "cost unknown", several joined with ", "; empty when no limit was asked for.
std::string limits_words(const sizing::Offer& offer);

// "1,281,167 samples per epoch, 90 epochs, at most 24.0 h, at most $100.00".
std::string goal_words(const sizing::Goal& goal);

// The answer for one workload in sentences; the last is the cheapest epoch with the date of its price:
// "cheapest: c7i.xlarge us-east-1, $0.0123 per epoch (on-demand $0.1785/h, AWS, as of 2026-07-20)".
std::vector<std::string> summary_sentences(const sizing::WorkloadAdvice& workload, const sizing::Goal& goal);

// How the figure comes to stand for this instance, where the price is from (market, date, age, source), the warnings.
std::vector<std::string> notes_of(const sizing::Offer& offer);

// The notes of all offers, each once, in the order of their first use; and the numbers (from 1) of one offer's:
// "[1,4]".
std::vector<std::string> notes_of(const sizing::WorkloadAdvice& workload);
std::string note_numbers(const sizing::Offer& offer, const std::vector<std::string>& notes);

}  // namespace gpusizer::render
