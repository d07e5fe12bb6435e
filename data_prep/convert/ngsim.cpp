// Reads recordings of NGSIM (US freeways and streets, in feet).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "csv_reader.h"
#include "formats.h"
#include "numbers.h"
#include "track_table.h"
#include "traffic/core/error.h"

namespace traffic::data_prep {
namespace {

constexpr double kFootM = 0.3048;
constexpr double kTickS = 0.1;
constexpr double kTickMs = 1000 * kTickS;
constexpr double kLargestTime = 1e15;  ///< in ms or frames; no recording has larger numbers
constexpr double kLargestLane = 1e6;
/// NGSIM's accelerations are second differences of noisy positions and therefore very noisy. The
/// reader replaces each by a weighted mean of the vehicle's accelerations around the same time. An
/// acceleration dt seconds away has the weight exp(-|dt| / kSmoothingS), up to kSmoothingTicks
/// tenths of a second.
constexpr double kSmoothingS = 1.0;
constexpr int kSmoothingTicks = 30;
/// The heading of a vehicle is computed from its movement after it has moved at least this far.
constexpr double kHeadingM = 3.0;
/// Minimum plausible median of the vehicles' lengths. If a table is in metres but read as feet, the
/// median is about 1.4 m.
constexpr double kShortestMedianM = 2.0;

/// The columns of files that NGSIM published without a header. A file has 18 columns for a freeway
/// and 24 for a street. The file of all locations has the columns of a street and a column
/// Location.
const std::vector<std::string> kFreewayColumns{
    "Vehicle_ID", "Frame_ID", "Total_Frames", "Global_Time", "Local_X",    "Local_Y",
    "Global_X",   "Global_Y", "v_Length",     "v_Width",     "v_Class",    "v_Vel",
    "v_Acc",      "Lane_ID",  "Preceding",    "Following",   "Space_Hdwy", "Time_Hdwy"};
const std::vector<std::string> kStreetColumns{
    "Vehicle_ID", "Frame_ID", "Total_Frames", "Global_Time", "Local_X",    "Local_Y",
    "Global_X",   "Global_Y", "v_Length",     "v_Width",     "v_Class",    "v_Vel",
    "v_Acc",      "Lane_ID",  "O_Zone",       "D_Zone",      "Int_ID",     "Section_ID",
    "Direction",  "Movement", "Preceding",    "Following",   "Space_Hdwy", "Time_Hdwy"};

/// The columns of a table without a header. Empty if no file of NGSIM has this number of fields.
std::vector<std::string> columns_without_header(std::size_t fields) {
  if (fields == kFreewayColumns.size()) return kFreewayColumns;
  if (fields < kStreetColumns.size() || fields > kStreetColumns.size() + 1) return {};
  std::vector<std::string> names = kStreetColumns;
  if (fields > names.size()) names.emplace_back("Location");
  return names;
}

void split_first_row(std::string_view head, std::vector<std::string_view>& fields) {
  const std::string_view row = first_row(head);
  split_row(row, separator_of(row), fields);
}

CsvReader open_table(TextInput& input, InputProblems& problems) {
  std::vector<std::string_view> fields;
  split_first_row(input.peek(), fields);
  if (fields.empty() || !parse_finite(fields.front())) return {input, problems};
  std::vector<std::string> names = columns_without_header(fields.size());
  if (names.empty()) {
    throw DataError(
        "{}:1: the table has no header and {} columns; expected names of columns, or the 18, 24 or "
        "25 columns that NGSIM publishes without them",
        input.name(), fields.size());
  }
  return {input, problems, std::move(names)};
}

struct NgsimColumns {
  explicit NgsimColumns(const CsvReader& table)
      : vehicle(table.require({"Vehicle_ID"})),
        frame(table.find({"Frame_ID"})),
        total_frames(table.find({"Total_Frames"})),
        time(table.find({"Global_Time"}, "ms")),
        across(table.require({"Local_X"}, "ft")),
        along(table.require({"Local_Y"}, "ft")),
        length(table.find({"v_Length"}, "ft")),
        type(table.find({"v_Class"})),
        speed(table.require({"v_Vel", "v_Velocity"}, "ft/s")),
        accel(table.find({"v_Acc", "v_Acceleration"}, "ft/s2")),
        lane(table.require({"Lane_ID"})),
        junction(table.find({"Int_ID"})),
        section(table.find({"Section_ID"})),
        direction(table.find({"Direction"})),
        location(table.find({"Location"})) {
    if (frame < 0) time = table.require({"Global_Time"}, "ms");
  }
  int vehicle, frame, total_frames, time, across, along, length, type, speed, accel, lane, junction,
      section, direction, location;
};

/// Converts NGSIM's lane numbers of one direction of a road into lane indices. From left to right
/// the numbers are: 12, 11 for bays for turning left; 1, 2, 3 for through lanes; 31, 32 for bays
/// for turning right. 0 means inside a junction.
struct LaneNumbers {
  static constexpr int kLeftBay = 10;
  static constexpr int kRightBay = 30;
  int through = 0;     ///< number of through lanes
  int right_bays = 0;  ///< number of bays for turning right

