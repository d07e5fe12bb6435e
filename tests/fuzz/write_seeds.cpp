// Writes the first inputs of the fuzz targets: valid files of each kind. Usage: fuzz_seeds FOLDER
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "checkpoint/fixtures.h"
#include "checkpoint/header.h"
#include "data/scene_synthetic.h"
#include "data/synthetic.h"
#include "replay/streams.h"
#include "rollout/traffic/period_fixture.h"
#include "traffic/checkpoint/file.h"
#include "traffic/data/scene_file.h"
#include "traffic/game/saved_game.h"
#include "traffic/replay/replay.h"

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void write_bytes(const fs::path& path, std::span<const std::byte> bytes) {
  write(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void write_copy(const fs::path& from, const fs::path& to) {
  write(to, traffic::data::test::read_bytes(from));
}

void write_recordings(const fs::path& fixtures, const fs::path& folder) {
  const auto add = [&](const char* name, char format) {
    write(folder / name, format + traffic::data::test::read_bytes(fixtures / name));
  };
  add("tiny.fcd.xml", '\0');
  add("tiny.fcd.csv", '\0');
  add("ngsim_old.csv", '\2');
  add("ngsim_new.csv", '\2');
  for (const auto& entry : fs::recursive_directory_iterator(fixtures / "tiny_json")) {
    if (!entry.is_regular_file()) continue;
    write(folder / entry.path().filename(), '\1' + traffic::data::test::read_bytes(entry.path()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const fs::path folder = argv[1];
  const fs::path source = TRAFFIC_SOURCE_DIR;
  for (const auto& entry : fs::directory_iterator(source / "configs")) {
    if (entry.path().extension() == ".toml")
      write_copy(entry.path(), folder / "config" / entry.path().filename());
  }
  write_recordings(source / "tests/data_prep/fixtures", folder / "recording");

  fs::create_directories(folder / "dataset");
  traffic::data::test::write_file(folder / "dataset/small.h5",
                                  {{{.seed = 1, .frames = 12, .vehicles = 5}}});

  fs::create_directories(folder / "scenes");
  const auto map = traffic::data::test::crossing_map();
  traffic::data::SceneWriter scenes(folder / "scenes/small.h5", {.scenario = "crossing"});
  scenes.add(traffic::data::test::crossing_scene(map, 1, 4), {});
  scenes.finish();

  const fs::path whole = folder / "whole.h5";
  traffic::checkpoint::save(traffic::checkpoint::small_snapshot(3, 50), whole);
  write(folder / "checkpoint/small", std::string_view(traffic::data::test::read_bytes(whole))
                                         .substr(traffic::checkpoint::kHeaderBytes));
  fs::remove(whole);

  write(folder / "parts/two", "0123456789abcdef-52428800.part fedcba9876543210-7.part");
  constexpr traffic::replay::SegmentShape kShape{
      .steps = 8, .streams = 3, .obs_dim = 5, .action_dim = 4};
  traffic::replay::Replay replay({.capacity = 48, .segment = kShape});
  traffic::replay::Streams(kShape, 5).push_to(replay, 7);
  write_bytes(folder / "replay/small", replay.segments().back()->to_bytes());

  for (const std::uint64_t seed : {1, 2}) {
    std::array<std::byte, traffic::game::kGameBytes> game{};
    traffic::game::write_game(
        {.board = traffic::game::start_board(seed), .rngs = traffic::game::player_rngs(seed)},
        game);
    write_bytes(folder / "game" / std::to_string(seed), game);
  }

  const traffic::rollout::testing::LightFixture lights;
  traffic::rollout::testing::PeriodFixture fixture;
  fixture.lights = lights.section();
  write_bytes(folder / "period/small", fixture.bytes());
  return 0;
}
