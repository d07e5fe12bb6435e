#include "traffic/report/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "traffic/core/error.h"

namespace traffic::report {
namespace {

Table example() {
  Table table({"controller", "seeds", "gain %", "ok"});
  table.add_row({std::string("none"), std::int64_t{10}, 0.0, true});
  table.add_row({std::string("später"), std::int64_t{5}, -12.3456, false});
  table.add_row({std::monostate{}, std::monostate{}, NAN, std::monostate{}});
  return table;
}

TEST(Table, AlignsNumbersRightAndTextLeftByCharacters) {
  EXPECT_EQ(example().to_text(),
            "controller  seeds  gain %  ok\n"
            "----------  -----  ------  ---\n"
            "none           10       0  yes\n"
            "später          5  -12.35  no\n"
            "-               -     nan  -\n");
}

TEST(Table, AnInfiniteIntervalIsShownAsNone) {
  Table table({"+-95%"});
  table.add_row({INFINITY});
  EXPECT_EQ(table.to_text(), "+-95%\n-----\n    -\n");
}

TEST(Table, JsonHasFullPrecisionAndNulls) {
  const auto rows = nlohmann::json::parse(example().to_json());
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[0]["ok"], true);
  EXPECT_EQ(rows[1]["gain %"], -12.3456);
  EXPECT_EQ(rows[1]["seeds"], 5);
  EXPECT_TRUE(rows[2]["gain %"].is_null());
  EXPECT_TRUE(rows[2]["controller"].is_null());
}

TEST(Table, WithoutRowsThereIsAHeaderAndAnEmptyArray) {
  EXPECT_EQ(Table({"a", "b"}).to_text(), "a  b\n-  -\n");
  EXPECT_EQ(Table({"a"}).to_json(), "[]\n");
}

TEST(Table, RefusesARowOfAnotherLength) {
  Table table({"a", "b"});
  EXPECT_THROW(table.add_row({1.0}), Error);
}

}  // namespace
}  // namespace traffic::report
