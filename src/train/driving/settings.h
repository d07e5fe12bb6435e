/// The configuration section [driving] of the training `driving`: the policy, its input, and the
/// random changes of its examples. The rows in settings.cpp describe each key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traffic/driving/raster.h"
#include "traffic/model/driving_network.h"
#include "traffic/train/run/training.h"

namespace traffic::train::driving_policy {

struct Driving {
  std::string head = "diffusion";  ///< regression | diffusion | vocabulary
  std::string input = "all";       ///< all | status
  std::string raster = "small";    ///< small | full
  std::int64_t width = 96;
  std::int64_t hidden_dim = 256;
  std::int64_t modes = 20;
  std::int64_t diffusion_steps = 1;
  double ema_decay = 0.999;
  std::vector<std::string> validation_files{};
  std::int64_t validation_samples = 2000;
  double perturbed_share = 0.5;
  double perturb_aside_m = 0.7;
  double perturb_heading_deg = 6.0;
  double perturb_speed_mps = 1.2;
  double mirror_share = 0.0;
  double history_dropout = 0.5;
  std::int64_t corrections_repeat = 5;
};

/// The section [driving] with its keys.
std::vector<config::OwnSection> own_sections();
/// Values of the presets test, normal, max, memory and vram.
std::vector<config::PresetRow> presets();

/// The image size that driving.raster names.
const driving::RasterSpec& raster_of(const Driving& settings);
/// The network that the settings describe.
model::DrivingShape shape_of(const Driving& settings);

}  // namespace traffic::train::driving_policy
