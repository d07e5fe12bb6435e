#include "optim/saved_state.h"

#include <torch/types.h>

namespace traffic::train {

void put_adam(checkpoint::Snapshot& snapshot, const std::string& prefix, const Adam& adam) {
  snapshot.put_tensor(prefix + "/exp_avg", adam.exp_avg());
  snapshot.put_tensor(prefix + "/exp_avg_sq", adam.exp_avg_sq());
  snapshot.put_int(prefix + "/num_steps", adam.num_steps());
}

void restore_adam(const checkpoint::Snapshot& snapshot, const std::string& prefix, Adam& adam) {
  const at::IntArrayRef sizes = adam.exp_avg().sizes();
  adam.restore(snapshot.tensor(prefix + "/exp_avg", sizes, torch::kFloat),
               snapshot.tensor(prefix + "/exp_avg_sq", sizes, torch::kFloat),
               snapshot.integer(prefix + "/num_steps"));
}

void put_loss_scale(checkpoint::Snapshot& snapshot, const LossScaler& scaler) {
  snapshot.put_real("loss_scale/scale", scaler.state().scale);
  snapshot.put_int("loss_scale/good_in_a_row", scaler.state().good_in_a_row);
  snapshot.put_int("loss_scale/overflows_in_a_row", scaler.state().overflows_in_a_row);
  snapshot.put_int("loss_scale/overflows", scaler.state().overflows);
}

void restore_loss_scale(const checkpoint::Snapshot& snapshot, LossScaler& scaler) {
  if (!snapshot.contains("loss_scale/scale")) return;
  scaler.restore({.scale = snapshot.real("loss_scale/scale"),
                  .good_in_a_row = snapshot.integer("loss_scale/good_in_a_row"),
                  .overflows_in_a_row = snapshot.integer("loss_scale/overflows_in_a_row"),
                  .overflows = snapshot.integer("loss_scale/overflows")});
}

}  // namespace traffic::train
