/// Helpers of the tests of unusual recordings: traffic with known numbers, functions that write it
/// as text in each format that data_prep reads, and functions that change such texts.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traffic::odd {

inline constexpr double kFootM = 0.3048;
inline constexpr double kCarLengthM = 4.5;

struct Car {
  std::string id;
  double x_m = 0;
  double y_m = 0;
  double speed_mps = 0;
  int lane = 0;  ///< counted from the rightmost lane, which is 0
};
/// All cars at one time.
struct Moment {
  double time_s = 0;
  std::vector<Car> cars;
};
using Traffic = std::vector<Moment>;

/// Parameters of straight_traffic().
struct Straight {
  int moments = 20;
  double step_s = 1;
  double first_s = 0;
  int cars = 3;
};

/// Cars that drive to the right, at 10, 12 and 14 m/s. Each has its own lane; that of car 0 is the
/// rightmost.
inline Traffic straight_traffic(const Straight& spec = {}) {
  Traffic all;
  for (int t = 0; t < spec.moments; ++t) {
    Moment moment{.time_s = spec.first_s + spec.step_s * t, .cars = {}};
    for (int c = 0; c < spec.cars; ++c) {
      const double speed = 10 + 2 * c;
      moment.cars.push_back({.id = fmt::format("car{}", c),
                             .x_m = 100 + speed * spec.step_s * t,
                             .y_m = 3.2 * c,
                             .speed_mps = speed,
                             .lane = c});
    }
    all.push_back(std::move(moment));
  }
  return all;
}

/// The traffic with times as data sets have them: time 0 is one step before the first moment.
inline Traffic counted(Traffic traffic, double step_s = 1) {
  const double first_s = traffic.front().time_s;
  for (Moment& moment : traffic) moment.time_s += step_s - first_s;
  return traffic;
}

inline Traffic edited(Traffic traffic, const std::function<void(Moment&, int)>& edit) {
  for (std::size_t t = 0; t < traffic.size(); ++t) edit(traffic[t], static_cast<int>(t));
  return traffic;
}

inline const std::string kHeader =
    "timestep_time;vehicle_id;vehicle_x;vehicle_y;vehicle_speed;vehicle_lane;vehicle_pos;vehicle_"
    "type;vehicle_angle\n";
enum Column { kTime, kId, kX, kY, kSpeed, kLane, kPos, kType, kAngle };

/// The text of a recording: SUMO's floating car data as a table.
inline std::string table(const Traffic& traffic = straight_traffic(),
                         const std::string& header = kHeader) {
  std::string text = header;
  for (const Moment& moment : traffic) {
    for (const Car& car : moment.cars) {
      text += fmt::format("{:.2f};{};{:.2f};{:.2f};{:.2f};e_{};{:.2f};car;90.00\n", moment.time_s,
                          car.id, car.x_m, car.y_m, car.speed_mps, car.lane, car.x_m);
    }
  }
  return text;
}

inline std::string xml(const Traffic& traffic = straight_traffic()) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fcd-export>\n";
  for (const Moment& moment : traffic) {
    text += fmt::format("<timestep time=\"{:.2f}\">\n", moment.time_s);
    for (const Car& car : moment.cars) {
      text += fmt::format(
          "<vehicle id=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" angle=\"90.00\" type=\"car\" "
          "speed=\"{:.2f}\" pos=\"{:.2f}\" lane=\"e_{}\"/>\n",
          car.id, car.x_m, car.y_m, car.speed_mps, car.x_m, car.lane);
    }
    text += "</timestep>\n";
  }
  return text + "</fcd-export>\n";
}

