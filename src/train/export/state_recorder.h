/// StateRecorder writes down the states in which a controller decides, as dictionaries of features
/// in physical units, and compares the outputs of exported networks with those of this program.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "policy/decision_watch.h"
#include "traffic/sim/sumo_env.h"
#include "traffic/train/export/policy_export.h"

namespace traffic::train {

class StateRecorder final : public DecisionWatch {
 public:
  /// Loads the TorchScript files of an export.
  /// @param env the simulation, which must outlive this object
  /// @param states number of states to record for each agent
  /// @param commands vehicles.commands of the controller
  StateRecorder(const std::filesystem::path& folder, const sim::SumoEnv& env, std::int64_t states,
                const config::Config& config);

  void on_vehicles(const VehicleMoment& moment) override;
  void on_lights(const LightMoment& moment) override;

  /// Whether there are as many states as wanted.
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] const RecordedStates& result() const { return result_; }
  /// The states, one JSON object per line.
  [[nodiscard]] const std::string& lines() const { return lines_; }

 private:
  using Tensors = std::map<std::string, torch::Tensor>;
  struct Agent {
    std::optional<torch::jit::Module> module;  ///< nothing if the export has no such agent
    std::int64_t states = 0;
  };
  static Agent load(const std::filesystem::path& file);
  [[nodiscard]] bool wants(const Agent& agent) const {
    return agent.module && agent.states < states_;
  }
  /// Runs an exported network.
  static Tensors run(torch::jit::Module& module, const Tensors& inputs);
  /// Runs an exported network and compares its outputs with those of this program.
  /// @param rows compares only these rows of the outputs; all rows if undefined
  void compare(Agent& agent, const Tensors& inputs, const Tensors& native,
               const torch::Tensor& rows = {});

  /// The inputs of exported networks that describe the vehicles of a frame.
  static Tensors inputs_of(const scene::FrameView& frame);
  /// Runs the exported network of the vehicles' memory on a frame.
  void remember(const scene::FrameView& frame);
  /// The vehicles that may get a command.
  struct VehicleChoices {
    std::vector<std::int64_t> node;    ///< index of each in the frame, ascending
    std::vector<std::size_t> advised;  ///< index of the advised command; empty without an advisor
  };
  /// The features of the vehicles of a frame as dictionaries.
  /// @param all whether to write all vehicles and their neighbours, or only candidates
  [[nodiscard]] nlohmann::ordered_json frame_json(const scene::FrameView& frame,
                                                  const VehicleChoices& choices, bool all) const;
  void add_line(const char* agent, nlohmann::ordered_json state, nlohmann::ordered_json outputs,
                nlohmann::ordered_json decision);

  /// State of the memory for a connected vehicle.
  struct Remembered {
    torch::Tensor hidden;  ///< [1, layers * H]
    torch::Tensor cell;    ///< [1, layers * H]
  };

  const sim::SumoEnv& env_;
  std::int64_t states_;
  bool sees_all_vehicles_;  ///< whether the vehicles' policy reads encodings
  std::vector<scene::CommandKind> commands_;
  std::vector<std::string> command_names_;
  bool has_advisor_;
  std::int64_t memory_width_;  ///< layers * H
  std::int64_t hidden_width_;  ///< H
  Agent vehicles_;
  Agent memory_;  ///< has no module if the vehicles' policy reads no latents
  std::map<std::uint32_t, Remembered> remembered_;  ///< by vehicle id, after the last frame
  torch::Tensor memory_rows_;  ///< [V, H] of the connected vehicles of the last frame
  Agent lights_;
  RecordedStates result_;
  std::string lines_;
};

}  // namespace traffic::train
