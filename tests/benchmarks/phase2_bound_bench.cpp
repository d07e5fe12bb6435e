// Measures the minimum cost of an environment step of phase 2: SUMO's own step and the arithmetic
// of the model. The arithmetic is that of encoder, world model, controller and learning epochs, in
// the batches of the training loop.
//   bench_phase2_bound [scenario]
// The model has small sizes (hidden 64). There is one decision per simulated second, and learning
// has 10 epochs. Times are CPU time of one core, so that other load has less influence.
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <libsumo/Simulation.h>
#include <libsumo/Vehicle.h>
#include <sys/wait.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <functional>
#include <list>
#include <span>
#include <vector>

#include "benchmarks/random_answer.h"
#include "benchmarks/synthetic_windows.h"
#include "sim/sumo_session.h"
#include "support/uniforms.h"
#include "traffic/core/error.h"
#include "traffic/model/controller.h"
#include "traffic/model/graph_encoder.h"
#include "traffic/model/memory.h"
#include "traffic/model/world_model.h"
#include "traffic/scene/frame.h"
#include "traffic/sim/scenario.h"
#include "train/policy/perception.h"
#include "train/policy/policy.h"

namespace {

using namespace traffic;
using benchmarks::Answer;
using benchmarks::kCandidates;
using benchmarks::kConnected;

constexpr std::size_t kProcesses = 2;     // number of simulations, as in compare_phase2.py
constexpr std::int64_t kSimulations = 1;  // simulations per batch, on each of two ranks
constexpr std::int64_t kMinibatch = 64;   // states per rank: 128 on two ranks
constexpr int kEpochs = 10;
constexpr int kSteps = 900;  // an episode of `merge`

double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

struct Sumo {
  double step_s = 0;
  double vehicles = 0;
};

/// @param before_step is called before every step and once after the last
Sumo simulate(const std::string& scenario, int seed, const std::function<void()>& before_step) {
  sim::SumoSession session;
  session.load({.sumocfg = sim::find_scenario(scenario),
                .seed = static_cast<std::uint64_t>(seed),
                .args = {},
                .settings = {}});
  Sumo result;
  for (int s = 0; s < kSteps; ++s) {
    before_step();
    const double start = cpu_s();
    libsumo::Simulation::step();
    result.step_s += (cpu_s() - start) / kSteps;
    result.vehicles += static_cast<double>(libsumo::Vehicle::getIDCount()) / kSteps;
  }
  before_step();
  return result;
}

using Pipe = std::array<int, 2>;

template <typename T>
T take(const Pipe& from) {
  T value{};
  TRAFFIC_CHECK(read(from[0], &value, sizeof(T)) == sizeof(T), "a simulation ended early");
  return value;
}

template <typename T>
void put(const T& value, const Pipe& into) {
  TRAFFIC_CHECK(write(into[1], &value, sizeof(T)) == sizeof(T),
                "the reader of a pipe has closed it");
}

/// The sizes of compare_phase2.py.
config::Config small() {
  config::Config config;
  config.model = {.hidden_dim = 64,
                  .gnn_layers = 2,
                  .num_heads = 4,
                  .lstm_hidden = 64,
                  .lstm_layers = 1,
                  .latent_dim = 32};
  config.vehicles.hidden_dim = 64;
  return config;
}

/// The computations of the model for a batch of simulations between two of their steps.
class Inference {
 public:
  explicit Inference(std::int64_t vehicles)
      : widths_(train::Perception(small(), 1, torch::kCPU).widths()),
        encoder_(small().model, kFeatures),
        world_(small().model, 5),
        controller_(small().vehicles, widths_),
        windows_(benchmarks::make_windows(kSimulations, kFeatures, 1, 1, vehicles)),
        seen_(field_of_connected()),
        state_(world_->zero_state(seen_.chosen.size(0))),
        batch_(candidates(kSimulations)),
        rows_(torch::arange(kSimulations * kCandidates, torch::kLong)) {
    encoder_->pack_for_inference();
    world_->pack_for_inference();
  }

  void run() {
    const torch::InferenceMode inference;
    const torch::Tensor hidden = world_->step(encoder_->forward(seen_), state_);
    world_->latents(hidden.index_select(0, rows_));
    controller_->forward(batch_);
  }
  [[nodiscard]] model::CandidateBatch candidates(std::int64_t states) const {
    return {torch::randn({states * kCandidates, widths_.own}),
            torch::randn({states, widths_.shared}),
            torch::arange(states, torch::kLong).repeat_interleave(kCandidates)};
  }
  [[nodiscard]] const model::ControllerInputs& widths() const { return widths_; }
  [[nodiscard]] model::Controller& controller() { return controller_; }

 private:
  [[nodiscard]] model::ReceptiveField field_of_connected() const {
    std::vector<std::int64_t> connected;
    for (std::int64_t v = 0; v < windows_.vehicles; v += kConnected) connected.push_back(v);
    return model::receptive_field(windows_.graph, connected, encoder_->num_layers());
  }

  static inline const auto kFeatures = static_cast<std::int64_t>(scene::node_features().size());

