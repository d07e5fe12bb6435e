/// A trainer of one training: every rank runs this program.
#include "cross_entropy.h"
#include "traffic/train/trainer.h"

int main(int argc, char** argv) {
  using namespace traffic;
  const config::Program program{.name = "cart_pole",
                                .description = "Learns to balance a pole on a cart."};
  return train::run_trainer(argc, argv, program, {example::cross_entropy_training()});
}
