/// The program traffic_train: trains controllers and models. mpirun starts one process of it for
/// each rank.
#include "traffic/core/exit.h"
#include "traffic/train/trainer.h"
#include "traffic/train/trainings.h"

int main(int argc, char** argv) {
  using namespace traffic;
  const config::Program program{
      .name = "traffic_train",
      .description =
          "Trains controllers of connected vehicles, of traffic lights or of both, the world "
          "model that they may build on, and players of the game 3v3 snakes. Start it with "
          "mpirun: one rank for each GPU, or two and more ranks on CPUs."};
  exit_without_destructors(train::run_trainer(argc, argv, program, train::shipped_trainings()));
}
