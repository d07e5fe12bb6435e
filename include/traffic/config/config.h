/// The configuration of all programs as typed structs, filled from a TOML file and the command line
/// (load.h). A field holds the value of a key, for example Run::seed the value of run.seed. The
/// initial value of a field is the default of its key. The schema (schema.h) contains the range,
/// unit and help text of each key. A test checks that each field has a key in the schema.
#pragma once

#include <algorithm>
#include <any>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

namespace traffic::config {

/// The run as a whole: its folder, trainings, seed and device.
struct Run {
  std::string name = "traffic";
  std::string dir;  ///< folder of the run; if empty, runs/<name>/<time>
  /// The trainings to run: names or numbers (trainings.h) separated by commas, or "all". Empty
  /// means the first training.
  std::string phase = {};
  std::int64_t seed = 42;
  std::string device = "auto";        ///< auto (GPUs if there are any) | cuda | cpu
  std::int64_t threads_per_rank = 0;  ///< 0 means the node's cores divided by its ranks
  /// Where a run continues: auto (the newest valid checkpoint, or a new start if there is none) |
  /// must (the newest valid checkpoint, or an error if there is none) | never (a new start) | the
  /// path of a checkpoint.
  std::string resume = "auto";
  std::string init_from;  ///< checkpoint with weights to start from; empty means random weights
  /// Whether a controller may be trained on an encoder and a world model with random weights.
  bool allow_random_perception = false;
  std::int64_t max_retries = 2;  ///< retries of a failed phase, from its newest good checkpoint
};

/// Sizes of the graph encoder and the world model.
struct Model {
  std::int64_t hidden_dim = 256;
  std::int64_t gnn_layers = 3;
  std::int64_t num_heads = 8;
  std::int64_t lstm_hidden = 256;
  std::int64_t lstm_layers = 2;
  std::int64_t latent_dim = 32;  ///< size of each of the two latents, z_flow and z_risk
};

/// Random changes of training samples.
struct Augmentation {
  bool enabled = false;
  std::int64_t time_shift_frames = 10;
  double speed_noise_mps = 0.1;
  double position_jitter_m = 5.0;
  double edge_dropout = 0.1;
  double feature_mask = 0.05;
};

/// Recorded traffic, and how training reads it.
struct Data {
  std::vector<std::string> files;  ///< paths or globs
  /// Folder on a disk of each node, into which the files are copied; empty means no copies.
  std::string stage_dir;
  /// Largest share of the files that may be unreadable, and of the samples that may be damaged.
  double max_bad_file_share = 0.0;
  std::int64_t history_frames = 10;
  std::int64_t horizon_frames = 5;
  std::int64_t max_vehicles = 16;
  std::int64_t sample_stride_frames = 5;
  std::int64_t max_samples = 0;  ///< approximate number of training samples; 0 means all
  /// Samples of a rank in a step; 0 means that the program chooses by the free memory.
  std::int64_t batch_size = 32;
  bool shuffle = true;
  bool drop_last = true;
  /// Reader threads of a rank; 0 means that the program chooses by the device of the rank.
  std::int64_t num_workers = 0;
  std::int64_t prefetch_factor = 2;  ///< batches that a reader thread prepares in advance
  bool persistent_workers = true;    ///< whether threads and decoded chunks outlive an epoch
  bool pin_memory = true;            ///< whether batches are page-locked, if there is a GPU
  /// A chunk is a part of a file that is read as a whole. The samples of this many chunks are
  /// shuffled together.
  std::int64_t shuffle_chunks = 8;
  std::int64_t cache_mb = 256;  ///< limit of a rank's decoded chunks and prepared batches
  /// Which data a rank reads: mixed | time | region (explained in data/sampler.h).
  std::string shards = "mixed";
  /// Sizes of the ranks' shares of the data: fixed (rank_weights) | measured (by the ranks'
  /// speeds).
  std::string shard_weights = "fixed";
  std::vector<double> rank_weights;  ///< relative share of each rank; empty means equal shares
  double conflict_ttc_s = 2.0;  ///< a vehicle is in conflict if its time-to-collision is below this
  Augmentation augmentation;
};

/// Training from recorded data.
struct Train {
  std::int64_t epochs = 50;
  std::int64_t max_steps = 0;  ///< steps after which training ends; 0 means no limit
  double learning_rate = 1e-3;
  double min_learning_rate = 1e-6;
  /// How the learning rates grow with the number of ranks: none | linear | sqrt.
  std::string lr_scaling = "none";
  double warmup_epochs = 5;
  double weight_decay = 1e-4;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_eps = 1e-8;
  double clip_norm = 1.0;
  std::int64_t accumulation_steps = 1;
  std::string precision = "fp32";  ///< fp32 | bf16 | fp16
  bool gradient_checkpointing = false;
  /// Share of the epochs, at the start, in which the model learns to predict the next state only.
  double stage1_share = 0.2;
  double future_weight = 0.5;
  double conflict_weight = 0.1;
  std::int64_t eval_max_batches = 0;  ///< maximum batches in a validation; 0 means all
  std::int64_t eval_interval_epochs = 1;
};

/// Scaling of the loss, which keeps float16 gradients from becoming 0.
struct LossScale {
  std::string strategy = "dynamic";  ///< dynamic | static
  double initial = 65536;            ///< first factor of dynamic scaling
  double growth_factor = 2.0;   ///< multiplier after growth_interval updates without an overflow
  double backoff_factor = 0.5;  ///< multiplier after `hysteresis` overflows in a row
  std::int64_t growth_interval = 2000;  ///< updates in a row without an overflow
  std::int64_t hysteresis = 2;          ///< overflows in a row before the factor shrinks
  double min = 1;
  double max = 16777216;
  double fixed = 8192;  ///< factor of static scaling
};

/// Use of the GPUs.
struct Gpu {
  double memory_fraction = 1.0;  ///< share of the GPU's memory that a rank may take
  /// Memory in use above which the log warns; 0 means a share of the GPU's memory.
  double allocated_limit_gb = 0;
  /// Memory in use or cached above which the cache is cleared; 0 means a share of the GPU's memory.
  double reserved_limit_gb = 0;
  std::int64_t empty_cache_epochs = 1;  ///< epochs between clearings of the cache; 0 means never
  bool allow_tf32 = false;
};

/// Limits of the memory that a run uses.
struct Memory {
  /// Limit for all processes on a node together; 0 means the memory of the node.
  double target_memory_gb = 0;
  double target_vram_gb = 0;  ///< limit for a rank on its GPU; 0 means the memory of the GPU
};

/// The simulated traffic, and what controllers may do in it.
struct Env {
  std::string scenario = "merge";              ///< a .sumocfg or the name of a shipped scenario
  std::vector<std::string> scenarios;          ///< episodes are drawn from them: "scenario:weight"
  std::vector<std::string> sumo_args;          ///< further arguments of SUMO
  std::vector<std::string> cv_types = {"cv"};  ///< SUMO's types of connected vehicles
  /// Share of all vehicles that are connected; 0 means that cv_types determines which are.
  double cv_share = 0;
  double max_time_s = 0;  ///< end of an episode; 0 means the end of the scenario
  double control_period_s = 3.0;
  /// A conflict is a place where streams of traffic meet. Connected vehicles that are at most this
  /// far from their next conflict may be commanded.
  double zone_m = 100.0;
  bool lead_only = false;  ///< whether only the first vehicle of each lane may be commanded
  bool behind = false;     ///< whether vehicles just behind a conflict may be commanded, too
  double commit_s = 0;     ///< duration of the command arrive_late; 0 means a control period
  /// The command arrive_late may begin this long before a conflicting stream gets green.
  double lead_s = 0;
  std::vector<std::string> agents = {"vehicles"};  ///< vehicles, lights or both
  /// A scripted controller that acts beside the trained controller: of lights if vehicles are
  /// trained, of vehicles if lights are trained. Empty means none.
  std::string beside;
  double yellow_s = 3.0;
  double all_red_s = 0.0;
  double min_green_s = 5.0;
  double max_green_s = 120.0;  ///< 0 means no limit
  /// Largest relative change of a green in a program with fixed durations.
  double phase_range = 0.5;
  /// Objective of rewards and evaluations: ocr (share of the demand that gets through), delay, co2,
  /// electricity, a weighted sum of these, or auto (ocr in saturated traffic, else delay).
  std::string objective = "ocr";
  bool shield =
      true;  ///< whether vehicles brake, instead of a command, when they follow too closely
  double shield_thw_s = 0.7;  ///< minimum time headway
  double shield_ttc_s = 1.5;  ///< minimum time-to-collision
  double shield_brake_mps2 = 4.0;
  double slow_mps = 3.0;  ///< target speed of the command slow
  double max_slowdown_mps2 = 2.0;
  double min_accel_mps2 = -3.0;
  double max_accel_mps2 = 2.0;

