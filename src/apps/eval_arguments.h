/// The command line of traffic_eval.
#pragma once

#include <string>
#include <vector>

#include "traffic/config/command_line.h"

namespace traffic::apps {

/// Values of the options of traffic_eval; eval_arguments.cpp describes each option.
struct EvalArguments {
  std::vector<std::string> scenarios;
  std::vector<std::string> controllers;
  std::string seeds = "0..9";
  int jobs = 0;
  double demand_scale = 1.0;
  bool emissions = false;
  bool shows_all = false;
  bool prints_json = false;
  std::string json_path;
  std::string csv;
  std::string replay;
  std::string corrections;
  std::vector<std::string> against;
  int games = 1000;
  std::vector<std::string> drivers;
  int egos = 12;
  double warm_up_s = 60.0;
  double duration_s = 60.0;
};

/// Describes the program and its options to config::parse_command_line().
/// @param arguments receives the values of the options; must outlive the parsing
config::Program eval_program(EvalArguments& arguments);

}  // namespace traffic::apps