inline std::string json(const Traffic& traffic = straight_traffic()) {
  std::string text = "{\"samples\": [";
  for (const Moment& moment : traffic) {
    text += fmt::format("{}\n{{\"time_s\": {}, \"vehicles\": [", text.back() == '}' ? "," : "",
                        moment.time_s);
    for (const Car& car : moment.cars) {
      text += fmt::format(
          "{}{{\"id\": \"{}\", \"x_m\": {:.2f}, \"y_m\": {:.2f}, \"speed_mps\": {:.2f}, \"lane\": "
          "\"e_{}\", \"lane_pos_m\": {:.2f}, \"angle_deg\": 90.0}}",
          text.back() == '}' ? ",\n" : "", car.id, car.x_m, car.y_m, car.speed_mps, car.lane,
          car.x_m);
    }
    text += "]}";
  }
  return text + "]}\n";
}

inline const std::string kNgsimHeader =
    "Vehicle_ID,Frame_ID,Total_Frames,Global_Time,Local_X,Local_Y,Global_X,Global_Y,v_Length,v_"
    "Width,v_Class,v_Vel,v_Acc,Lane_ID,Preceding,Following,Space_Hdwy,Time_Hdwy\n";
enum NgsimColumn {
  kVehicle,
  kFrame,
  kTotal,
  kClock,
  kAcross,
  kAlong,
  kLength = 8,
  kVelocity = 11,
  kAcceleration,
  kLaneId
};
inline constexpr Straight kTenHertz{.moments = 40, .step_s = 0.1};

/// The text of a recording in NGSIM's format: sorted by vehicle, in feet. The cars drive along
/// Local_Y, and lane 1 is the leftmost.
inline std::string ngsim(const Traffic& traffic = straight_traffic(kTenHertz),
                         const std::string& header = kNgsimHeader) {
  std::string text = header;
  const auto cars = traffic.front().cars.size();
  for (std::size_t c = 0; c < cars; ++c) {
    for (const Moment& moment : traffic) {
      for (const Car& car : moment.cars) {
        if (car.id != traffic.front().cars[c].id) continue;
        text += fmt::format(
            "{},{:.0f},40,{:.0f},{:.3f},{:.3f},0,0,15.0,6.0,2,{:.3f},0.00,{},0,0,0,0\n", c + 1,
            100 + 10 * moment.time_s, 1118846980200 + 1000 * moment.time_s, (20 - car.y_m) / kFootM,
            car.x_m / kFootM, car.speed_mps / kFootM, cars - static_cast<std::size_t>(car.lane));
      }
    }
  }
  return text;
}
/// The same traffic in the coordinates of NGSIM.
inline Traffic in_ngsim(const Traffic& traffic) {
  return edited(counted(traffic, 0.1), [](Moment& moment, int) {
    for (Car& car : moment.cars) car = {car.id, 20 - car.y_m, car.x_m, car.speed_mps, car.lane};
  });
}

inline constexpr Straight kHighD{.moments = 120, .step_s = 0.04};
inline const std::string kHighDHeader =
    "frame,id,x,y,width,height,xVelocity,yVelocity,xAcceleration,yAcceleration,laneId\n";
/// The text of a recording in highD's format. A position is the upper left corner of the vehicle,
/// and y points downwards. Lane 7 is the rightmost of the three lanes that lead to the right.
inline std::string highd(const Traffic& traffic = straight_traffic(kHighD)) {
  std::string text = kHighDHeader;
  for (const Moment& moment : traffic) {
    for (const Car& car : moment.cars) {
      text += fmt::format("{:.0f},{},{:.3f},{:.3f},{:.2f},1.80,{:.2f},0.00,0.00,0.00,{}\n",
                          1 + moment.time_s / 0.04, car.lane + 1, car.x_m - kCarLengthM,
                          -car.y_m - 0.9, kCarLengthM, car.speed_mps, 7 - car.lane);
    }
  }
  return text;
}
inline const std::string kRecordingMeta = "id,frameRate,locationId,speedLimit\n1,25,2,33.33\n";
inline const std::string kTracksMeta =
    "id,width,height,class,drivingDirection\n1,4.50,1.80,Car,2\n2,4.50,1.80,Car,2\n3,4.50,1.80,"
    "Car,2\n";

