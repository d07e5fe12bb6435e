/// The data that all ranks exchange after a step, in one small all_reduce.
#pragma once

#include <vector>

#include "monitor/resources.h"
#include "traffic/comm/communicator.h"

namespace traffic::train {

/// Contribution of one rank.
struct Report {
  bool stop = false;                 ///< a stop was requested on this rank
  bool late = false;                 ///< a checkpoint is due by time
  bool time_is_over = false;         ///< the training may begin no further iteration
  bool has_given_up_saving = false;  ///< too many saves of this rank have failed
  double busy_s = 0.0;  ///< duration of the step without waiting for other ranks, in seconds
  Reading reading{};
};

/// Result for all ranks: a request of one rank applies to all.
struct Agreement {
  bool stop = false;
  bool late = false;
  bool time_is_over = false;
  bool has_given_up_saving = false;
  std::vector<double> busy_s;     ///< [ranks]
  std::vector<Reading> readings;  ///< [ranks]
};

/// Collective.
Agreement agree_on(const Report& mine, comm::Communicator& communicator);

}  // namespace traffic::train
