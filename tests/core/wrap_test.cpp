#include "traffic/core/wrap.h"

#include <gtest/gtest.h>

namespace traffic {
namespace {

TEST(Wrap, ShortLinesStayAsTheyAre) {
  EXPECT_EQ(wrapped("", 20), "");
  EXPECT_EQ(wrapped("a line\n\n  b   c\n", 20), "a line\n\n  b   c\n");
}

TEST(Wrap, ALongLineContinuesUnderItsLastColumn) {
  EXPECT_EQ(wrapped("  --seed N    Seed of all random numbers\n", 30),
            "  --seed N    Seed of all\n"
            "              random numbers\n");
  EXPECT_EQ(wrapped("one two three four five", 10), "one two\nthree four\nfive");
  EXPECT_EQ(wrapped("    one two three", 12), "    one two\n    three");
}

TEST(Wrap, AColumnThatLeavesTooLittleRoomIsIgnored) {
  EXPECT_EQ(wrapped("  --a-long-option-name  what it is for", 24),
            "  --a-long-option-name\n  what it is for");
}

TEST(Wrap, CountsCharactersAndKeepsLongWords) {
  EXPECT_EQ(wrapped("äöü äöü", 7), "äöü äöü");
  EXPECT_EQ(wrapped("a aVeryLongWordIndeed b", 10), "a\naVeryLongWordIndeed\nb");
}

}  // namespace
}  // namespace traffic
