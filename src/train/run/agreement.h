/// What all ranks tell each other after a step, in one small all_reduce.
#pragma once

#include <vector>

#include "run/resources.h"
#include "traffic/comm/communicator.h"

namespace traffic::train {

/// Of one rank.
struct Report {
  bool stop = false;                 ///< it was asked to
  bool late = false;                 ///< a checkpoint is due by its clock
  bool has_given_up_saving = false;  ///< its saves have failed too often
  double busy_s = 0.0;               ///< of the step, without waiting for other ranks
  Reading reading{};
};

/// Of all: a wish of one is a wish of all.
struct Agreement {
  bool stop = false;
  bool late = false;
  bool has_given_up_saving = false;
  std::vector<double> busy_s;     ///< [ranks]
  std::vector<Reading> readings;  ///< [ranks]
};

/// Collective.
Agreement agree_on(const Report& mine, comm::Communicator& communicator);

}  // namespace traffic::train
