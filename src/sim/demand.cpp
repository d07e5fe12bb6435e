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

std::vector<std::string> words(const char* text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

/// Members with their shares: of a distribution of types or of routes.
using Shares = std::vector<std::pair<std::string, double>>;

Shares normalised(Shares shares) {
  double sum = 0.0;
  for (const auto& [name, share] : shares) sum += share;
  for (auto& [name, share] : shares) share = sum > 0.0 ? share / sum : share;
  return shares;
}

class DemandReader {
 public:
  DemandReader(const SumoOptions& options, double begin_s, std::optional<double> end_s)
      : begin_s_(begin_s),
        end_s_(end_s.value_or(kNever)),
        scale_(options.seconds("scale").value_or(1.0)),
        all_random_(options.find("random-depart-offset").has_value() ||
                    options.find("randomize-flows").value_or("false") == "true") {}

  void read(const fs::path& file) {
    const std::string text = scene::read_text_file(file, "demand");
    pugi::xml_document document;
    const auto result = document.load_buffer(text.data(), text.size());
    if (!result) {
      throw DataError("demand {}: {} at byte {}", file.string(), result.description(),
                      result.offset);
    }
    file_ = file;
    for (const auto root : document.children()) read_children(root, {.begin = begin_s_, .end = {}});
  }

  Demand finish() {
    for (const auto& [who, vehicles] : departures_) {
      for (const auto& [type, type_share] : members(types_, who.first)) {
        for (const auto& [route, route_share] : members(route_groups_, who.second)) {
          demand_.parts.push_back({type, route, vehicles * type_share * route_share});
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

  // NOLINTNEXTLINE(misc-no-recursion): as deep as the file
  void read_children(const pugi::xml_node& parent, const Interval& interval) {
    for (const auto node : parent.children()) {
      const std::string_view name = node.name();
      if (name == "vTypeDistribution") {
        types_[node.attribute("id").as_string()] = shares_of(node, "vType", "vTypes");
      } else if (name == "route") {
        add_route(node, node.attribute("id").as_string());
      } else if (name == "routeDistribution") {
        add_route_group(node, node.attribute("id").as_string());
      } else if (name == "flow") {
        add_flow(node, interval);
      } else if (name == "vehicle" || name == "trip") {
        add_vehicle(node);
      } else if (name == "interval") {
        const auto end = parse_time(node.attribute("end").as_string());
        read_children(node, {parse_time(node.attribute("begin").as_string()).value_or(begin_s_),
                             end ? end : interval.end});
      } else if (name == "include") {
        const fs::path outer = file_;
        read(outer.parent_path() / node.attribute("href").as_string());
        file_ = outer;
      }
    }
  }

  static Shares shares_of(const pugi::xml_node& node, const char* child, const char* list) {
    Shares shares;
    for (const auto member : node.children(child)) {
      const char* id = member.attribute("id") ? member.attribute("id").as_string()
                                              : member.attribute("refId").as_string();
      shares.emplace_back(id, member.attribute("probability").as_double(1.0));
    }
    const auto names = words(node.attribute(list).as_string());
    const auto weights = words(node.attribute("probabilities").as_string());
    for (std::size_t i = 0; i < names.size(); ++i) {
      shares.emplace_back(names[i], i < weights.size() ? std::stod(weights[i]) : 1.0);
    }
    return normalised(std::move(shares));
  }

  /// @return the key of the route
  std::string add_route(const pugi::xml_node& node, std::string id) {
    DemandRoute route{.name = id, .edges = words(node.attribute("edges").as_string())};
    if (id.empty()) {
      id = node.attribute("edges").as_string();
      if (!route.edges.empty()) route.name = route.edges.front() + " to " + route.edges.back();
    }
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
    if (vehicles <= 0.0) return;
    const std::string type = node.attribute("type").as_string(kDefaultType);
    departures_[{type, route_of(node)}] += scale_ * vehicles;
    if (random || all_random_) demand_.random_vehicles += scale_ * vehicles;
  }

  void add_vehicle(const pugi::xml_node& node) {
    const auto depart = parse_time(node.attribute("depart").as_string());
    if (!depart || *depart >= end_s_) return;  // also "triggered" ones, which wait for somebody
    demand_.last_depart_s = std::max(demand_.last_depart_s, *depart);
    add(node, 1.0, false);
  }

  void add_flow(const pugi::xml_node& node, const Interval& interval) {
    const double from = parse_time(node.attribute("begin").as_string()).value_or(interval.begin);
    const auto own_end = parse_time(node.attribute("end").as_string());
    const double until = (own_end ? own_end : interval.end).value_or(kNever);
    const double last = std::min(until, end_s_);
    const double number = node.attribute("number").as_double(0.0);
    const auto rate = rate_of(node);
    if (last == kNever && (number == 0.0 || !rate.per_s)) {
      demand_.has_endless_flow = true;
      return;
    }
    double vehicles = rate.per_s.value_or(0.0) * std::max(0.0, last - from);
    double ends = last;
    if (number > 0.0 && !rate.per_s) {  // spread over its time
      vehicles = until > from ? number * std::max(0.0, last - from) / (until - from) : number;
    } else if (number > 0.0) {
      ends = std::min(last, from + number / *rate.per_s);
      vehicles = *rate.per_s * std::max(0.0, ends - from);
    }
    if (vehicles > 0.0) demand_.last_depart_s = std::max(demand_.last_depart_s, ends);
    add(node, vehicles, rate.random);
  }

  struct Rate {
    std::optional<double> per_s{};
    bool random = false;
  };
  static Rate rate_of(const pugi::xml_node& node) {
    for (const char* hourly : {"vehsPerHour", "perHour"}) {
      if (const auto value = node.attribute(hourly)) return {value.as_double() / 3600.0, false};
    }
    if (const auto value = node.attribute("probability")) return {value.as_double(), true};
    const std::string period = node.attribute("period").as_string();
    if (period.starts_with("exp(")) return {std::stod(period.substr(4)), true};
    if (const auto seconds = parse_time(period); seconds && *seconds > 0.0) {
      return {1.0 / *seconds, false};
    }
    return {};
  }

  double begin_s_;
  double end_s_;
  double scale_;
  bool all_random_;
  fs::path file_;
  Demand demand_;
  std::map<std::string, Shares> types_;
  std::map<std::string, Shares> route_groups_;
  std::map<std::pair<std::string, std::string>, double> departures_;  ///< (type, route) as written
};

}  // namespace

Demand read_demand(const SumoOptions& options, double begin_s, std::optional<double> end_s) {
  DemandReader reader(options, begin_s, end_s);
  for (const char* name : {"additional-files", "route-files"}) {
    for (const fs::path& file : options.files(name)) reader.read(file);
  }
  return reader.finish();
}

}  // namespace traffic::sim
