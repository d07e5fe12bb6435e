// Reads SUMO's floating car data (positions of vehicles) from a CSV table.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "csv_reader.h"
#include "formats.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"

namespace traffic::data_prep {
namespace {

class FcdCsv final : public Recording {
 public:
  FcdCsv(std::unique_ptr<TextInput> input, InputProblems& problems)
      : input_(std::move(input)),
        problems_(problems),
        table_(*input_, problems),
        fields_(input_->name(), problems),
        time_(table_.require({"timestep_time"}, "s")),
        id_(table_.require({"vehicle_id"})),
        type_(table_.find({"vehicle_type"})),
        lane_(table_.find({"vehicle_lane"})),
        edge_(table_.find({"vehicle_edge"})),
        tag_(table_.find({"vehicle_tag"})) {
    using Column = std::pair<std::string_view, std::string_view>;
    for (const auto& [name, unit] :
         {Column{"id", ""}, Column{"x", "m"}, Column{"y", "m"}, Column{"angle", "deg"},
          Column{"type", ""}, Column{"speed", "m/s"}, Column{"pos", "m"}, Column{"lane", ""},
          Column{"acceleration", "m/s2"}, Column{"leaderID", ""}, Column{"leaderGap", "m"}}) {
      const int column = table_.find({"vehicle_" + std::string(name)}, unit);
      if (column >= 0) columns_.emplace_back(name, column);
    }
  }

  void read(const FrameSink& sink) override {
    RecordedFrame frame;
    bool open = false;
    while (table_.next()) {
      const double time = table_.number(time_);
      if (std::isnan(time)) continue;
      if (open && time != frame.time_s) {
        if (!sink(frame)) return;
        open = false;
      }
      if (!open) {
        frame.clear();
        frame.time_s = time;
        frame.line = table_.line();
        open = true;
      }
      if (is_vehicle()) take_vehicle(frame);
    }
    if (open && !sink(frame)) return;
    if (vehicles_ == 0 && others_ > 0) {
      throw DataError(
          "{}: has no vehicle on a lane, only {} with an edge, from persons, containers or "
          "vehicles of a mesoscopic simulation; record a microscopic simulation",
          input_->name(), counted(others_, "row"));
    }
  }

  [[nodiscard]] double share_read() const override { return input_->share_read(); }
  [[nodiscard]] std::string remark() const override {
    return others_ == 0
               ? ""
               : fmt::format("left out {} of persons and containers", counted(others_, "row"));
  }

 private:
  /// SUMO writes persons and containers into the same columns as vehicles. Persons and containers
  /// have an edge in the column in which vehicles have a lane.
  bool is_vehicle() {
    if (table_.text(id_).empty()) {
      check_empty_step();
      return false;
    }
    const std::string_view tag = table_.text(tag_);
    const std::string_view type = table_.text(type_);
    const bool has_default_type = type == "DEFAULT_PEDTYPE" || type == "DEFAULT_CONTAINERTYPE";
    const bool on_edge = table_.text(lane_).empty() && !table_.text(edge_).empty();
    if (tag == "person" || tag == "container" || has_default_type || on_edge) {
      ++others_;
      return false;
    }
    if (lane_ < 0 || !table_.text(lane_).empty()) {
      ++vehicles_;
      return true;
    }
    problems_.report(input_->name(), table_.line(),
                     fmt::format("'{}' is not on a lane, so it may be a person; write the table "
                                 "with the attribute edge, or write XML",
                                 table_.text(id_)));
    return false;
  }

  /// Checks a row without vehicle_id. SUMO writes such a row for a time step without vehicles. It
  /// has a time and no other field.
  void check_empty_step() {
    for (const auto& [name, column] : columns_) {
      if (table_.text(column).empty()) continue;
      problems_.report(
          input_->name(), table_.line(),
          fmt::format("the row has the {} '{}' but no vehicle_id", name, table_.text(column)));
      return;
    }
  }

  void take_vehicle(RecordedFrame& frame) {
    fields_.begin(table_.line());
    for (const auto& [name, column] : columns_) {
      const auto value = table_.text(column);
      if (!value.empty()) fields_.set(name, value, frame);
    }
    fields_.finish(frame);
  }

  std::unique_ptr<TextInput> input_;
  InputProblems& problems_;
  CsvReader table_;
  FcdFields fields_;
  int time_;
  int id_;
  int type_;
  int lane_;
  int edge_;
  int tag_;
  std::int64_t vehicles_ = 0;
  std::int64_t others_ = 0;                                ///< rows of persons and containers
  std::vector<std::pair<std::string_view, int>> columns_;  ///< name and index of each known column
};

}  // namespace

std::unique_ptr<Recording> read_fcd_csv(std::unique_ptr<TextInput> input, InputProblems& problems) {
  return std::make_unique<FcdCsv>(std::move(input), problems);
}

}  // namespace traffic::data_prep