  model::ControllerInputs widths_;
  model::GraphEncoder encoder_;
  model::WorldModel world_;
  model::Controller controller_;
  benchmarks::Windows windows_;
  model::ReceptiveField seen_;
  model::LstmState state_;
  model::CandidateBatch batch_;
  torch::Tensor rows_;
};

struct InTurn {
  Sumo sumo;           ///< mean over all simulations
  double infer_s = 0;  ///< time of the model's inference per environment step
};

/// Runs simulations in separate processes, which take turns with each other and with the model, as
/// in the training loop. Each step then finds the processor's cache as the other simulations left
/// it.
InTurn simulate_in_turn(const std::string& scenario, std::int64_t vehicles) {
  // The model runs after every kSimulations simulations.
  constexpr auto kBatch = static_cast<std::size_t>(kSimulations);
  constexpr std::size_t kTurns = kProcesses + kProcesses / kBatch;
  std::array<Pipe, kTurns> turns{};
  Pipe results{};
  TRAFFIC_CHECK(pipe(results.data()) == 0, "cannot create a pipe");
  for (Pipe& turn : turns) TRAFFIC_CHECK(pipe(turn.data()) == 0, "cannot create a pipe");
  for (std::size_t p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    TRAFFIC_CHECK(child >= 0, "cannot fork a process");
    if (child > 0) continue;
    const std::size_t mine = p + p / kBatch;
    bool is_mine = false;
    const auto pass_on_and_wait = [&] {
      if (is_mine) put('.', turns[mine + 1]);
      is_mine = take<char>(turns[mine]) != 0;
    };
    put(simulate(scenario, static_cast<int>(p), pass_on_and_wait), results);
    put('.', turns[mine + 1]);
    _exit(0);
  }
  Inference inference(vehicles);
  InTurn mean;
  put('.', turns[0]);
  for (int round = 0; round <= kSteps; ++round) {
    for (std::size_t turn = kBatch; turn < kTurns; turn += kBatch + 1) {
      take<char>(turns[turn]);
      const double start = cpu_s();
      inference.run();
      mean.infer_s += cpu_s() - start;
      put('.', turns[(turn + 1) % kTurns]);
    }
  }
  mean.infer_s /= static_cast<double>((kSteps + 1) * kProcesses);
  for (std::size_t p = 0; p < kProcesses; ++p) {
    const auto one = take<Sumo>(results);
    mean.sumo.step_s += one.step_s / kProcesses;
    mean.sumo.vehicles += one.vehicles / kProcesses;
  }
  while (wait(nullptr) > 0) {
  }
  return mean;
}

double seconds_of(const std::function<void()>& work) {
  constexpr int kTimes = 200;
  for (int i = 0; i < 20; ++i) work();
  const double start = cpu_s();
  for (int i = 0; i < kTimes; ++i) work();
  return (cpu_s() - start) / kTimes;
}

/// Time per environment step from the answers of simulations to decisions, as in the training loop.
double perceive_and_decide_s(double vehicles) {
  const config::Config config = small();
  train::Perception perception(config, 1, torch::kCPU);
  perception.freeze();
  train::Policy policy(config, perception.widths(), torch::kCPU);
  std::list<Answer> answers;
  std::vector<train::ObservationInput> sightings;
  for (std::int64_t i = 0; i < kSimulations; ++i) {
    Answer& answer =
        answers.emplace_back(static_cast<std::uint64_t>(i), static_cast<std::int64_t>(vehicles));
    sightings.push_back({.period = &answer.period, .memory = &answer.memory});
  }
  const torch::Tensor may_pick = torch::full({kSimulations}, policy.top_k(), torch::kLong);
  Rng rng(1);
  return seconds_of([&] {
           const train::ObservationBatch seen = perception.observe(sightings);
           policy.decide({.own = seen.own,
                          .shared = seen.shared,
                          .segments = rl::Segments(torch::tensor(seen.candidate_ptr))},
                         may_pick,
                         test::draw_uniforms(rng, {seen.own.size(0), policy.uniform_columns()}));
         }) /
         static_cast<double>(kSimulations);
}

struct Model {
  double infer_s = 0;  ///< inference per environment step, on one core
  double learn_s = 0;  ///< learning per environment step, on one core
};

Model arithmetic(double vehicles) {
  Inference inference(static_cast<std::int64_t>(vehicles));
  const double infer_s = seconds_of([&] { inference.run(); });

  const auto minibatch = inference.candidates(kMinibatch);
  const torch::Tensor conflicts = torch::randn({kMinibatch, inference.widths().conflict});
  model::Controller& controller = inference.controller();
  const double learn_s = seconds_of([&] {
    const model::ControllerOutput out = controller->forward(minibatch);
    (out.longitudinal.logsumexp(1).sum() + out.score.square().sum() +
     controller->value(conflicts).square().sum())
        .backward();
  });
  return {infer_s / kSimulations, kEpochs * learn_s / kMinibatch};
}

}  // namespace

int main(int argc, char** argv) {
  model::pool_all_tensors();
  at::set_num_threads(1);
  torch::manual_seed(1);
  const std::string scenario = argc > 1 ? argv[1] : "merge";
  const Sumo sumo = simulate(scenario, 0, [] {});
  const InTurn in_turn = simulate_in_turn(scenario, static_cast<std::int64_t>(sumo.vehicles));
  const Model model = arithmetic(sumo.vehicles);
  fmt::print(
      "{:.0f} vehicles; processor time of an environment step in ms: SUMO {:.3f}, inference {:.3f} "
      "(with perception and decision {:.3f}), learning {:.3f}\n"
      "{} simulations and the model in turn, ms: SUMO {:.3f}, inference {:.3f}\n"
      "upper bound on two cores, steps/s: {:.0f}, with all in turn {:.0f}\n",
      sumo.vehicles, sumo.step_s * 1e3, model.infer_s * 1e3,
      perceive_and_decide_s(sumo.vehicles) * 1e3, model.learn_s * 1e3, kProcesses,
      in_turn.sumo.step_s * 1e3, in_turn.infer_s * 1e3,
      2.0 / (sumo.step_s + model.infer_s + model.learn_s),
      2.0 / (in_turn.sumo.step_s + in_turn.infer_s + model.learn_s));
}
