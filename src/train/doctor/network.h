/// Checks of traffic_doctor on a scenario: describes its road network and traffic, and lists the
/// problems of a run there.
#pragma once

#include <vector>

#include "traffic/config/config.h"
#include "traffic/sim/network_study.h"
#include "traffic/train/doctor/doctor.h"

namespace traffic::train {

/// Describes the scenario's conflicts, lights, demand, duration and possible commands, and the
/// settings that the program chooses for it.
/// @param env receives the settings that sim::set_the_obvious() chooses for the network
std::vector<Finding> describe_network(const sim::NetworkStudy& study, config::Env& env);

/// The problems of a run with this configuration, as warnings and failures.
std::vector<Finding> judge_network(const sim::NetworkStudy& study, const config::Config& config,
                                   const sim::StudyUse& use);

}  // namespace traffic::train
