/// Checks of a scenario: its files, and a few seconds of simulation without control.
#pragma once

#include <vector>

#include "traffic/config/config.h"
#include "traffic/sim/network_study.h"
#include "traffic/train/doctor/doctor.h"

namespace traffic::train {

/// Describes the scenario's conflicts, lights, demand, duration and possible commands, and the
/// settings that the program chooses for it.
/// @param env changed by sim::set_the_obvious()
std::vector<Finding> describe_network(const sim::NetworkStudy& study, config::Env& env);

/// The problems of a run with this configuration.
std::vector<Finding> judge_network(const sim::NetworkStudy& study, const config::Config& config,
                                   const sim::StudyUse& use);

}  // namespace traffic::train
