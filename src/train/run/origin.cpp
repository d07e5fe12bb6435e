#include "traffic/train/run/origin.h"

#include <spdlog/spdlog.h>
#include <torch/version.h>

#include <random>

#include "traffic/checkpoint/file.h"
#include "traffic/core/hash.h"
#include "traffic/core/version.h"

namespace traffic::train {
namespace {

std::string program() { return fmt::format("traffic_train {} ({})", version(), build_type()); }

std::string libraries() {
  return fmt::format("torch {}, {}, compiler {}", TORCH_VERSION, checkpoint::library(),
                     __VERSION__);
}

}  // namespace

Origin make_origin(const std::string& init_from) {
  std::random_device random;
  const std::uint64_t id = (std::uint64_t{random()} << 32U) | random();
  return {.id = hex64(id),
          .started_from = init_from.empty() ? "" : hex64(checkpoint::read_info(init_from).hash)};
}

Origin origin_of(const checkpoint::Snapshot& snapshot) {
  if (!snapshot.contains("run/id")) return {};
  return {.id = snapshot.text("run/id"), .started_from = snapshot.text("run/started_from")};
}

void put_origin(checkpoint::Snapshot& snapshot, const Origin& origin, int world_size) {
  snapshot.put_text("run/id", origin.id);
  snapshot.put_text("run/started_from", origin.started_from);
  snapshot.put_int("run/world_size", world_size);
  snapshot.put_text("run/program", program());
  snapshot.put_text("run/libraries", libraries());
}

void log_origin(const checkpoint::Snapshot& snapshot, int world_size) {
  if (!snapshot.contains("run/id")) return;
  spdlog::info("the checkpoint belongs to run {} and was saved by {}", snapshot.text("run/id"),
               snapshot.text("run/program"));
  const std::int64_t then = snapshot.integer("run/world_size");
  const std::string made_by = snapshot.text("run/program") + ", " + snapshot.text("run/libraries");
  if (then != world_size) {
    spdlog::warn(
        "the checkpoint was saved by {} ranks, this run has {}: training continues, but its "
        "results are not bit-identical to those of an uninterrupted run",
        then, world_size);
  } else if (made_by != program() + ", " + libraries()) {
    spdlog::warn(
        "the checkpoint was saved by {}, this is {}, {}: training continues, but its results may "
        "not be bit-identical to those of an uninterrupted run",
        made_by, program(), libraries());
  }
}

}  // namespace traffic::train
