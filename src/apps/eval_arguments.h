/// The command line of traffic_eval.
#pragma once

#include <string>
#include <vector>

#include "traffic/config/command_line.h"

namespace traffic::apps {

struct EvalArguments {
  std::vector<std::string> scenarios;
  std::vector<std::string> controllers;
  std::string seeds = "0..9";
  int jobs = 0;
  double demand_scale = 1.0;
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

/// @param arguments filled in when the command line is parsed; must outlive the parsing
config::Program eval_program(EvalArguments& arguments);

}  // namespace traffic::apps
