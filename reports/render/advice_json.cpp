// SPDX-License-Identifier: Apache-2.0
// The sizing answer as JSON, every number in full.
#include <nlohmann/json.hpp>

#include "cloud/catalog/iso_date.hpp"
#include "reports/render/advice.hpp"

namespace gpusizer::render {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json interval(const sizing::Interval& of) {
  return {{"value", of.value}, {"low", or_null(of.low)}, {"high", or_null(of.high)}};
}

Json interval_or_null(const std::optional<sizing::Interval>& of) { return of ? interval(*of) : Json(nullptr); }

Json verdict(sizing::Verdict of) {
  switch (of) {
    case sizing::Verdict::yes:
      return "yes";
    case sizing::Verdict::no:
      return "no";
    case sizing::Verdict::uncertain:
      return "uncertain";
    case sizing::Verdict::no_price:
      return "no_price";
    case sizing::Verdict::not_asked:
      break;
  }
  return nullptr;
}

Json basis(sizing::Basis of) {
  if (of == sizing::Basis::detected) return "detected";
  return of == sizing::Basis::stated ? "stated" : "same_gpus";
}

Json reference(const sizing::CaseReference& of) {
  return {{"report", of.report},
          {"case", of.case_id},
          {"started_utc", text_or_null(of.started_utc)},
          {"host", text_or_null(of.host_name)}};
}

Json goal(const sizing::Goal& of) {
  Json prices = Json::array();
  for (const sizing::PriceOverride& price : of.prices)
    prices.push_back({{"name", price.name}, {"usd_per_hour", price.usd_per_hour}});
  return {{"dataset_samples", of.dataset_samples},
          {"epochs", of.epochs},
          {"deadline_seconds", or_null(of.deadline_seconds)},
          {"budget_usd", or_null(of.budget_usd)},
          {"include_spot", of.include_spot},
          {"prices", prices},
          {"date", cloud::iso_date(of.now)}};
}

Json figure(const sizing::Figure& of) {
  Json cases = Json::array();
  for (const sizing::CaseReference& one : of.cases) cases.push_back(reference(one));
  return {{"cloud", text_or_null(of.hardware.cloud)},
          {"instance", text_or_null(of.hardware.instance)},
          {"gpu", text_or_null(of.hardware.gpu)},
          {"gpu_count", of.hardware.gpu_count},
          {"precision", of.variant.precision},
          {"batch_per_replica", of.variant.batch_per_replica},
          {"replicas", of.variant.replicas},
          {"threads", of.variant.threads > 0 ? Json(of.variant.threads) : Json(nullptr)},
          {"samples_per_second", interval(of.samples_per_second)},
          {"provenance", "measured"},
          {"cases", cases},
          {"warnings", of.warnings}};
}

Json price(const sizing::Offer& offer) {
  if (!offer.price) return nullptr;
  const cloud::Price& of = *offer.price;
  return {{"usd_per_hour", of.usd_per_hour},
          {"market", of.market},
          {"as_of", of.as_of},
          {"as_of_note", text_or_null(of.as_of_note)},
          {"age_days", or_null(offer.price_age_days)},
          {"age_warning", text_or_null(offer.price_age_warning)},
          {"flag", text_or_null(of.flag)},
          {"source", of.source},
          {"billing", offer.billing}};
}

Json offer(const sizing::Offer& of) {
  return {{"cloud", of.instance.cloud},
          {"instance", of.instance.name},
          {"region", text_or_null(of.instance.region)},
          {"gpu", text_or_null(of.instance.gpu)},
          {"gpu_count", of.instance.gpu_count},
          {"vcpus", or_null(of.instance.vcpus)},
          {"memory_gib", or_null(of.instance.memory_gib)},
          {"figure", of.figure},
          {"basis", basis(of.basis)},
          {"samples_per_second", interval(of.samples_per_second)},
          {"epoch_seconds", interval(of.epoch_seconds)},
          {"epoch_usd", interval_or_null(of.epoch_usd)},
          {"total_seconds", interval(of.total_seconds)},
          {"total_usd", interval_or_null(of.total_usd)},
          {"meets_deadline", verdict(of.meets_deadline)},
          {"meets_budget", verdict(of.meets_budget)},
          {"price", price(of)},
          {"price_null_reason", text_or_null(of.price_null_reason)},
          {"cheapest", of.cheapest},
          {"fastest", of.fastest},
          {"pareto", of.pareto},
          {"recommended", of.recommended},
          {"warnings", of.warnings}};
}

Json workload(const sizing::WorkloadAdvice& of) {
  Json figures = Json::array(), offers = Json::array();
  for (const sizing::Figure& one : of.figures) figures.push_back(figure(one));
  for (const sizing::Offer& one : of.offers) offers.push_back(offer(one));
  return {{"model", of.workload.model},
          {"model_options", of.workload.model_options},
          {"data", of.workload.data},
          {"data_options", of.workload.data_options},
          {"optimizer", of.workload.optimizer},
          {"unit", of.workload.unit},
          {"figures", figures},
          {"offers", offers}};
}

Json set_aside(const sizing::SetAside& of) {
  Json json = reference(of.reference);
  json["workload"] = of.workload;
  json["samples_per_second"] = or_null(of.samples_per_second);
  json["reason"] = of.reason;
  return json;
}

}  // namespace

std::string advice_json(const sizing::Advice& advice) {
  Json workloads = Json::array(), aside = Json::array();
  for (const sizing::WorkloadAdvice& one : advice.workloads) workloads.push_back(workload(one));
  for (const sizing::SetAside& one : advice.set_aside) aside.push_back(set_aside(one));
  const Json json = {{"schema", "gpusizer.advice/1"}, {"goal", goal(advice.goal)}, {"catalog", advice.catalog_origin},
                     {"workloads", workloads},        {"set_aside", aside},        {"not_counted", advice.not_counted}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpusizer::render
