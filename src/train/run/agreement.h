/// The data that all ranks exchange after a step of a training, in one small all_reduce: requests
/// to stop or save, and measurements for the log.
#pragma once

#include <vector>

#include "monitor/resources.h"
#include "traffic/comm/communicator.h"

namespace traffic::train {

/// The requests and measurements of one rank.
struct Report {
  bool stop = false;          ///< a stop was requested on this rank
  bool late = false;          ///< a checkpoint is due because of checkpoint.save_interval_s
  bool time_is_over = false;  ///< the training has used up its time, so that no iteration may begin
  bool has_given_up_saving = false;  ///< too many saves in a row have failed (only rank 0 saves)
  double busy_s = 0.0;  ///< duration of the step without waiting for other ranks, in seconds
  Reading reading{};    ///< memory and load of the machine
};

/// Result of the exchange, equal on all ranks. A request is true if it is true on any rank.
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
