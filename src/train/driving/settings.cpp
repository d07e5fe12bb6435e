#include "driving/settings.h"

#include "traffic/driving/observation.h"

namespace traffic::train::driving_policy {
namespace {

using config::between;

#define DRIVING_KEY(member) TRAFFIC_EXTENSION_KEY("driving", Driving, member)

constexpr config::Range kShare{.low = 0.0, .high = 1.0};

std::vector<config::Row> driving_rows() {
  return {
      {DRIVING_KEY(head),
       .help = "How the policy makes plans. regression: one plan. diffusion: it denoises anchors, "
               "which are typical plans, and scores them. vocabulary: it scores a fixed set of "
               "plans.",
       .choices = {"regression", "diffusion", "vocabulary"}},
      {DRIVING_KEY(input),
       .help =
           "What the network sees. all: the image from above and the whole status. status: only "
           "the vehicle's own movement, without image, route, light and leader; this is a baseline "
           "for comparison.",
       .choices = {"all", "status"}},
      {DRIVING_KEY(raster),
       .help = "The image from above: small has 96 x 64 cells of 1 m and 8 channels, full 192 x "
               "128 cells of 0.5 m and 12 channels.",
       .choices = {"small", "full"}},
      {DRIVING_KEY(width),
       .help = "Channels of the last convolution; the first one has two thirds of them.",
       .range = between(12, 1536)},
      {DRIVING_KEY(hidden_dim), .help = "Width of the encoding and of the layers behind it.",
       .range = between(16, 4096)},
      {DRIVING_KEY(modes),
       .help = "Number of anchors of diffusion, or of plans of the vocabulary. k-means finds them "
               "in the training data before the first step.",
       .range = between(2, 4096)},
      {DRIVING_KEY(diffusion_steps), .help = "Denoising steps when the policy plans.",
       .range = between(1, 2)},
      {DRIVING_KEY(ema_decay),
       .help = "Decay of the mean of the weights over steps, which the policy uses for driving. "
               "The decay rises to this value in the first steps. 0 means the weights themselves.",
       .range = {.low = 0.0, .high = 1.0, .high_open = true}},
      {DRIVING_KEY(validation_files),
       .help = "Files of scenes for validation and the final table, as paths or globs, preferably "
               "of maps that are not in `data.files`. Empty means the validation and test episodes "
               "of `data.files`."},
      {DRIVING_KEY(validation_samples),
       .help = "Samples of a validation, spread evenly over the data.", .unit = "samples",
       .range = between(1, 1e7)},
      {DRIVING_KEY(perturbed_share),
       .help = "Share of the training examples in which the vehicle's present state is changed, so "
               "that the policy learns to return to its way.",
       .range = kShare},
      {DRIVING_KEY(perturb_aside_m),
       .help = "Standard deviation of the change of the position to the side.", .unit = "m",
       .range = between(0, 5)},
      {DRIVING_KEY(perturb_heading_deg), .help = "Standard deviation of the change of the heading.",
       .unit = "degrees", .range = between(0, 45)},
      {DRIVING_KEY(perturb_speed_mps), .help = "Standard deviation of the change of the speed.",
       .unit = "m/s", .range = between(0, 10)},
      {DRIVING_KEY(mirror_share),
       .help = "Share of the training examples with left and right exchanged.", .range = kShare},
      {DRIVING_KEY(history_dropout),
       .help = "Share of the training examples in which the policy does not see the past. 1 means "
               "that it never sees the past, also when it drives.",
       .range = kShare},
      {DRIVING_KEY(corrections_repeat),
       .help = "How often an epoch contains each correction. Corrections show how to drive on from "
               "mistakes. They are few beside the recorded samples, so each occurs several times.",
       .range = config::Range{1, 1000}},
  };
}

}  // namespace

std::vector<config::OwnSection> own_sections() {
  return {{{"driving",
            "The driving policy: its network, its input and the changes of its "
            "training examples."},
           driving_rows()}};
}

std::vector<config::PresetRow> presets() {
  return {
      // key, test, normal, max, memory, vram
      {"data.batch_size", {{"16", "64", "128", "32", "32"}}},
      {"data.num_workers", {{"1", "4", "8", "1", "2"}}},
      {"data.cache_mb", {{"", "", "1024", "128", ""}}},
      {"train.epochs", {{"2", "", "", "", ""}}},
      {"train.warmup_epochs", {{"0.2", "", "", "", ""}}},
      {"driving.width", {{"12", "", "384", "", ""}}},
      {"driving.hidden_dim", {{"32", "", "512", "", ""}}},
      {"driving.raster", {{"", "", "\"full\"", "", ""}}},
      {"driving.validation_samples", {{"100", "", "20000", "", ""}}},
  };
}

const driving::RasterSpec& raster_of(const Driving& settings) {
  return settings.raster == "full" ? driving::kFullRaster : driving::kSmallRaster;
}

model::DrivingShape shape_of(const Driving& settings) {
  const driving::RasterSpec& raster = raster_of(settings);
  return {.channels = raster.channels,
          .rows = raster.rows,
          .columns = raster.columns,
          .sees_image = settings.input == "all",
          .status = static_cast<std::int64_t>(settings.input == "all" ? driving::kStatusSize
                                                                      : driving::kOwnStatusSize),
          .width = settings.width,
          .hidden_dim = settings.hidden_dim,
          .head = settings.head,
          .modes = settings.modes};
}

}  // namespace traffic::train::driving_policy
