/// Measures the strength of a team against the competition's published actor, in our own games:
///
///     tests/benchmarks/published_actor.py actor_2000.pth actor.f32
///     build/release/bin/bench_published_actor actor.f32 checkpoint:PATH 1000
///
/// The actor gets the same observation as in the code of its authors, which is unscaled and treats
/// the board as flat. It samples its actions.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/train/snakes/match.h"
#include "traffic/train/snakes/training.h"

namespace traffic {
namespace {

constexpr std::size_t kSeen = 26;
constexpr std::size_t kHidden = 256;
constexpr std::size_t kActions = game::kDirections;

using Seen = std::array<float, kSeen>;

/// A layer's weights, [outputs, inputs], and biases.
struct Layer {
  std::size_t inputs;
  std::size_t outputs;
  std::vector<float> weights = std::vector<float>(inputs * outputs);
  std::vector<float> biases = std::vector<float>(outputs);

  void read(std::istream& in) {
    const auto take = [&in](std::vector<float>& values) {
      in.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
    };
    take(weights);
    take(biases);
  }
  [[nodiscard]] std::vector<float> operator()(std::span<const float> x) const {
    std::vector<float> out = biases;
    for (std::size_t o = 0; o < outputs; ++o) {
      const float* w = weights.data() + o * inputs;
      for (std::size_t i = 0; i < inputs; ++i) out[o] += w[i] * x[i];
    }
    return out;
  }
};

/// Content of each cell: the snake's number from 2 on, 1 for a bean.
std::array<float, game::kCells> codes_of(const game::Board& board) {
  std::array<float, game::kCells> codes{};
  std::array<game::Cell, game::kCells> cells{};
  for (int snake = 0; snake < game::kSnakes; ++snake) {
    const std::size_t length = game::segments(board, snake, cells);
    for (std::size_t i = 0; i < length; ++i) codes[cells[i]] = static_cast<float>(snake + 2);
  }
  for (int bean = 0; bean < board.num_beans; ++bean) {
    codes[board.beans[static_cast<std::size_t>(bean)]] = 1.0F;
  }
  return codes;
}

/// The observation of a snake: its own head, the neighbouring cells, the beans, and the heads of
/// all snakes except one. The missing snake has the same index in the first team, also in
/// observations of the second team.
std::array<Seen, game::kTeamSnakes> seen_by(const game::Board& board, int team) {
  const auto codes = codes_of(board);
  std::array<Seen, game::kTeamSnakes> all{};
  for (int place = 0; place < game::kTeamSnakes; ++place) {
    auto out = all[static_cast<std::size_t>(place)].begin();
    const auto put = [&out](game::Cell cell) {
      *out++ = static_cast<float>(game::row_of(cell));
      *out++ = static_cast<float>(game::column_of(cell));
    };
    const game::Cell head = board.head[static_cast<std::size_t>(game::first_snake(team) + place)];
    put(head);
    for (const auto direction : {game::kUp, game::kDown, game::kLeft, game::kRight}) {
      *out++ = codes[game::neighbour(head, direction)];
    }
    for (const game::Cell bean : board.beans) put(bean);
    for (int other = 0; other < game::kSnakes; ++other) {
      if (other != place) put(board.head[static_cast<std::size_t>(other)]);
    }
  }
  return all;
}

class PublishedActor final : public train::SnakesTeam {
 public:
  explicit PublishedActor(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    for (Layer* layer : {&first_, &second_, &third_}) layer->read(in);
    if (!in || in.peek() != std::ifstream::traits_type::eof()) {
      throw DataError(
          "{}: expected the {} weights of the actor; make the file with published_actor.py", path,
          first_.weights.size() + second_.weights.size() + third_.weights.size());
    }
  }

  [[nodiscard]] std::string name() const override { return "the published actor"; }
  void decide(game::Arena& arena, std::span<const train::SnakesSeat> seats,
              std::span<std::uint8_t> actions) override {
    auto out = actions.begin();
    for (const train::SnakesSeat& seat : seats) {
      for (const Seen& seen : seen_by(arena.board(seat.game), seat.team)) *out++ = draw(seen);
    }
  }
  [[nodiscard]] game::Player player() override {
    throw Error("the published actor can only play many games at once");
  }

 private:
  std::uint8_t draw(const Seen& seen) {
    std::vector<float> x = second_(first_(seen));  // no activation between these two layers
    for (float& value : x) value = std::max(value, 0.0F);
    x = third_(x);
    const float most = *std::ranges::max_element(x);
    float total = 0.0F;
    for (float& value : x) total += value = std::exp(value - most);
    float left = static_cast<float>(rng_.uniform()) * total;
    for (std::uint8_t action = 0; action + 1U < kActions; ++action) {
      left -= x[action];
      if (left < 0.0F) return action;
    }
    return kActions - 1;
  }

  Layer first_{kSeen, kHidden};
  Layer second_{kHidden, kHidden};
  Layer third_{kHidden, kActions};
  Rng rng_{1};
};

int run(const std::string& actor, const std::string& team, std::size_t games) {
  train::register_trainings({train::snakes_training()});
  PublishedActor published(actor);
  const auto own = train::make_snakes_team(team);
  std::vector<std::uint64_t> seeds;
  for (std::size_t i = 0; i < games / 2; ++i) seeds.push_back(i);
  const auto pairs = train::play_snakes_match(*own, published, seeds);
  std::printf("%s\n",
              train::describe_score(team, published.name(), train::score_of(pairs)).c_str());
  return 0;
}

}  // namespace
}  // namespace traffic

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench_published_actor ACTOR.f32 TEAM GAMES\n");
    return 2;
  }
  try {
    return traffic::run(argv[1], argv[2], static_cast<std::size_t>(std::atoi(argv[3])));
  } catch (const traffic::Error& error) {
    std::fprintf(stderr, "bench_published_actor: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
