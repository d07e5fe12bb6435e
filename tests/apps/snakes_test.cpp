/// Starts the program snakes as users do.
#include "support/run_folder_test.h"

namespace traffic::test {
namespace {

using ::testing::HasSubstr;

class Snakes : public RunFolderTest {
 protected:
  static Outcome snakes(const std::string& arguments) {
    return run_program(TRAFFIC_BIN_DIR "/snakes " + arguments, 60);
  }
};

TEST_F(Snakes, ComparesTwoTeamsOnTheSameStarts) {
  const Outcome outcome = snakes("--team bfs --against 0 --games 40");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              HasSubstr("bfs against random: wins 100.0 % +- 0.0 of 40 games (a draw is half a "
                        "win), 20 starts, each played from both sides"));
}

TEST_F(Snakes, ShowsTheEndOfAGameWhereThereIsNoTerminal) {
  const Outcome outcome = snakes("--seed 4");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("step 200 of 200   seed 4\n"));
  EXPECT_EQ(outcome.output, snakes("--seed 4").output);
  EXPECT_NE(outcome.output, snakes("--seed 5").output);
}

TEST_F(Snakes, WritesAPage) {
  const std::string page = (dir_ / "game.html").string();
  EXPECT_EQ(snakes("--page " + page).exit_code, 0);
  std::ifstream in(page);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_TRUE(text.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(text.ends_with("</html>\n"));
}

TEST_F(Snakes, NamesErrorsInItsArguments) {
  const Outcome team = snakes("--against strong");
  EXPECT_EQ(team.exit_code, 2);
  EXPECT_THAT(team.output, HasSubstr("'strong', expected one of random, chase, greedy, torus, bfs, "
                                     "evasive"));
  EXPECT_EQ(snakes("--games 3").exit_code, 2);
  EXPECT_EQ(snakes("--game 40").exit_code, 2);
  const Outcome page = snakes("--page " + (dir_ / "none/game.html").string());
  EXPECT_EQ(page.exit_code, 8);
  EXPECT_THAT(page.output, HasSubstr("check that the folder exists"));
}

}  // namespace
}  // namespace traffic::test
