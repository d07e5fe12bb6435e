// The schema of the configuration: all tables and rows, and functions that find them (schema.h).
#include "traffic/config/schema.h"

#include <algorithm>
#include <array>

#include "rows.h"
#include "traffic/config/added_agents.h"
#include "traffic/config/trainings.h"
#include "traffic/core/error.h"

namespace traffic::config {
namespace {

/// Says why a text cannot be the value of run.name, which becomes the name of a folder; empty if it
/// can.
std::string refuse_as_folder_name(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  if (text.empty() || text.size() > kLongest) return "expected 1 to 100 characters";
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  if (!plain || text.front() == '.') {
    return "expected letters, digits, '_', '-' and '.', not starting with '.'";
  }
  return {};
}

std::vector<Row> run_rows() {
  return {
      {TRAFFIC_KEY(run.name), .help = "Name of the run and of its folder.",
       .refuse = refuse_as_folder_name},
      {TRAFFIC_KEY(run.dir), .help = "Folder of the run. Empty means `runs/<name>/<time>`."},
      {TRAFFIC_KEY(run.phase),
       .help =
           "Trainings to run, by number or name (see the list of trainings), separated by commas. "
           "`all` runs the trainings that have a number, one after the other. Empty means the "
           "first training.",
       .refuse = refuse_plan, .takes_integers = true},
      {TRAFFIC_KEY(run.seed), .help = "Seed from which all random numbers are derived.",
       .range = at_least(0)},
      {TRAFFIC_KEY(run.device),
       .help =
           "Where to compute. `auto` takes a GPU for each rank if there are GPUs, else the CPU.",
       .choices = {"auto", "cuda", "cpu"}},
      {TRAFFIC_KEY(run.threads_per_rank),
       .help = "Compute threads of a rank. 0 means the cores of the machine divided by its ranks.",
       .range = between(0, 1024)},
      {TRAFFIC_KEY(run.resume),
       .help = "`auto` goes on from the newest valid checkpoint of the run folder if there is one, "
               "`must` refuses to start anew, `never` starts anew. Any other text is the path of a "
               "checkpoint from which the run goes on.",
       .refuse = refuse_empty},
      {TRAFFIC_KEY(run.init_from),
       .help =
           "Checkpoint whose weights a new run starts from. Empty means random weights. In a run "
           "of several phases, each later phase starts from the best result of the previous "
           "phase."},
      {TRAFFIC_KEY(run.allow_random_perception),
       .help = "Whether phases 2 and 3 may start without `run.init_from` if `vehicles.inputs` "
               "needs the encoder or the world model. These phases do not train them, so both keep "
               "random weights. This is useful only for measurements and tests."},
      {TRAFFIC_KEY(run.max_retries),
       .help = "How often a phase that failed is tried again, from its newest good checkpoint.",
       .range = between(0, 100)},
  };
}

std::vector<Row> model_rows() {
  return {
      {TRAFFIC_KEY(model.hidden_dim), .help = "Width of the graph encoder.",
       .range = between(8, 4096)},
      {TRAFFIC_KEY(model.gnn_layers), .help = "Attention layers of the graph encoder.",
       .range = between(1, 16)},
      {TRAFFIC_KEY(model.num_heads),
       .help = "Attention heads; `model.hidden_dim` must be a multiple of this number.",
       .range = between(1, 64)},
      {TRAFFIC_KEY(model.lstm_hidden), .help = "Width of the world model's LSTM.",
       .range = between(8, 4096)},
      {TRAFFIC_KEY(model.lstm_layers), .help = "Layers of the world model's LSTM.",
       .range = between(1, 8)},
      {TRAFFIC_KEY(model.latent_dim),
       .help =
           "Width of each of the two latents: the latent of the flow and the latent of the risk.",
       .range = between(1, 1024)},
  };
}

std::vector<Row> train_rows() {
  return {
      {TRAFFIC_KEY(train.epochs), .help = "Passes over the training samples.", .unit = "epochs",
       .range = between(1, 1e6)},
      {TRAFFIC_KEY(train.max_steps),
       .help = "Optimiser steps after which training ends; 0 means no limit.", .unit = "steps",
       .range = at_least(0)},
      {TRAFFIC_KEY(train.learning_rate), .help = "Learning rate after the warm-up.",
       .range = above(0, 10), .is_learning_rate = true},
      {TRAFFIC_KEY(train.min_learning_rate), .help = "Learning rate at the end of the cosine.",
       .range = between(0, 10), .is_learning_rate = true},
      {TRAFFIC_KEY(train.lr_scaling),
       .help = "Factor on `train.learning_rate` and `train.min_learning_rate`, because the batch "
               "grows with the number of ranks. `none`: 1; `linear`: the number of ranks; `sqrt`: "
               "its square root.",
       .choices = {"none", "linear", "sqrt"}},
      {TRAFFIC_KEY(train.warmup_epochs),
       .help = "Epochs in which the learning rate rises linearly from zero; at most half of the "
               "training.",
       .unit = "epochs", .range = between(0, 1e6)},
      {TRAFFIC_KEY(train.weight_decay), .help = "L2 penalty added to the gradient.",
       .range = between(0, 1)},
      {TRAFFIC_KEY(train.adam_beta1), .help = "Adam's decay of the mean gradient.",
       .range = below_one()},
      {TRAFFIC_KEY(train.adam_beta2), .help = "Adam's decay of the mean squared gradient.",
       .range = below_one()},
      {TRAFFIC_KEY(train.adam_eps), .help = "Adam's term against division by zero.",
       .range = above(0, 1)},
      {TRAFFIC_KEY(train.clip_norm),
       .help = "Norm to which the gradient of all parameters is clipped.", .range = above(0, 1e6)},
      {TRAFFIC_KEY(train.accumulation_steps), .help = "Batches of a rank for one optimiser step.",
       .unit = "batches", .range = between(1, 100000)},
      {TRAFFIC_KEY(train.precision),
       .help = "Number format of the matrix products in the forward and backward passes. fp16 "
               "needs GPUs and scales the loss as [loss_scale] says.",
       .choices = {"fp32", "bf16", "fp16"}},
      {TRAFFIC_KEY(train.gradient_checkpointing),
       .help = "Whether layers keep only their input and are computed again in the backward pass. "
               "This takes less memory and more time, and gives the same gradients."},
      {TRAFFIC_KEY(train.stage1_share),
       .help = "Share of the epochs, at the start, in which the model learns to predict the next "
               "state only.",
       .range = between(0, 1)},
      {TRAFFIC_KEY(train.future_weight), .help = "Weight of the loss of the future states.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(train.conflict_weight), .help = "Weight of the loss of the conflict head.",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(train.eval_max_batches),
       .help = "Maximum number of batches in a validation; 0 means all.", .unit = "batches",
       .range = at_least(0)},
      {TRAFFIC_KEY(train.eval_interval_epochs),
       .help =
           "Epochs between validations. The training always ends with a validation. The weights "
           "with the best validation are kept.",
       .unit = "epochs", .range = between(1, 1e6)},
  };
}

std::vector<Row> comm_rows() {
  return {
      {TRAFFIC_KEY(comm.timeout_s),
       .help = "Time after which a rank that has not joined a collective operation counts as lost.",
       .unit = "s", .range = above(0, 86400)},
      {TRAFFIC_KEY(comm.init_timeout_s),
       .help = "Limit like `comm.timeout_s`, while the ranks connect to each other at the start.",
       .unit = "s", .range = above(0, 86400)},
      {TRAFFIC_KEY(comm.bucket_cap_mb),
       .help = "Size of a bucket of gradients that are reduced while the backward pass goes on.",
       .unit = "MiB", .range = above(0, 1024)},
      {TRAFFIC_KEY(comm.overlap),
       .help = "Whether gradients are reduced in buckets while the backward pass goes on; `auto`: "
               "on GPUs.",
       .choices = {"auto", "on", "off"}},
      {TRAFFIC_KEY(comm.compression),
       .help = "Number format in which gradients are sent to other ranks.",
       .choices = {"none", "fp16", "bf16"}},
  };
}

std::vector<Row> checkpoint_rows() {
  return {
      {TRAFFIC_KEY(checkpoint.save_interval_epochs), .help = "Epochs between checkpoints.",
       .unit = "epochs", .range = between(1, 1e6)},
      {TRAFFIC_KEY(checkpoint.save_interval_steps),
       .help = "Optimiser steps between checkpoints within an epoch. 0 means only at the ends of "
               "epochs.",
       .unit = "steps", .range = at_least(0)},
      {TRAFFIC_KEY(checkpoint.save_interval_s),
       .help =
           "Time after which a checkpoint is written at the next step or iteration, in addition "
           "to the other intervals; 0 means never by time.",
       .unit = "s", .range = between(0, 1e9)},
      {TRAFFIC_KEY(checkpoint.keep_last),
       .help =
           "Number of newest checkpoints that are kept, besides the best and the last of a phase.",
       .range = between(1, 1000)},
      {TRAFFIC_KEY(checkpoint.max_save_failures),
       .help = "Failed saves in a row after which training stops with exit code 8.",
       .range = between(1, 1000)},
  };
}

std::vector<Row> log_rows() {
  return {
      {TRAFFIC_KEY(log.level), .help = "Minimum severity that is logged.",
       .choices = {"debug", "info", "warning", "error"}},
      {TRAFFIC_KEY(log.interval_steps),
       .help = "Optimiser steps between lines of metrics.jsonl in trainings from recorded data. "
               "Other trainings write a line for each iteration.",
       .unit = "steps", .range = between(1, 1e6)},
      {TRAFFIC_KEY(log.tensorboard), .help = "Whether TensorBoard event files are written."},
      {TRAFFIC_KEY(log.progress),
       .help = "Whether rank 0 shows a progress bar; `auto`: on a terminal only.",
       .choices = {"auto", "on", "off"}},
  };
}

std::vector<Row> profile_rows() {
  return {
      {TRAFFIC_KEY(profile.steps),
       .help = "Optimiser steps (phase 1) or iterations (phases 2 and 3) that are recorded; 0 "
               "means none.",
       .unit = "steps", .range = between(0, 1e6)},
      {TRAFFIC_KEY(profile.skip_steps),
       .help = "Steps of this process before recording begins, because the first steps are not "
               "typical.",
       .unit = "steps", .range = between(0, 1e9)},
  };
}

constexpr std::array<Section, 24> kOwnSections{{
    {"run", "The run as a whole."},
    {"model", "Sizes of the model; a checkpoint fits only the sizes it was made with."},
    {"data", "Training data and how it is read."},
    {"data.augmentation", "Random changes of training samples."},
    {"train", "Optimisation in trainings from recorded data."},
    {"loss_scale", "Scaling of the loss with `train.precision = \"fp16\"`."},
    {"gpu", "Memory and arithmetic of the GPUs; without effect on the CPU."},
    {"memory", "Limits of the memory that a run uses."},
    {"env", "The simulated traffic, and which vehicles and lights may be commanded."},
    {"rollout", "Processes that run the simulations of phases 2 and 3."},
    {"vehicles",
     "Connected vehicles as an agent: the commands to them, the inputs of the controller, and how "
     "it picks vehicles."},
    {"training", "Length and evaluations of a training with simulations."},
    {"episodes",
     "The episodes that a training with simulations collects, and the rewards in them."},
    {"imitation", "Imitation of scripted controllers in the first iterations."},
    {"ppo", "Proximal policy optimisation of the vehicles' policy."},
    {"lights", "Traffic lights as an agent."},
    {"lights.ppo",
     "Proximal policy optimisation of the lights' policy. A key that is not set has the value that "
     "the same key of [ppo] has before a search."},
    {"lagrange",
     "The cost limit of phase 3: the costs of events, the limit, and how fast the multiplier "
     "rises."},
    {"evaluation", "The evaluation at the end of phases 2 and 3."},
    {"search", "The search for a script before phases 2 and 3."},
    {"comm", "Communication between ranks."},
    {"checkpoint", "When checkpoints are written and which are kept."},
    {"log", "Logs, metrics and the progress bar."},
    {"profile", "Detailed recordings of some steps, in `profile/` of the run folder."},
}};

/// The sections and rows that every program has, followed by the sections and rows that trainings
/// and agents have registered.
struct Schema {
  std::vector<Section> sections{kOwnSections.begin(), kOwnSections.end()};
  std::vector<Row> rows;

