// Counts the vehicles that the route files and additional files of a scenario define.
#include "demand.h"

#include <algorithm>
#include <limits>
#include <pugixml.hpp>
#include <sstream>
#include <string_view>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/scene/text_file.h"

namespace traffic::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultType = "DEFAULT_VEHTYPE";
constexpr double kNever = std::numeric_limits<double>::infinity();
/// Maximum depth of nested intervals and included files. It is more than any sensible scenario
/// needs, and bounds the use of the stack.
constexpr int kDeepest = 16;

std::vector<std::string> words(const char* text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

/// Names of the members of a distribution of types or routes, with their shares.
using Shares = std::vector<std::pair<std::string, double>>;

Shares normalised(Shares shares) {
  double sum = 0.0;
  for (const auto& [name, share] : shares) sum += share;
  for (auto& [name, share] : shares) share = sum > 0.0 ? share / sum : share;
  return shares;
}

/// Whether the element writes measurements to a file of the user.
bool writes_file(const pugi::xml_node& node) {
  static const std::set<std::string_view> detectors{
      "e1Detector", "inductionLoop",     "instantInductionLoop", "e2Detector", "laneAreaDetector",
      "e3Detector", "entryExitDetector", "vTypeProbe",           "routeProbe", "edgeData",
      "laneData",   "meandata"};
  const std::string_view name = node.name();
  if (detectors.contains(name)) return node.attribute("file") != nullptr;
  if (name == "calibrator") return node.attribute("output") != nullptr;
  return name == "timedEvent" && node.attribute("dest") != nullptr;
}

/// Reads files one after the other and adds up their vehicles.
class DemandReader {
 public:
  DemandReader(const SumoOptions& options, double begin_s, std::optional<double> end_s)
      : begin_s_(begin_s),
        end_s_(end_s.value_or(kNever)),
        scale_(options.number("scale").value_or(1.0)),
        all_random_(options.seconds("random-depart-offset").value_or(0.0) > 0.0 ||
                    options.is_on("randomize-flows")) {}

  void read(const fs::path& file) {
    refuse_pipe(file);
    std::error_code error;  // such as a loop of symbolic links: read_text_file() then throws
    const fs::path known = fs::weakly_canonical(file, error);
    if (std::find(open_.begin(), open_.end(), known) != open_.end()) {
      throw EndlessFile("demand {}: the file includes itself", file.string());
    }
    const std::string text = scene::read_text_file(file, "demand");
    pugi::xml_document document;
    const auto result = document.load_buffer(text.data(), text.size());
    if (!result) {
      throw DataError("demand {} is not valid XML: {} at byte {}", file.string(),
                      result.description(), result.offset);
    }
    open_.push_back(known);
    for (const auto root : document.children()) {
      read_children(root, {.begin = begin_s_, .end = {}}, 0);
    }
    open_.pop_back();
  }

  /// Divides the vehicles of distributions among their types and routes.
  Demand finish() {
    for (const auto& [who, vehicles] : departures_) {
      for (const auto& [type, type_share] : members(types_, who.first)) {
        for (const auto& [route, route_share] : members(route_groups_, who.second)) {
          demand_.parts.push_back(
              {type, route, vehicles * scale_of(type) * type_share * route_share});
        }
      }
    }
    return std::move(demand_);
  }

 private:
  /// Times that an enclosing <interval> gives to its flows.
  struct Interval {
    double begin = 0;
    std::optional<double> end{};
  };

  static Shares members(const std::map<std::string, Shares>& groups, const std::string& name) {
    const auto found = groups.find(name);
    return found == groups.end() ? Shares{{name, 1.0}} : found->second;
  }

  [[nodiscard]] double scale_of(const std::string& type) const {
    const auto found = type_scales_.find(type);
    return found == type_scales_.end() ? 1.0 : found->second;
  }

  /// Parses a number. A text that SUMO would refuse is an error here, so that it does not count as
  /// 0.
  [[nodiscard]] double number_in(std::string_view text, const char* what) const {
    if (const auto value = parse_number(text)) return *value;
    throw DataError("demand {}: {} is '{}', expected a number", open_.back().string(), what, text);
  }

  // NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
  void read_children(const pugi::xml_node& parent, const Interval& interval, int depth) {
    if (depth > kDeepest || open_.size() > kDeepest) {
      throw EndlessFile("demand {}: intervals or included files are nested more than {} deep",
                        open_.back().string(), kDeepest);
    }
    for (const auto node : parent.children()) {
      const std::string_view name = node.name();
      if (writes_file(node)) demand_.outputs.emplace(name);
      if (name == "vType") {
        add_type(node);
      } else if (name == "vTypeDistribution") {
        for (const auto type : node.children("vType")) add_type(type);
        types_[node.attribute("id").as_string()] = shares_of(node, "vType", "vTypes");
      } else if (name == "route") {
        add_route(node, node.attribute("id").as_string());
      } else if (name == "routeDistribution") {
        add_route_group(node, node.attribute("id").as_string());
      } else if (name == "flow") {
        add_flow(node, interval);
      } else if (name == "vehicle" || name == "trip") {
        add_vehicle(node);
      } else if (name == "calibrator") {
        if (node.child("flow")) demand_.sources.emplace(name);
      } else if (name == "interval") {
        const auto end = parse_time(node.attribute("end").as_string());
        read_children(node,
                      {parse_time(node.attribute("begin").as_string()).value_or(begin_s_),
                       end ? end : interval.end},
                      depth + 1);
      } else if (name == "include") {
        read(open_.back().parent_path() / node.attribute("href").as_string());
      }
    }
  }

  void add_type(const pugi::xml_node& node) {
    const std::string id = node.attribute("id").as_string();
    if (const auto scale = node.attribute("scale")) {
      type_scales_[id] = number_in(scale.as_string(), "the scale of a vType");
    }
    add_probability(node, id);
  }

  /// Stores the probability of a type or route. Distributions that only name the type or route use
  /// it.
  void add_probability(const pugi::xml_node& node, const std::string& id) {
    if (const auto share = node.attribute("probability")) {
      probabilities_[{node.name(), id}] = number_in(share.as_string(), "a probability");
    }
  }

  [[nodiscard]] double probability_of(const char* kind, const std::string& id) const {
    const auto found = probabilities_.find({kind, id});
    return found == probabilities_.end() ? 1.0 : found->second;
  }

  Shares shares_of(const pugi::xml_node& node, const char* child, const char* list) const {
    Shares shares;
    for (const auto member : node.children(child)) {
      const std::string id = member.attribute("id") ? member.attribute("id").as_string()
                                                    : member.attribute("refId").as_string();
      const auto own = member.attribute("probability");
      shares.emplace_back(
          id, own ? number_in(own.as_string(), "a probability") : probability_of(child, id));
    }
    const auto names = words(node.attribute(list).as_string());
    const auto weights = words(node.attribute("probabilities").as_string());
    for (std::size_t i = 0; i < names.size(); ++i) {
      shares.emplace_back(names[i], i < weights.size() ? number_in(weights[i], "a probability")
                                                       : probability_of(child, names[i]));
    }
    return normalised(std::move(shares));
  }

  /// @return the route's key in Demand::routes
  std::string add_route(const pugi::xml_node& node, std::string id) {
    DemandRoute route{.name = id, .edges = words(node.attribute("edges").as_string())};
    if (id.empty()) {
      id = node.attribute("edges").as_string();
      if (!route.edges.empty()) route.name = route.edges.front() + " to " + route.edges.back();
    }
    add_probability(node, id);
    demand_.routes.emplace(id, std::move(route));
    return id;
  }

  std::string add_route_group(const pugi::xml_node& node, std::string id) {
    if (id.empty()) id = "routes " + std::to_string(route_groups_.size());
    Shares shares = shares_of(node, "route", "routes");
    std::size_t i = 0;
    for (const auto route : node.children("route")) {
      if (!route.attribute("refId")) {
        shares[i].first = add_route(route, route.attribute("id").as_string());
      }
      ++i;
    }
    route_groups_[id] = std::move(shares);
    return id;
  }

  std::string route_of(const pugi::xml_node& node) {
    if (node.attribute("route")) return node.attribute("route").as_string();
    if (const auto own = node.child("route")) return add_route(own, "");
    if (const auto group = node.child("routeDistribution")) return add_route_group(group, "");
    const auto end_of = [&](const char* edge, const char* junction, const char* zone) {
      for (const char* name : {edge, junction, zone}) {
        if (node.attribute(name)) return std::string(node.attribute(name).as_string());
      }
      return std::string("?");
    };
    const std::string key =
        end_of("from", "fromJunction", "fromTaz") + " to " + end_of("to", "toJunction", "toTaz");
    demand_.routes.emplace(key, DemandRoute{.name = key, .edges = {}});
    return key;
  }

  void add(const pugi::xml_node& node, double vehicles, bool random) {
    if (!(vehicles > 0.0)) return;  // also NaN, from a flow with a number of vehicles and rate 0
    const std::string type = node.attribute("type").as_string(kDefaultType);
    departures_[{type, route_of(node)}] += scale_ * vehicles;
    if (random || all_random_) demand_.random_vehicles += scale_ * vehicles;
  }

  void add_vehicle(const pugi::xml_node& node) {
    const std::string text = node.attribute("depart").as_string();
    const bool at_once = text == "now" || text == "begin";
    const auto depart = at_once ? std::optional(begin_s_) : parse_time(text);
    if (!depart) {  // "triggered" and the like: the vehicle waits for a person or another vehicle
      demand_.sources.emplace("vehicle depart='" + text + "'");
      return;
    }
    if (*depart < begin_s_ || *depart >= end_s_) return;  // SUMO skips vehicles before the begin
    demand_.last_depart_s = std::max(demand_.last_depart_s, *depart);
    add(node, 1.0, false);
  }

  void add_flow(const pugi::xml_node& node, const Interval& interval) {
    const auto own_begin = parse_time(node.attribute("begin").as_string());
    const double from = own_begin.value_or(interval.begin);
    const auto own_end = parse_time(node.attribute("end").as_string());
    const double until = (own_end ? own_end : interval.end).value_or(kNever);
    const auto number_text = node.attribute("number");
    const double number =
        number_text ? number_in(number_text.as_string(), "the number of a flow") : 0.0;
    const auto rate = rate_of(node);
    double last = std::min(until, end_s_);
    if (last == kNever && number > 0.0 && !rate.per_s) {
      last = from;  // all vehicles depart at once
    } else if (last == kNever && number == 0.0) {
      demand_.has_endless_flow = true;
      last = std::max(from, begin_s_) + kEndlessFlowCounted_s;
    }
    double vehicles = 0.0;
    double ends = last;
    if (number > 0.0 && !rate.per_s) {  // spread over the flow's time
      const double whole_s = (until < kNever ? until : last) - from;
      vehicles = whole_s > 0.0 ? number * counted_s(from, last) / whole_s : number;
    } else if (number > 0.0) {
      ends = std::min(last, from + number / *rate.per_s);
      vehicles = *rate.per_s * counted_s(from, ends);
    } else {
      vehicles = rate.per_s.value_or(0.0) * counted_s(from, last);
    }
    if (vehicles > 0.0) demand_.last_depart_s = std::max(demand_.last_depart_s, ends);
    add(node, vehicles, rate.random);
  }

  /// The length of the part of a flow's time in which its vehicles enter. SUMO skips vehicles
  /// before the begin.
  [[nodiscard]] double counted_s(double from, double until) const {
    return std::max(0.0, until - std::max(from, begin_s_));
  }

  struct Rate {
    std::optional<double> per_s{};
    bool random = false;
  };
  [[nodiscard]] Rate rate_of(const pugi::xml_node& node) const {
    for (const char* hourly : {"vehsPerHour", "perHour"}) {
      if (const auto value = node.attribute(hourly)) {
        return {number_in(value.as_string(), hourly) / 3600.0, false};
      }
    }
    if (const auto value = node.attribute("probability")) {
      return {number_in(value.as_string(), "the probability of a flow"), true};
    }
    const std::string period = node.attribute("period").as_string();
    if (period.starts_with("exp(") && period.ends_with(")")) {
      return {number_in(std::string_view(period).substr(4, period.size() - 5),
                        "the rate of a flow's period=\"exp(rate)\""),
              true};
    }
    if (const auto seconds = parse_time(period); seconds && *seconds > 0.0) {
      return {1.0 / *seconds, false};
    }
    return {};
  }

  double begin_s_;
  double end_s_;
  double scale_;
  bool all_random_;
  std::vector<fs::path> open_;  ///< the files that are being read; each one includes the next
  Demand demand_;
  std::map<std::string, Shares> types_;
  std::map<std::string, double> type_scales_;
  std::map<std::string, Shares> route_groups_;
  std::map<std::pair<std::string, std::string>, double> probabilities_;  ///< (element, id)
  std::map<std::pair<std::string, std::string>, double> departures_;     ///< (type, route)
};

}  // namespace

void refuse_pipe(const fs::path& file) {
  std::error_code error;
  if (!fs::is_fifo(file, error)) return;
  throw EndlessFile(
      "file {}: is a pipe, from which a program can read only once; write its content to a file "
      "and "
      "name that",
      file.string());
}

Demand read_demand(const SumoOptions& options, double begin_s, std::optional<double> end_s) {
  DemandReader reader(options, begin_s, end_s);
  for (const char* name : {"additional-files", "route-files"}) {
    for (const fs::path& file : options.files(name)) reader.read(file);
  }
  return reader.finish();
}

}  // namespace traffic::sim
