#include "train/monitor/profile_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace traffic::train {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

TraceSpan span(const char* name, std::uint64_t from_ms, std::uint64_t to_ms,
               const char* where = "CPU", std::uint64_t row = 1) {
  return {
      .name = name, .where = where, .row = row, .start_ns = from_ms * kMs, .end_ns = to_ms * kMs};
}

nlohmann::json rows_of(const std::vector<TraceSpan>& spans) {
  return nlohmann::json::parse(profile_table(spans).to_json());
}

TEST(ProfileTable, OwnTimeExcludesContainedSpans) {
  const auto rows = rows_of({span("inner", 12, 14), span("outer", 10, 20), span("middle", 11, 16),
                             span("inner", 17, 18), span("outer", 30, 34)});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["operation"], "outer");
  EXPECT_EQ(rows[0]["calls"], 2);
  EXPECT_DOUBLE_EQ(rows[0]["total_ms"], 14.0);
  EXPECT_DOUBLE_EQ(rows[0]["own_ms"], 8.0);  // 10 - 5 - 1 ms in one span, and 4 ms in the other
  EXPECT_EQ(rows[1]["operation"], "inner");  // "middle" has the same own time, 3 ms; names decide
  EXPECT_DOUBLE_EQ(rows[1]["own_ms"], 3.0);
  EXPECT_DOUBLE_EQ(rows[2]["total_ms"], 5.0);
  EXPECT_DOUBLE_EQ(rows[2]["own_ms"], 3.0);
}

TEST(ProfileTable, OwnTimesAddUpToTheTimeThatIsCovered) {
  const auto rows = rows_of({span("a", 0, 50), span("b", 0, 50), span("c", 10, 20)});
  double own = 0;
  double percent = 0;
  for (const auto& row : rows) {
    own += row["own_ms"].get<double>();
    percent += row["own_percent"].get<double>();
  }
  EXPECT_DOUBLE_EQ(own, 50.0);
  EXPECT_DOUBLE_EQ(percent, 100.0);
}

TEST(ProfileTable, ThreadsAndDevicesDoNotContainEachOther) {
  const auto rows = rows_of({span("step", 0, 10), span("step", 2, 4, "CPU", 2),
                             span("kernel", 3, 5, "GPU 0"), span("kernel", 5, 6, "GPU 0")});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_DOUBLE_EQ(rows[0]["own_ms"], 12.0);
  EXPECT_EQ(rows[1]["where"], "GPU 0");
  EXPECT_DOUBLE_EQ(rows[1]["own_ms"], 3.0);
  EXPECT_DOUBLE_EQ(rows[1]["own_percent"], 100.0);
}

TEST(ProfileTable, OfNoSpansIsEmpty) { EXPECT_EQ(profile_table({}).num_rows(), 0U); }

}  // namespace
}  // namespace traffic::train