  static bool is_left_bay(int lane) { return lane > kLeftBay && lane < 2 * kLeftBay; }
  static bool is_right_bay(int lane) { return lane > kRightBay && lane < kRightBay + kLeftBay; }

  void add(int lane) {
    if (is_right_bay(lane)) {
      right_bays = std::max(right_bays, lane - kRightBay);
    } else if (!is_left_bay(lane)) {
      through = std::max(through, lane);
    }
  }
  /// The lane index, where 0 is the rightmost lane.
  [[nodiscard]] int index_of(int lane) const {
    if (is_right_bay(lane)) return right_bays - (lane - kRightBay);
    if (is_left_bay(lane)) return right_bays + through + (lane - kLeftBay) - 1;
    return lane > 0 ? right_bays + through - lane : 0;
  }
};

class Ngsim final : public Recording {
 public:
  Ngsim(std::unique_ptr<TextInput> input, InputProblems& problems)
      : input_(std::move(input)),
        problems_(problems),
        table_(open_table(*input_, problems)),
        columns_(table_) {}

  void read(const FrameSink& sink) override {
    while (table_.next()) take_row();
    for (auto& [name, location] : locations_) {
      check_lengths(location);
      location.sort_by_track(input_->name(), problems_);
      repeated_rows_ += location.repeated_rows;
      smooth(location.rows);
      find_headings(location.rows);
      if (!play(location, sink)) return;
    }
  }

  [[nodiscard]] double share_read() const override { return input_->share_read(); }
  [[nodiscard]] double largest_speed_error() const override { return kComputedSpeedError; }
  [[nodiscard]] std::string remark() const override {
    const std::string smoothed =
        columns_.accel < 0 ? ""
                           : fmt::format(
                                 "; accelerations smoothed over {} s, speeds and positions "
                                 "unchanged",
                                 kSmoothingS);
    return fmt::format("NGSIM: feet converted to metres{}{}", smoothed,
                       repeated_rows_remark(repeated_rows_));
  }

 private:
  struct Location : TrackTable {
    std::unordered_map<std::string, std::uint32_t> track_index;
    /// The number that was given to each pair of junction and section, i.e. to each road.
    std::map<std::pair<std::string, std::string>, std::uint16_t> roads;
  };

  Location& location() {
    const std::string name(table_.text(columns_.location));
    const auto found = std::find_if(locations_.begin(), locations_.end(),
                                    [&](const auto& item) { return item.first == name; });
    if (found != locations_.end()) return found->second;
    locations_.emplace_back(name, Location{});
    locations_.back().second.tick_s = kTickS;
    return locations_.back().second;
  }

  /// The time of the row in tenths of a second, from Global_Time. If this is not a multiple of a
  /// tenth of a second, reports it and returns kUnknown. If the table has no Global_Time, returns
  /// the frame number; frame numbers begin anew in every period of a location.
  double tick() {
    if (columns_.time < 0) return table_.whole_number(columns_.frame, -kLargestTime, kLargestTime);
    const double ms = table_.whole_number(columns_.time, -kLargestTime, kLargestTime);
    if (std::isnan(ms) || std::fmod(ms, kTickMs) == 0) return ms / kTickMs;
    problems_.report(input_->name(), table_.line(),
                     fmt::format("Global_Time is {}, expected a multiple of {} ms",
                                 table_.text(columns_.time), kTickMs));
    return kUnknown;
  }

