// Computes the features of the game as a snake sees it (features.h).
#include "traffic/game/features.h"

#include <algorithm>

#include "geometry.h"

namespace traffic::game {
namespace {

constexpr float kRowScale = 2.0F / kRows;
constexpr float kColumnScale = 2.0F / kColumns;
constexpr float kLengthScale = 0.1F;
constexpr float kLeadScale = 0.05F;

/// Values that all snakes of a board share.
struct Common {
  std::array<bool, kCells> stays{};  ///< cells with a segment that does not leave in this step
  std::array<std::array<std::uint8_t, kBeans>, kSnakes> steps{};  ///< from each snake to each bean
};

Common common_of(const View& view) {
  Common common;
  const Board& board = view.board;
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    common.stays[cell] = (board.contents[cell] & 0x7fU) != 0;
  }
  for (const Cell tail : board.tail) common.stays[tail] = false;
  for (std::size_t snake = 0; snake < kSnakes; ++snake) {
    std::array<std::uint8_t, Paths::kLanes> fewest = view.paths.steps[snake][0];
    for (std::size_t d = 1; d < kDirections; ++d) {
      for (std::size_t i = 0; i < fewest.size(); ++i) {
        fewest[i] = std::min(fewest[i], view.paths.steps[snake][d][i]);
      }
    }
    std::copy_n(fewest.begin(), kBeans, common.steps[snake].begin());
  }
  return common;
}

/// Appends to a row of features.
class Writer {
 public:
  explicit Writer(float* at) : at_(at) {}
  void put(float value) { *at_++ = value; }
  void put(bool value) { put(value ? 1.0F : 0.0F); }
  void put(Offset by) {
    put(kRowScale * static_cast<float>(by.rows));
    put(kColumnScale * static_cast<float>(by.columns));
  }

 private:
  float* at_;
};

float nearness(std::uint8_t steps) {
  return steps == Paths::kNone ? 0.0F : 1.0F / static_cast<float>(steps);
}

/// Whether this snake can reach each bean before all other snakes.
std::array<bool, kBeans> first_at(const Common& common, std::size_t snake) {
  std::array<bool, kBeans> first{};
  for (std::size_t bean = 0; bean < kBeans; ++bean) {
    std::uint8_t others = Paths::kNone;
    for (std::size_t other = 0; other < kSnakes; ++other) {
      if (other != snake) others = std::min(others, common.steps[other][bean]);
    }
    first[bean] = common.steps[snake][bean] < others;
  }
  return first;
}

/// Whether the heads of enemies and of teammates are one step from a cell.
struct Beside {
  bool enemy = false;
  bool mate = false;
};
Beside heads_beside(const View& view, std::size_t snake, Cell cell) {
  Beside beside;
  for (std::size_t other = 0; other < kSnakes; ++other) {
    if (other == snake || offset(cell, view.board.head[other]).steps() != 1) continue;
    (team_of(static_cast<int>(other)) == view.team ? beside.mate : beside.enemy) = true;
  }
  return beside;
}

void put_directions(const View& view, const Common& common, std::size_t snake, Writer& out) {
  const Board& board = view.board;
  const std::array<bool, kBeans> first = first_at(common, snake);
  const float rooms = 0.5F / std::max(1.0F, static_cast<float>(board.length[snake]));
  for (std::size_t direction = 0; direction < kDirections; ++direction) {
    const Cell cell = kNeighbours[direction][board.head[snake]];
    const std::uint8_t contents = board.contents[cell];
    const Beside beside = heads_beside(view, snake, cell);
    std::uint8_t nearest = Paths::kNone;
    std::uint8_t nearest_first = Paths::kNone;
    for (std::size_t bean = 0; bean < kBeans; ++bean) {
      const std::uint8_t steps = view.paths.steps[snake][direction][bean];
      nearest = std::min(nearest, steps);
      if (first[bean]) nearest_first = std::min(nearest_first, steps);
    }
    out.put(common.stays[cell]);
    out.put((contents & 0x7fU) != 0 && !common.stays[cell]);
    out.put(beside.enemy);
    out.put(beside.mate);
    out.put((contents & Board::kBean) != 0);
    out.put(nearness(nearest));
    out.put(nearness(nearest_first));
    out.put(std::min(1.0F, rooms * static_cast<float>(view.paths.room[snake][direction])));
  }
}

/// Sorts a few indices by a key; indices with equal keys keep their order.
template <std::size_t n, typename Key>
void sort_by(std::array<std::uint8_t, n>& items, std::size_t begin, std::size_t end, Key key) {
  for (std::size_t i = begin + 1; i < end; ++i) {
    for (std::size_t j = i; j > begin && key(items[j]) < key(items[j - 1]); --j) {
      std::swap(items[j], items[j - 1]);
    }
  }
}

void put_beans(const Board& board, const Common& common, std::size_t snake, Writer& out) {
  std::array<std::uint8_t, kBeans> order{0, 1, 2, 3, 4};
  sort_by(order, 0, board.num_beans, [&](std::uint8_t bean) { return common.steps[snake][bean]; });
  for (std::size_t i = 0; i < kBeans; ++i) {
    out.put(i < board.num_beans ? offset(board.head[snake], board.beans[order[i]]) : Offset{});
  }
}

void put_others(const View& view, std::size_t snake, Writer& out) {
  const Board& board = view.board;
  std::array<Offset, kSnakes> offsets;
  std::array<std::uint8_t, kSnakes - 1> order{};
  constexpr std::size_t kMates = kTeamSnakes - 1;
  std::size_t mates = 0;
  std::size_t enemies = kMates;
  for (std::uint8_t other = 0; other < kSnakes; ++other) {
    if (other == snake) continue;
    offsets[other] = offset(board.head[snake], board.head[other]);
    order[team_of(other) == view.team ? mates++ : enemies++] = other;
  }
  const auto distance = [&](std::uint8_t other) { return offsets[other].steps(); };
  sort_by(order, 0, kMates, distance);
  sort_by(order, kMates, order.size(), distance);
  for (const std::uint8_t other : order) {
    out.put(offsets[other]);
    out.put(kLengthScale * static_cast<float>(board.length[other]));
  }
}

}  // namespace

void write_features(const View& view, std::span<float, kTeamSnakes * kNumFeatures> features) {
  const Board& board = view.board;
  const Common common = common_of(view);
  const int lead = team_length(board, view.team) - team_length(board, 1 - view.team);
  Writer out(features.data());
  for (std::size_t mate = 0; mate < kTeamSnakes; ++mate) {
    const std::size_t snake = static_cast<std::size_t>(first_snake(view.team)) + mate;
    put_directions(view, common, snake, out);
    put_beans(board, common, snake, out);
    put_others(view, snake, out);
    out.put(kLengthScale * static_cast<float>(board.length[snake]));
    out.put(static_cast<float>(board.num_steps) / kMaxSteps);
    out.put(kLeadScale * static_cast<float>(lead));
    out.put(board.length[snake] == kStartLength);
  }
}

}  // namespace traffic::game