  Schema() {
    for (auto part :
         {run_rows,        model_rows,      data_rows,     augmentation_rows, train_rows,
          loss_scale_rows, gpu_rows,        memory_rows,   env_rows,          rollout_rows,
          vehicles_rows,   training_rows,   episodes_rows, imitation_rows,    ppo_rows,
          lights_rows,     lights_ppo_rows, lagrange_rows, evaluation_rows,   search_rows,
          comm_rows,       checkpoint_rows, log_rows,      profile_rows}) {
      const std::vector<Row> some = part();
      rows.insert(rows.end(), some.begin(), some.end());
    }
  }
};

Schema& whole_schema() {
  static Schema schema;
  return schema;
}

std::vector<std::string_view>& added_agents() {
  static std::vector<std::string_view> names;
  return names;
}

}  // namespace

std::span<const Section> sections() { return whole_schema().sections; }

std::span<const std::string_view> sections_of_the_whole_run() {
  static constexpr std::array<std::string_view, 4> kNames{"run", "comm", "gpu", "log"};
  return kNames;
}

std::span<const Row> schema() { return whole_schema().rows; }

void register_section(const Section& section, const std::vector<Row>& rows) {
  for (const Section& other : sections()) {
    TRAFFIC_CHECK(other.name != section.name, "the section [{}] is registered twice", section.name);
  }
  for (const Row& row : rows) {
    TRAFFIC_CHECK(
        row.section() == section.name,
        "{} is registered in section [{}], but its key does not begin with the section's name",
        row.key, section.name);
  }
  Schema& all = whole_schema();
  all.sections.push_back(section);
  all.rows.insert(all.rows.end(), rows.begin(), rows.end());
}

bool names_added_agent(const Env& env) {
  return std::ranges::any_of(added_agents(), [&](std::string_view added) {
    return std::ranges::find(env.agents, added) != env.agents.end();
  });
}

void register_agent(std::string_view name, const std::vector<OwnSection>& sections) {
  for (Row& row : whole_schema().rows) {
    if (row.key != "env.agents") continue;
    TRAFFIC_CHECK(std::ranges::find(row.choices, name) == row.choices.end(),
                  "the agent {} is registered twice", name);
    row.choices.push_back(name);
    added_agents().push_back(name);
  }
  for (const OwnSection& own : sections) register_section(own.section, own.rows);
}

const Row* find_row(std::string_view key) {
  const auto rows = schema();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.key == key; });
  return row == rows.end() ? nullptr : &*row;
}

void halve_learning_rates(Config& config) {
  for (const Row& row : schema()) {
    if (row.is_learning_rate) *std::get<double*>(row.field(config)) *= 0.5;
  }
}

}  // namespace traffic::config