  void take_row() {
    const auto before = problems_.count();
    const double when = tick();
    const double across = table_.number(columns_.across);
    const double along = table_.number(columns_.along);
    const double speed = table_.number(columns_.speed);
    const double accel = table_.number(columns_.accel, true);
    const double lane = table_.whole_number(columns_.lane, 0, kLargestLane);
    const double length = table_.number(columns_.length, true);
    if (table_.text(columns_.vehicle).empty()) {
      problems_.report(input_->name(), table_.line(), "the row has no Vehicle_ID");
    }
    if (problems_.count() != before) return;
    Location& where = location();
    // NGSIM uses the same Vehicle_ID for several vehicles. Their numbers of frames differ, so both
    // numbers together identify a vehicle.
    const std::string name =
        fmt::format("{}.{}", table_.text(columns_.vehicle), table_.text(columns_.total_frames));
    const auto [found, is_new] =
        where.track_index.emplace(name, static_cast<std::uint32_t>(where.tracks.size()));
    if (is_new) {
      where.tracks.push_back({.name = name,
                              .type = std::string(table_.text(columns_.type)),
                              .length_m = length * kFootM});
    }
    const auto road = where.roads.try_emplace(
        {std::string(table_.text(columns_.junction)), std::string(table_.text(columns_.section))},
        static_cast<std::uint16_t>(where.roads.size()));
    where.rows.push_back({.tick = static_cast<std::int64_t>(when),
                          .track = found->second,
                          .line = static_cast<std::uint32_t>(table_.line()),
                          .x_m = static_cast<float>(across * kFootM),
                          .y_m = static_cast<float>(along * kFootM),
                          .speed_mps = static_cast<float>(speed * kFootM),
                          .accel_mps2 = static_cast<float>(accel * kFootM),
                          .lane = static_cast<std::int32_t>(lane),
                          .road = road.first->second,
                          .heading = stated_heading()});
  }

  /// The heading that the column Direction states. If it is empty or missing, returns north, the
  /// direction of Local_Y.
  [[nodiscard]] Heading stated_heading() const {
    const std::string_view direction = table_.text(columns_.direction);
    if (direction == "1") return Heading::kEast;
    if (direction == "3") return Heading::kWest;
    if (direction == "4") return Heading::kSouth;
    return Heading::kNorth;
  }

  /// Detects tables in metres and m/s by the lengths of vehicles. Comparing displacements with
  /// speeds cannot detect them, because positions and speeds have the same wrong factor.
  void check_lengths(const Location& location) const {
    std::vector<double> lengths;
    for (const Track& track : location.tracks) {
      if (!std::isnan(track.length_m)) lengths.push_back(track.length_m);
    }
    if (lengths.empty()) return;
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    if (*middle >= kShortestMedianM) return;
    throw DataError(
        "{}: half of the vehicles are at most {:.3g} feet long (v_Length), which is too short for "
        "cars; if the table is in metres, convert it to feet",
        input_->name(), *middle / kFootM);
  }

  /// Smooths the accelerations of each vehicle.
  /// @param rows sorted by track and time
  static void smooth(std::vector<TrackRow>& rows) {
    std::vector<float> smoothed(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double sum = 0;
      double weights = 0;
      const auto add = [&](std::size_t j) {
        const auto ticks = rows[j].tick - rows[i].tick;
        if (rows[j].track != rows[i].track || std::abs(ticks) > kSmoothingTicks) return false;
        const double weight =
            std::exp(-std::abs(static_cast<double>(ticks)) * kTickS / kSmoothingS);
        sum += weight * static_cast<double>(rows[j].accel_mps2);
        weights += weight;
        return true;
      };
      for (std::size_t j = i; j < rows.size() && add(j); ++j) {
      }
      for (std::size_t j = i; j-- > 0 && add(j);) {
      }
      smoothed[i] = static_cast<float>(sum / weights);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].accel_mps2 = smoothed[i];
  }

