#include "rollouts/baseline.h"

#include <torch/types.h>

#include <fstream>
#include <iterator>

#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/version.h"
#include "traffic/sim/sumo_env.h"
#include "traffic/sim/sumocfg.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw DataError("cannot read {}, a file that the scenario names", path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::string baseline_key(const config::Config& config) {
  Hasher hasher;
  for (const fs::path& file : sim::scenario_files(config.env.scenario, config.env.sumo_args)) {
    hasher.update(content_of(file));
  }
  for (const std::string& argument : config.env.sumo_args) hasher.update(argument + '\n');
  for (const scene::Term term : scene::terms_of(scene::objective_of(config.env.objective))) {
    hasher.update(fmt::format("term {} ", static_cast<int>(term)));
  }
  hasher.update(fmt::format("{} {} {} {} {}", config.env.max_time_s, config.episodes.credit,
                            config.episodes.baseline_episodes, version(), sim::sumo_version()));
  if (!config.env.beside.empty()) {
    hasher.update(fmt::format(" {} {} {} {} {} {}", config.env.beside, config.env.yellow_s,
                              config.env.all_red_s, config.env.min_green_s, config.env.max_green_s,
                              config.env.phase_range));
  }
  if (config.episodes.length_s > 0.0) hasher.update(fmt::format(" {}", config.episodes.length_s));
  return hex64(hasher.digest());
}

scene::ComparedScores Baseline::scores() const {
  const double km = 1e-3 * std::max(1.0, expected_driven_m);
  return {.ocr_all = mean_ocr_all,
          .delay_s = mean_delay_s,
          .co2_g_per_km = expected_emissions.co2_g / km,
          .electricity_wh_per_km = expected_emissions.electricity_wh / km};
}

rollout::PieceStore piece_store(const config::Config& config, const std::string& key) {
  return {.piece_s = config.episodes.length_s, .key = xxh3_64(key)};
}

fs::path baseline_path(const config::Config& config) {
  if (config.episodes.baseline_cache.empty()) return {};
  return fs::path(config.episodes.baseline_cache) / ("baseline-" + baseline_key(config) + ".h5");
}

checkpoint::Snapshot to_snapshot(const Baseline& baseline, const std::string& key) {
  checkpoint::Snapshot snapshot;
  snapshot.put_text("baseline/key", key);
  snapshot.put_tensor("baseline/growth", torch::tensor(baseline.growth.growth, torch::kDouble));
  snapshot.put_int("baseline/conflicts", baseline.growth.conflicts);
  snapshot.put_int("baseline/episodes", baseline.growth.episodes);
  snapshot.put_real("baseline/bin_s", baseline.growth.bin_s);
  snapshot.put_real("baseline/expected_demand", baseline.expected_demand);
  snapshot.put_real("baseline/expected_loss_s", baseline.expected_loss_s);
  snapshot.put_real("baseline/mean_ocr_all", baseline.mean_ocr_all);
  snapshot.put_real("baseline/mean_delay_s", baseline.mean_delay_s);
  snapshot.put_real("baseline/expected_driven_m", baseline.expected_driven_m);
  snapshot.put_real("baseline/expected_co2_g", baseline.expected_emissions.co2_g);
  snapshot.put_real("baseline/expected_electricity_wh", baseline.expected_emissions.electricity_wh);
  return snapshot;
}

Baseline baseline_from(const checkpoint::Snapshot& snapshot, const std::string& key) {
  if (snapshot.text("baseline/key") != key) {
    throw CheckpointError("{} contains the baseline with key {}, expected {}; remove the file",
                          snapshot.source(), snapshot.text("baseline/key"), key);
  }
  const torch::Tensor growth = snapshot.tensor("baseline/growth").to(torch::kDouble).contiguous();
  Baseline baseline;
  baseline.growth.growth.assign(growth.const_data_ptr<double>(),
                                growth.const_data_ptr<double>() + growth.numel());
  baseline.growth.conflicts = snapshot.integer("baseline/conflicts");
  baseline.growth.episodes = snapshot.integer("baseline/episodes");
  baseline.growth.bin_s = snapshot.real("baseline/bin_s");
  baseline.expected_demand = snapshot.real("baseline/expected_demand");
  baseline.expected_loss_s = snapshot.real("baseline/expected_loss_s");
  baseline.mean_ocr_all = snapshot.real("baseline/mean_ocr_all");
  baseline.mean_delay_s = snapshot.real("baseline/mean_delay_s");
  baseline.expected_driven_m = snapshot.real("baseline/expected_driven_m");
  baseline.expected_emissions = {
      .co2_g = snapshot.real("baseline/expected_co2_g"),
      .electricity_wh = snapshot.real("baseline/expected_electricity_wh")};
  return baseline;
}

}  // namespace traffic::train