inline std::string replaced(std::string text, std::string_view what, std::string_view by,
                            int times = 1'000'000) {
  std::size_t at = 0;
  for (; times > 0 && (at = text.find(what, at)) != std::string::npos; --times) {
    text.replace(at, what.size(), by);
    at += by.size();
  }
  return text;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

/// Applies `change` to one field of every row of a table.
inline std::string with_column(const std::string& text, int column, char separator,
                               const std::function<std::string(const std::string&)>& change) {
  auto lines = lines_of(text);
  for (auto& line : lines) {
    if (line.find("ehicle_") != std::string::npos || line.find("rame,") != std::string::npos ||
        line.find("Vehicle_ID") != std::string::npos) {
      continue;
    }
    std::size_t begin = 0;
    for (int i = 0; i < column; ++i) begin = line.find(separator, begin) + 1;
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    line = line.substr(0, begin) + change(line.substr(begin, end - begin)) + line.substr(end);
  }
  return text_of(lines);
}
inline std::string with_column(const std::string& text, Column column,
                               const std::function<std::string(const std::string&)>& change) {
  return with_column(text, column, ';', change);
}
inline std::string with_column(const std::string& text, NgsimColumn column,
                               const std::function<std::string(const std::string&)>& change) {
  return with_column(text, column, ',', change);
}

inline std::function<std::string(const std::string&)> times(double factor, double offset = 0) {
  return [=](const std::string& field) {
    return fmt::format("{:.7f}", factor * std::stod(field) + offset);
  };
}
inline std::function<std::string(const std::string&)> fixed(const std::string& value) {
  return [=](const std::string&) { return value; };
}

inline std::string utf16(const std::string& text, bool big_endian, bool with_mark = true) {
  std::string out;
  const auto add = [&](char high, char low) {
    out += big_endian ? high : low;
    out += big_endian ? low : high;
  };
  if (with_mark) add('\xFE', '\xFF');
  for (const char c : text) add('\0', c);
  return out;
}

/// Reorders the rows below the header in a fixed way. No row stays at its place.
inline std::string shuffled(const std::string& text) {
  auto lines = lines_of(text);
  std::vector<std::string> rows(lines.begin() + 1, lines.end());
  constexpr std::size_t kStride = 7;  // it divides neither 60 nor 120 rows
  std::vector<std::string> out{lines.front()};
  for (std::size_t i = 0; i < rows.size(); ++i)
    out.push_back(rows[(i * kStride + 3) % rows.size()]);
  return text_of(out);
}

inline std::string by_vehicle(const std::string& text) {
  auto lines = lines_of(text);
  std::stable_sort(lines.begin() + 1, lines.end(), [](const std::string& a, const std::string& b) {
    return a.substr(a.find(';') + 1, 4) < b.substr(b.find(';') + 1, 4);
  });
  return text_of(lines);
}

inline std::string insert_line(const std::string& text, std::size_t at, const std::string& line) {
  auto lines = lines_of(text);
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), line);
  return text_of(lines);
}

/// One recording, and what data_prep convert must make of it.
struct Case {
  std::string name;     ///< name of the test
  std::string file;     ///< file name of the recording
  std::string content;  ///< content of the recording
  Traffic expected;     ///< traffic of the data set; if empty, convert must end with exit code 3
  std::string said;     ///< text that the output must contain
  std::string arguments{};
  double tolerance_m = 2e-3;  ///< rounding of float32 at a few hundred metres, and of the texts
  std::map<std::string, std::string> beside{};  ///< contents of further files, by their names
};
inline void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

inline const Traffic& plain() {
  static const Traffic traffic = counted(straight_traffic());
  return traffic;
}

/// Cases of SUMO's floating car data as a table.
std::vector<Case> table_cases();
/// Cases of the other formats.
std::vector<Case> format_cases();

}  // namespace traffic::odd