  /// Replaces the stated headings by the directions of the movements.
  /// @param rows sorted by track and time
  static void find_headings(std::vector<TrackRow>& rows) {
    // If a vehicle number appears again after more than 3 s, it belongs to another vehicle.
    const auto go_on = [](const TrackRow& a, const TrackRow& b) {
      return a.track == b.track && b.tick - a.tick <= kSmoothingTicks;
    };
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      for (end = begin + 1; end < rows.size() && go_on(rows[end - 1], rows[end]);) ++end;
      find_headings_of_one(std::span(rows).subspan(begin, end - begin));
    }
  }

  /// Finds the headings of one vehicle. While the vehicle stands, it keeps its last heading. A
  /// vehicle that never moves keeps the stated heading.
  static void find_headings_of_one(std::span<TrackRow> rows) {
    std::size_t anchor = 0;
    std::size_t next = 0;  // the first row whose heading is not found yet
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double dx = rows[i].x_m - rows[anchor].x_m;
      const double dy = rows[i].y_m - rows[anchor].y_m;
      if (std::hypot(dx, dy) < kHeadingM) continue;
      const Heading across = dx > 0 ? Heading::kEast : Heading::kWest;
      const Heading along = dy > 0 ? Heading::kNorth : Heading::kSouth;
      for (; next <= i; ++next) {
        rows[next].heading = std::abs(dx) > std::abs(dy) ? across : along;
      }
      anchor = i;
    }
    if (next == 0) return;
    for (; next < rows.size(); ++next) rows[next].heading = rows[next - 1].heading;
  }

  /// The road of a row. Vehicles that drive along Local_Y share one road for the whole location.
  /// Vehicles that cross it have a road for each junction and section.
  static std::pair<Heading, int> road_of(const TrackRow& row) {
    const bool along = row.heading == Heading::kNorth || row.heading == Heading::kSouth;
    return {row.heading, along ? -1 : static_cast<int>(row.road)};
  }

  static bool play(Location& location, const FrameSink& sink) {
    std::map<std::pair<Heading, int>, LaneNumbers> numbers;
    for (const TrackRow& row : location.rows) numbers[road_of(row)].add(row.lane);
    return location.play(
        [&](const TrackRow& row) {
          const auto road = road_of(row);
          const int index = numbers[road].index_of(row.lane);
          // Inside a junction paths cross, so vehicles there do not follow each other on a lane.
          // Each vehicle gets a lane of its own.
          if (row.lane == 0) {
            return LanePlace{fmt::format("junction {}", location.tracks[row.track].name), index};
          }
          return LanePlace{
              fmt::format("{} {} {}", static_cast<int>(road.first), road.second, row.lane), index};
        },
        sink);
  }

  std::unique_ptr<TextInput> input_;
  InputProblems& problems_;
  CsvReader table_;
  NgsimColumns columns_;
  std::vector<std::pair<std::string, Location>> locations_;
  std::int64_t repeated_rows_ = 0;
};

}  // namespace

bool is_ngsim_without_header(std::string_view head) {
  constexpr std::size_t kGlobalTime = 3;
  constexpr std::size_t kNumbers = 14;  // number of fields up to Lane_ID; none of them is empty
  constexpr double kEarliestMs = 1e11;  // minimum of Global_Time (ms since 1970)
  std::vector<std::string_view> fields;
  split_first_row(head, fields);
  if (columns_without_header(fields.size()).empty()) return false;
  const bool all_numbers = std::all_of(fields.begin(), fields.begin() + kNumbers,
                                       [](auto field) { return parse_finite(field).has_value(); });
  return all_numbers && *parse_finite(fields[kGlobalTime]) > kEarliestMs;
}

std::unique_ptr<Recording> read_ngsim(std::unique_ptr<TextInput> input, InputProblems& problems) {
  return std::make_unique<Ngsim>(std::move(input), problems);
}

}  // namespace traffic::data_prep
