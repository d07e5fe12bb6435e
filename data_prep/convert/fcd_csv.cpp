#include <utility>

#include "csv_reader.h"
#include "formats.h"

namespace traffic::data_prep {
namespace {

class FcdCsv final : public Recording {
 public:
  FcdCsv(std::unique_ptr<TextInput> input, InputProblems& problems)
      : input_(std::move(input)),
        table_(*input_, problems),
        fields_(input_->name(), problems),
        time_(table_.require({"timestep_time"})),
        id_(table_.require({"vehicle_id"})) {
    for (const std::string_view name : {"id", "x", "y", "angle", "type", "speed", "pos", "lane",
                                        "acceleration", "leaderID", "leaderGap"}) {
      const int column = table_.find({"vehicle_" + std::string(name)});
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
      if (!table_.text(id_).empty()) take_vehicle(frame);
    }
    if (open) sink(frame);
  }

  [[nodiscard]] double share_read() const override { return input_->share_read(); }

 private:
  void take_vehicle(RecordedFrame& frame) {
    fields_.begin(table_.line());
    for (const auto& [name, column] : columns_) {
      const auto value = table_.text(column);
      if (!value.empty()) fields_.set(name, value, frame);
    }
    fields_.finish(frame);
  }

  std::unique_ptr<TextInput> input_;
  CsvReader table_;
  FcdFields fields_;
  int time_;
  int id_;
  std::vector<std::pair<std::string_view, int>> columns_;
};

}  // namespace

std::unique_ptr<Recording> read_fcd_csv(std::unique_ptr<TextInput> input, InputProblems& problems) {
  return std::make_unique<FcdCsv>(std::move(input), problems);
}

}  // namespace traffic::data_prep
