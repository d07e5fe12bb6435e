#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "driving/policy_driver.h"
#include "traffic/core/error.h"
#include "traffic/driving/guarded_driver.h"
#include "traffic/driving/rule_drivers.h"
#include "traffic/train/closed_loop/drive_evaluation.h"

namespace traffic::train {

std::unique_ptr<driving::Driver> make_driver(const std::string& name) {
  if (name == kSumoDriver) return nullptr;
  if (name == "idm") return std::make_unique<driving::IdmDriver>();
  if (name == "constant_velocity") return std::make_unique<driving::ConstantVelocityDriver>();
  constexpr std::string_view kCheckpoint = "checkpoint:";
  if (name.starts_with(kCheckpoint)) return load_driver(name.substr(kCheckpoint.size()));
  if (name.starts_with(kGuarded)) {
    if (auto driver = make_driver(name.substr(kGuarded.size()))) {
      return std::make_unique<driving::GuardedDriver>(std::move(driver));
    }
    throw ConfigError("--driver: found '{}', but SUMO's own driver makes no plans to guard", name);
  }
  throw ConfigError(
      "--driver: found '{}', expected sumo, idm, constant_velocity or checkpoint:PATH; each of "
      "these except sumo may have the prefix guarded:, as in guarded:idm",
      name);
}

std::vector<std::string> drivers_to_compare(std::vector<std::string> names) {
  std::erase(names, kSumoDriver);
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) {
    throw ConfigError("--driver: found the same driver twice in {}; give each one once",
                      fmt::join(names, ", "));
  }
  names.insert(names.begin(), kSumoDriver);
  for (const std::string& name : names) make_driver(name);
  return names;
}

}  // namespace traffic::train
