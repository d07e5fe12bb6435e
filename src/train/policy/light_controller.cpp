#include "policy/light_controller.h"

#include <optional>
#include <vector>

#include "policy/decider.h"
#include "policy/decision_watch.h"
#include "policy/light_policy.h"
#include "run/snapshot_parts.h"
#include "traffic/sim/env_options.h"

namespace traffic::train {
namespace {

/// Controls the traffic lights of one simulation with the trained policy of a checkpoint. It gives
/// vehicles no commands.
class LightController final : public scene::Controller {
 public:
  LightController(const checkpoint::Snapshot& snapshot, Decides decides, DecisionWatch* watch)
      : LightController(snapshot, stored_config(snapshot), decides, watch) {}

  LightController(const checkpoint::Snapshot& snapshot, const config::Config& config,
                  Decides decides, DecisionWatch* watch)
      : watch_(watch),
        period_s_(config.env.control_period_s),
        decides_(decides),
        policy_(light_kind_in(snapshot), 0),
        chooser_(config.lights.advisor, sim::controller_options(config)) {
    copy_parameters(snapshot, policy_.parameters());
    policy_.pack_for_inference();
  }

  void reset(std::uint64_t seed) override {
    decision_seed_ = decision_seed(seed);
    decisions_ = 0;
    chooser_.reset(seed);
    graph_builder_.reset();
  }
  void decide(const scene::RoadState& /*state*/,
              std::vector<scene::Command>& /*commands*/) override {}
  [[nodiscard]] bool sets_signals() const override { return true; }
  [[nodiscard]] scene::SignalMode signal_mode() const override { return chooser_.mode(); }

  void decide_signals(const scene::SignalView& view,
                      std::vector<scene::SignalCommand>& commands) override {
    chooser_.find(view, choices_, rows_);
    if (choices_.empty()) return;
    if (policy_.looks_around()) {
      if (!graph_builder_) graph_builder_.emplace(view.road());
      graph_builder_->build(view, graph_);
    }
    const LightBatch batch = policy_.observe(choices_, rows_, graph_.view());
    std::vector<float> uniforms;
    if (decides_ == Decides::kSampled) {
      uniforms.resize(static_cast<std::size_t>(batch.rows.size(0)));
      draw_uniforms(decision_seed_, decisions_, uniforms);
    }
    ++decisions_;
    const LightDecisions made = policy_.decide(batch, uniforms);
    if (watch_ != nullptr) {
      watch_->on_lights({.policy = policy_,
                         .view = view,
                         .choices = choices_,
                         .rows = rows_,
                         .graph = graph_.view(),
                         .batch = batch,
                         .decided = made});
    }
    chosen_.clear();
    for (std::size_t b = 0; b < choices_.size(); ++b) {
      chosen_.push_back({choices_[b].light, made.green[b]});
    }
    const auto given = chooser_.commands(view, chosen_);
    commands.insert(commands.end(), given.begin(), given.end());
  }

  [[nodiscard]] std::string_view name() const override { return "checkpoint"; }
  [[nodiscard]] double period_s() const override { return period_s_; }

 private:
  DecisionWatch* watch_;  ///< null: nobody watches
  double period_s_;
  Decides decides_;
  LightPolicy policy_;
  rollout::LightChooser chooser_;
  std::uint64_t decision_seed_ = 0;
  std::int64_t decisions_ = 0;  ///< number of decisions so far in this episode
  std::vector<rollout::LightChoice> choices_;
  std::vector<float> rows_;
  std::vector<scene::SignalCommand> chosen_;
  std::optional<scene::SignalGraphBuilder> graph_builder_;  ///< for the road of this episode
  scene::SignalGraph graph_;
};

}  // namespace

std::unique_ptr<scene::Controller> make_light_controller(const checkpoint::Snapshot& snapshot,
                                                         Decides decides, DecisionWatch* watch) {
  return std::make_unique<LightController>(snapshot, decides, watch);
}

}  // namespace traffic::train
