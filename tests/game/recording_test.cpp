#include "traffic/game/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "game/recorded_games.h"

namespace traffic::game {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Recording recorded() {
  return record_game(3, {player_of(Opponent::kBfs), player_of(Opponent::kRandom)},
                     {"bfs", "<i>random</i>"});
}

TEST(Recording, HoldsEveryBoardOfTheGame) {
  const Recording recording = recorded();
  ASSERT_EQ(recording.boards.size(), kMaxSteps + 1U);
  for (std::size_t step = 0; step < recording.boards.size(); ++step) {
    EXPECT_EQ(recording.boards[step].num_steps, step);
  }
  EXPECT_TRUE(recording.boards.back().over);
}

TEST(Recording, IsAPageWithoutOtherFiles) {
  const std::string page = replay_page(recorded());
  EXPECT_THAT(page, HasSubstr("<h1><span class=\"team0\">bfs</span> against "
                              "<span class=\"team1\">&lt;i&gt;random&lt;/i&gt;</span></h1>"));
  EXPECT_THAT(page, Not(HasSubstr("<i>")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("href=")));
  const std::size_t begin = page.find("const frames = [");
  ASSERT_NE(begin, std::string::npos);
  const std::string frames = page.substr(begin, page.find("];", begin) - begin);
  EXPECT_EQ(std::count(frames.begin(), frames.end(), '\n'), kMaxSteps + 2);
}

TEST(Recording, IsDrawnInTheTerminal) {
  testing::State state;
  state.snakes = {
      {{0, 1, 2}, {20, 21, 22}, {40, 41, 42, 43}, {60, 61, 62}, {80, 81, 82}, {101, 102, 103}}};
  state.beans = {199};
  const Recording recording{
      .names = {"one", "two"}, .seed = 7, .boards = {testing::board_of(state)}};
  EXPECT_EQ(terminal_board(recording, 0, /*colours=*/false),
            "step   0 of   0   seed 7\n"
            "A a a . . . . . . . . . . . . . . . . . \n"
            "B b b . . . . . . . . . . . . . . . . . \n"
            "C c c c . . . . . . . . . . . . . . . . \n"
            "D d d . . . . . . . . . . . . . . . . . \n"
            "E e e . . . . . . . . . . . . . . . . . \n"
            ". F f f . . . . . . . . . . . . . . . . \n"
            ". . . . . . . . . . . . . . . . . . . . \n"
            ". . . . . . . . . . . . . . . . . . . . \n"
            ". . . . . . . . . . . . . . . . . . . . \n"
            ". . . . . . . . . . . . . . . . . . . * \n"
            "one                       10   A   3   B   3   C   4\n"
            "two                        9   D   3   E   3   F   3\n");
}

}  // namespace
}  // namespace traffic::game
