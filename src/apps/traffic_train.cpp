/// The trainer: every rank runs this program.
#include "traffic/train/trainer.h"
#include "traffic/train/trainings.h"

int main(int argc, char** argv) {
  using namespace traffic;
  const config::Program program{.name = "traffic_train",
                                .description =
                                    "Trains a controller of connected vehicles. Start it with "
                                    "mpirun, one rank per GPU or per CPU share."};
  return train::run_trainer(argc, argv, program, train::shipped_trainings());
}
