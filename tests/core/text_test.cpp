#include "traffic/core/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "traffic/core/error.h"
#include "traffic/core/hash.h"

namespace traffic {
namespace {

TEST(Text, EditDistanceCountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("rate", "rate"), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("learnin_rate", "learning_rate"), 1U);
  EXPECT_EQ(edit_distance("epcohs", "epochs"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Text, NearestNameFindsATypoAndNothingForAStranger) {
  constexpr std::array<std::string_view, 3> kNames{"epochs", "learning_rate", "max_steps"};
  EXPECT_EQ(nearest_name("epocs", kNames), "epochs");
  EXPECT_EQ(nearest_name("learningrate", kNames), "learning_rate");
  EXPECT_EQ(nearest_name("banana_split", kNames), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(100000, 'x'), kNames), std::nullopt);
}

TEST(Text, SizesAndDurationsReadLikeAPersonWroteThem) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(12LL << 30), "12.0 GiB");
  EXPECT_EQ(human_duration(0.34), "340 ms");
  EXPECT_EQ(human_duration(12.34), "12.3 s");
  EXPECT_EQ(human_duration(245), "4 min 05 s");
  EXPECT_EQ(human_duration(3 * 3600 + 7 * 60), "3 h 07 min");
  EXPECT_EQ(human_duration(2 * 86400 + 3 * 3600), "2 d 03 h");
  EXPECT_EQ(human_duration(-5), "-5.0 s");
}

TEST(Text, TellsUtf8FromOtherBytes) {
  for (const char* good : {"", "plain", "\u00e9\u4e2d\U0001f600"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad : {"\xff", "\x80", "\xc3", "a\xe4\xb8", "\xc0\xaf", "\xe0\x80\xaf",
                          "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3\x28"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

TEST(Hash, AgreesWithThePublishedValueAndWithItselfInPieces) {
  EXPECT_EQ(hex64(xxh3_64("")), "2d06800538d394c2");
  const std::string text(100000, 'q');
  Hasher hasher;
  hasher.update(std::string_view(text).substr(0, 777));
  hasher.update(std::string_view(text).substr(777));
  EXPECT_EQ(hasher.digest(), xxh3_64(text));
  EXPECT_EQ(hex64(1), "0000000000000001");
}

TEST(ErrorTest, AFailedCheckNamesConditionPlaceAndMessage) {
  const int batch = 3;
  try {
    TRAFFIC_CHECK(batch < 0, "batch {} is not negative", batch);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::ContainsRegex("text_test.cpp:[0-9]+"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("batch 3 is not negative"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("batch < 0"));
    EXPECT_EQ(error.code(), ExitCode::kInternal);
  }
}

TEST(ErrorTest, ASubclassHasItsExitCodeAndKeepsBracesOfAPlainMessage) {
  const DataError error(std::string("{not a format}"));
  EXPECT_STREQ(error.what(), "{not a format}");
  EXPECT_EQ(error.code(), ExitCode::kData);
  EXPECT_STREQ(ConfigError("key {} is {}", "a", 1).what(), "key a is 1");
}

}  // namespace
}  // namespace traffic