  [[nodiscard]] bool vehicles_act() const { return acts("vehicles"); }
  [[nodiscard]] bool lights_act() const { return acts("lights"); }

 private:
  [[nodiscard]] bool acts(std::string_view agent) const {
    return std::find(agents.begin(), agents.end(), agent) != agents.end();
  }
};

/// The processes that run simulations.
struct Rollout {
  std::int64_t workers = 6;
  std::int64_t envs_per_worker = 2;
  std::int64_t max_concurrent_envs = 0;  ///< maximum number of simulations; 0 means no limit
  std::int64_t max_vehicles = 4096;      ///< maximum number of vehicles in a simulation at once
  double env_timeout_s = 300;
  /// Maximum number of restarts of a simulation between two finished episodes.
  std::int64_t max_restarts = 5;
};

/// Connected vehicles as an agent: the commands to them, and the network that gives commands.
struct Vehicles {
  std::string longitudinal = "categorical";  ///< categorical | target_speed | acceleration
  std::vector<std::string> commands = {"none", "stop", "slow", "hold", "fast"};  ///< if categorical
  bool lane_change = true;  ///< whether lane changes are a second choice beside the command
  /// What the network sees; the default lists all choices.
  std::vector<std::string> inputs = {"features", "globals", "encoding", "pooled", "latents"};
  std::string perception_precision = "fp32";  ///< fp32 | bf16 | fp16
  std::int64_t hidden_dim = 256;
  std::int64_t layers = 2;
  std::int64_t top_k = 5;          ///< maximum number of vehicles under control at once
  double importance_weight = 1.0;  ///< weight of a vehicle's importance in the score by which
                                   ///< vehicles are picked
  double impact_weight = 0.5;      ///< weight of a vehicle's impact in this score
  /// Probability with which an untrained controller without an advisor commands a vehicle.
  double first_command_probability = 0.35;
  /// The scripted controller whose advice the policy sees, and follows at first; empty means none.
  std::string advisor;
  double advice_probability = 0.9;  ///< initial probability of following the advice
};

/// How long a training with simulations lasts, and how its policies are evaluated.
struct Training {
  std::int64_t iterations = 200;
  double minutes = 0;               ///< time limit, after which training ends; 0 means no limit
  std::int64_t eval_interval = 10;  ///< iterations between evaluations
  std::int64_t eval_episodes = 20;
  std::int64_t final_episodes = 0;  ///< episodes of the final comparison; 0 means eval_episodes
  /// How the policy decides: greedy | sampled | auto (the better of the two on the selection
  /// seeds).
  std::string decide = "auto";
  /// How often training may return to the best controller after the gain has fallen.
  std::int64_t max_rollbacks = 3;
  double rollback_factor = 0.5;  ///< factor on the learning rate at each return
};

/// The episodes that training collects, and the rewards in them.
struct Episodes {
  /// Length of a training episode, which is a part of the scenario; 0 means the whole scenario.
  double length_s = 0;
  /// Control steps after which an environment hands over its experience; 0 means at the end of each
  /// episode.
  std::int64_t rollout_fragment_length = 200;
  std::int64_t train_batch_size = 4000;     ///< minimum control steps of all ranks in an iteration
  std::vector<double> demand = {1.0, 1.0};  ///< minimum and maximum factor on the demand
  /// Factors on the demand, each for an equal part of the training.
  std::vector<double> demand_curriculum;
  /// Whether rewards are kept for each conflict or for the whole network: conflict | global.
  std::string credit = "conflict";
  double reward_scale = 100.0;  ///< reward for getting the whole expected demand through
  double intervention_cost =
      4e-4;                      ///< lost reward for each second in which a vehicle is controlled
  double hard_brake_cost = 0.0;  ///< lost reward for each second of hard braking
  /// Episodes without control, whose mean score is subtracted from the reward.
  std::int64_t baseline_episodes = 64;
  /// Folder that keeps the measured baselines; empty means that each run measures them.
  std::string baseline_cache = ".cache/baselines";
};

/// The first iterations, in which the vehicles' policy imitates scripted controllers.
struct Imitation {
  std::int64_t iterations = 0;  ///< maximum number; 0 means no imitation
  /// The scripted controllers to imitate: one for all scenarios, or one for each.
  std::vector<std::string> controllers = {"meter"};
  /// Agreement with the script (F1 score) at which imitation ends early; 0 means never.
  double agreement = 0.0;
  /// Share of the imitated episodes in which the policy, not the script, gives the commands.
  double dagger_share = 0.0;
  /// Weight, right after imitation, of the pull towards the imitated policy.
  double prior_coef = 0.0;
};

/// Proximal policy optimisation of one agent.
struct Ppo {
  std::string learner_device = "auto";  ///< auto | cpu | run (the device run.device)
  std::int64_t minibatch_size = 128;    ///< control steps of all ranks in a minibatch
  std::int64_t accumulation_steps = 1;  ///< parts of a minibatch, computed one after the other
  std::int64_t num_epochs = 10;         ///< passes over the batch in an iteration
  /// Passes over the first batch that train the value network alone, before the first update of the
  /// policy.
  std::int64_t value_first_epochs = 12;
  /// Passes over the batch of every iteration that train the value network alone, before the
  /// updates of the policy.
  std::int64_t value_epochs = 0;
  double value_lambda = 0.97;  ///< lambda of the returns that these passes predict
  double learning_rate = 3e-4;
  double final_learning_rate = 3e-4;   ///< learning rate at the last iteration
  std::string lr_schedule = "linear";  ///< how the rate falls: linear | cosine
  std::int64_t warmup_iterations = 0;  ///< first iterations of PPO, in which the rate rises from 0
  double weight_decay = 0.0;
  double gamma = 0.99;
  double gae_lambda = 0.95;
  double clip_range = 0.2;
  double vf_clip_range = 10.0;  ///< maximum change of a standardised value; 0 means no limit
  double ent_coef = 0.01;
  double final_ent_share = 1.0;  ///< share of ent_coef that is left at the last iteration
  double vf_coef = 0.5;
  /// An iteration begins no further epoch once the KL divergence is 1.5 times this; 0 means no
  /// limit.
  double target_kl = 0.02;
  /// KL divergence of an update to which the learning rate is adapted; 0 means no adaptation.
  double desired_kl = 0.0;
  double clip_norm = 0.5;
};

/// Traffic lights as an agent.
struct Lights {
  std::int64_t hidden_dim = 48;
  std::int64_t encoder_layers = 0;
  /// The script that the policy equals at first, or "program" for the lights' own programs.
  std::string advisor = "greedy";
  double reward_scale = 0.1;    ///< loss of reward for each second that a vehicle loses
  std::int64_t max_greens = 8;  ///< maximum number of greens of a light, for Q-learning
  Ppo ppo;                      ///< a key that is not set has the value in Config::ppo
};

/// The safety constraint of phase 3, with a Lagrange multiplier.
struct Lagrange {
  double cost_limit = 0.1;     ///< limit of the mean cost of a control step
  double learning_rate = 2.0;  ///< change of the multiplier for each unit of cost over the limit
  double initial = 0.0;        ///< multiplier to start from
  double max = 10.0;           ///< maximum of the multiplier
  /// Cost of a collision. A control step that is unsafe all the time costs 1.
  double collision_cost = 1.0;
  double emergency_stop_cost = 1.0;
  std::int64_t critic_hidden_dim = 128;
  std::int64_t critic_layers = 2;
  std::int64_t critic_epochs = 4;  ///< passes over the batch in an iteration
  double critic_learning_rate = 1e-3;
};

/// The evaluation after a training.
struct Evaluation {
  std::string seeds = "100..119";  ///< seeds of the episodes; empty means no evaluation
  std::vector<std::string> controllers = {"none", "meter"};
  /// A controller counts as unsafe if it causes additional emergency stops, emergency brakings or
  /// collisions per run, compared with no control, and the 95 % interval of their number lies above
  /// this limit.
  double safety_limit = 0;
};

/// The search for a scripted controller before a training with simulations.
struct Search {
  double minutes = 0;         ///< time of the search; 0 means no search
  std::int64_t episodes = 0;  ///< number of episodes; 0 means as many as fit into `minutes`
  std::int64_t final_episodes =
      12;  ///< seeds on which the best scripts are compared with no control
  /// Minutes of the training after the search; 0 means that training.iterations is kept.
  double training_minutes = 20;
  /// Keys that the search sets.
  std::vector<std::string> decides = {"env.zone_m",
                                      "env.lead_only",
                                      "env.behind",
                                      "env.commit_s",
                                      "env.lead_s",
                                      "env.slow_mps",
                                      "env.max_slowdown_mps2",
                                      "env.control_period_s",
                                      "vehicles.commands",
                                      "vehicles.top_k",
                                      "vehicles.first_command_probability",
                                      "vehicles.advisor",
                                      "vehicles.advice_probability",
                                      "lights.advisor",
                                      "lights.ppo.gamma",
                                      "training.iterations",
                                      "training.minutes",
                                      "imitation.controllers",
                                      "imitation.iterations",
                                      "ppo.gae_lambda",
                                      "episodes.length_s",
                                      "episodes.train_batch_size",
                                      "ppo.minibatch_size",
                                      "episodes.intervention_cost",
                                      "episodes.baseline_episodes",
                                      "training.eval_interval",
                                      "training.eval_episodes",
                                      "training.final_episodes",
                                      "evaluation.controllers"};
};

/// Communication between ranks.
struct Comm {
  double timeout_s = 1800;
  double init_timeout_s = 60;
  double bucket_cap_mb = 25;
  /// Whether gradients are reduced during the backward pass: auto (on GPUs) | on | off.
  std::string overlap = "auto";
  std::string compression = "none";  ///< type in which gradients are sent: none | fp16 | bf16
};

/// When checkpoints are saved, and how many are kept.
struct Checkpoint {
  std::int64_t save_interval_epochs = 5;
  std::int64_t save_interval_steps = 0;  ///< 0 means only at the ends of epochs
  double save_interval_s = 300;          ///< time until the next checkpoint; 0 means never by time
  std::int64_t keep_last = 3;
  std::int64_t max_save_failures = 3;
};

/// The log, the metrics and the progress bar.
struct Log {
  std::string level = "info";
  std::int64_t interval_steps = 10;
  bool tensorboard = true;
  std::string progress = "auto";  ///< auto | on | off
};

/// Steps that are recorded in detail for a trace viewer.
struct Profile {
  /// Recorded optimiser steps (phase 1) or iterations (phases 2 and 3); 0 means none.
  std::int64_t steps = 0;
  std::int64_t skip_steps = 2;  ///< steps of this process before recording begins
};

/// Settings of trainings and agents that are not members of Config. The type of their struct
/// identifies them. register_section() in schema.h adds their keys to the configuration.
class Extensions {
 public:
  /// Creates the settings with their defaults at the first call.
  template <typename Settings>
  Settings& get() {
    std::any& value = values_[typeid(Settings)];
    if (!value.has_value()) value = Settings{};
    return std::any_cast<Settings&>(value);
  }

 private:
  std::map<std::type_index, std::any> values_;
};

/// All settings of one training or program.
struct Config {
  Run run;
  Model model;
  Data data;
  Train train;
  LossScale loss_scale;
  Gpu gpu;
  Memory memory;
  Env env;
  Rollout rollout;
  Vehicles vehicles;
  Training training;
  Episodes episodes;
  Imitation imitation;
  Ppo ppo;
  Lights lights;
  Lagrange lagrange;
  Evaluation evaluation;
  Search search;
  Comm comm;
  Checkpoint checkpoint;
  Log log;
  Profile profile;
  Extensions extensions;

  template <typename Settings>
  Settings& extension() {
    return extensions.get<Settings>();
  }
  template <typename Settings>
  [[nodiscard]] Settings extension() const {
    return Extensions(extensions).get<Settings>();
  }
};

}  // namespace traffic::config
