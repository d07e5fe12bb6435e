#include "recordings.h"

namespace traffic::odd {
namespace {

std::vector<Case> separators_and_quotes() {
  const std::string text = table();
  std::string quoted = "\"" + replaced(replaced(text, ";", "\";\""), "\n", "\"\n\"");
  quoted.pop_back();
  return {
      {"Comma", "a.csv", replaced(text, ";", ","), plain(), ""},
      {"Tab", "a.csv", replaced(text, ";", "\t"), plain(), ""},
      {"Blank", "a.csv", replaced(text, ";", "  "), plain(), ""},
      {"VerticalBar", "a.csv", replaced(text, ";", "|"), plain(), ""},
      {"Quotes", "a.csv", quoted, plain(), ""},
      {"SeparatorInQuotes", "a.csv", replaced(text, "car1", "\"car;1\""), plain(), ""},
      {"QuoteThatNeverEnds",
       "a.csv",
       replaced(text, "car1", "\"car1", 1),
       {},
       "a.csv:3: the row has 2 fields, the header has 9"},
      {"LineEndInQuotes",
       "a.csv",
       replaced(text, "car1", "\"car\n1\"", 1),
       {},
       "a.csv:3: the row has 2 fields, the header has 9"},
      {"DecimalComma",
       "a.csv",
       replaced(text, ".", ","),
       {},
       "a.csv:2: timestep_time is '0,00', expected a number with a decimal point"},
      {"Thousands",
       "a.csv",
       with_column(text, kX, [](const std::string& x) { return "\"1," + x + "\""; }),
       {},
       "a.csv:2: vehicle 'car0': x is '1,100.00', expected a number"},
      {"SeparatorAtRowsEndsOnly",
       "a.csv",
       kHeader + replaced(table(straight_traffic(), ""), "\n", ";\n"),
       {},
       "a.csv:2: the row has 10 fields, the header has 9"},
      {"SeparatorAtAllEnds", "a.csv", replaced(text, "\n", ";\n"), plain(), ""},
  };
}

std::vector<Case> bytes_and_lines() {
  const std::string text = table();
  const std::string mark = "\xEF\xBB\xBF";
  const std::string long_text = table(straight_traffic({.moments = 100}));
  return {
      {"ByteOrderMark", "a.csv", mark + text, plain(), ""},
      {"Utf16Little", "a.csv", utf16(text, false), {}, "a.csv: is UTF-16 or not a text"},
      {"Utf16Big", "a.csv", utf16(text, true), {}, "a.csv: is UTF-16 or not a text"},
      {"Latin1Ids", "a.csv", replaced(text, "car1", "c\xE4r1"), plain(), ""},
      {"Parquet",
       "a.parquet",
       "PAR1" + std::string(200, '\0') + "PAR1",
       {},
       "a.parquet: is a Parquet table; let SUMO write XML or CSV"},
      {"NulBytes",
       "a.csv",
       replaced(text, "car1", std::string("c\0r1", 4), 1),
       {},
       "a.csv: is UTF-16 or not a text"},
      {"NulBytesFarBehind",
       "a.csv",
       replaced(long_text, "99.00;car2", std::string("99.00;c\0r2", 10)),
       {},
       "a.csv:301: the row has bytes of value zero, so the file is damaged; correct the file"},
      {"CrLf", "a.csv", replaced(text, "\n", "\r\n"), plain(), ""},
      {"CrOnly",
       "a.csv",
       replaced(text, "\n", "\r"),
       {},
       "a.csv:1: the lines end with a carriage return alone"},
      {"NoLastLineEnd", "a.csv", text.substr(0, text.size() - 1), plain(), ""},
      {"BlankLinesBetween", "a.csv", replaced(text, "\n", "\n\n \t\n"), plain(), ""},
      {"Empty", "a.csv", "", {}, "a.csv: is empty"},
      {"BlankLinesOnly",
       "a.csv",
       std::string(20'000, '\n'),
       {},
       "a.csv:1: cannot guess the format"},
      {"ALineOfMegabytes",
       "a.csv",
       text + std::string(3'000'000, 'x') + "\n",
       {},
       "a.csv:62: a line has more than 1048576 bytes"},
      {"AnIdOfKilobytes", "a.csv", replaced(text, "car1", std::string(100'000, 'c')), plain(), ""},
      {"CutInARow", "a.csv", text.substr(0, text.size() - 30), {}, "a.csv:61: the row has "},
      {"CutRowIsSkipped", "a.csv", text.substr(0, text.size() - 30),
       edited(plain(),
              [](Moment& m, int t) {
                if (t == 19) m.cars.pop_back();
              }),
       "skipped 1 piece (rows or parts with problems)", "--on-error skip"},
      {"ControlsInANameDoNotReachTheTerminal",
       "a.csv",
       replaced(replaced(text, "car1", "\x1B[2J"), "12.00;e_1", "x;e_1", 1),
       {},
       "a.csv:3: vehicle '?[2J': speed is 'x', expected a number"},
  };
}

std::vector<Case> headers() {
  const std::string text = table();
  const auto headed = [&](const std::string& header) { return replaced(text, kHeader, header); };
  std::string upper = kHeader;
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return static_cast<char>(toupper(c)); });
  auto reversed = lines_of(text);
  for (auto& line : reversed) {
    std::vector<std::string> fields = lines_of(replaced(line, ";", "\n"));
    std::ranges::reverse(fields);
    line = fmt::format("{}", fmt::join(fields, ";"));
  }
  return {
      {"HeaderMissing", "a.csv", headed(""), {}, "a.csv:1: cannot guess the format"},
      {"HeaderRepeated",
       "a.csv",
       insert_line(text, 31, lines_of(kHeader)[0]),
       {},
       "a.csv:32: timestep_time is 'timestep_time', expected a number"},
      {"HeaderRepeatedIsSkipped", "a.csv", insert_line(text, 31, lines_of(kHeader)[0]), plain(),
       "skipped 1 piece (rows or parts with problems)", "--on-error skip"},
      {"HeaderOnly", "a.csv", kHeader, {}, "a.csv: has fewer than two frames"},
      {"ColumnsInOtherOrder", "a.csv", text_of(reversed), plain(), ""},
      {"NamesInUpperCase", "a.csv", headed(upper), plain(), ""},
      {"BlanksAroundFields", "a.csv", replaced(text, ";", " ; "), plain(), ""},
      {"UnitsOfTheFormat", "a.csv",
       headed(replaced(replaced(kHeader, "_speed", "_speed [m/s]"), "_x", "_x (m)")), plain(), ""},
      {"UnitsOfAnother",
       "a.csv",
       headed(replaced(kHeader, "_speed", "_speed [km/h]")),
       {},
       "a.csv:1: the header states a unit for the column 'vehicle_speed [km/h]' that this program "
       "does not convert"},
      {"UnitInTheName",
       "a.csv",
       headed(replaced(kHeader, "_speed", "_speed_kmh")),
       {},
       "a.csv:2: vehicle 'car0' has no speed"},
      {"ColumnTwice",
       "a.csv",
       headed(replaced(kHeader, "vehicle_type", "vehicle_x")),
       {},
       "a.csv:1: the header has the column 'vehicle_x' twice"},
      {"UnusedColumnTwice", "a.csv",
       replaced(replaced(text, "\n", ";-;-\n"), ";-;-", ";note;note", 1), plain(), ""},
      {"OtherColumns",
       "a.csv",
       "time,id,x,y,speed\n0,1,0,0,10\n1,1,10,0,10\n",
       {},
       "a.csv:1: cannot guess the format"},
      {"OtherColumnsNamedFcd",
       "a.csv",
       "time,id,x,y,speed\n0,1,0,0,10\n1,1,10,0,10\n",
       {},
       "a.csv:1: there is no column timestep_time; the columns are: time, id, x, y, speed",
       "--from fcd"},
      {"ExiD",
       "00_tracks.csv",
       "recordingId,trackId,frame,xCenter,yCenter,heading,width,length,xVelocity,yVelocity,"
       "laneletId\n0,0,0,1,2,0,1.8,4.5,10,0,1500\n",
       {},
       "00_tracks.csv:1: cannot guess the format"},
  };
}

std::vector<Case> units_and_times() {
  const std::string text = table();
  const Straight fast{.step_s = 0.1, .first_s = 1118846980.2};
  const auto times_of = [&](const std::function<std::string(const std::string&)>& change) {
    return with_column(text, kTime, change);
  };
  return {
      {"KmPerHour", "a.csv", with_column(text, kSpeed, times(3.6)), {}, "the speeds may be km/h"},
      {"Centimetres",
       "a.csv",
       with_column(with_column(with_column(text, kX, times(100)), kY, times(100)), kPos,
                   times(100)),
       {},
       "the coordinates may be centimetres"},
      {"Feet",
       "a.csv",
       with_column(with_column(text, kX, times(1 / kFootM)), kPos, times(1 / kFootM)),
       {},
       "the coordinates may be feet"},
      {"Degrees",
       "a.csv",
       with_column(with_column(text, kX, times(1.5e-5, 13.4)), kY, times(9e-6, 52.5)),
       {},
       "the coordinates may be degrees"},
      {"Utm", "a.csv", with_column(with_column(text, kX, times(1, 5e5)), kY, times(1, 5.4e6)),
       edited(plain(),
              [](Moment& m, int) {
                for (Car& c : m.cars) {
                  c.x_m += 5e5;
                  c.y_m += 5.4e6;
                }
              }),
       "", "", 0.26},  // positions are float32, whose neighbouring values are 0.5 m apart here
      {"Milliseconds", "a.csv", times_of(times(1000)), {}, "the times may be milliseconds"},
      {"MillisecondsOfTenHertz",
       "a.csv",
       with_column(table(straight_traffic({.step_s = 0.1})), kTime, times(1000)),
       {},
       "the times may be milliseconds"},
      {"FrameNumbers",
       "a.csv",
       with_column(table(straight_traffic({.moments = 60, .step_s = 0.04})), kTime, times(25)),
       {},
       "times the distance that follows from their speeds"},
      {"EpochSeconds", "a.csv", table(straight_traffic(fast)), counted(straight_traffic(fast), 0.1),
       "", "", 2e-3},
      {"NegativeTimes", "a.csv", table(straight_traffic({.first_s = -7})), plain(), ""},
      {"IsoTimes",
       "a.csv",
       times_of(
           [](const std::string& s) { return "2024-05-01T08:00:" + s.substr(0, s.find('.')); }),
       {},
       "a.csv:2: timestep_time is '2024-05-01T08:00:0', expected a number"},
      {"ClockTimes",
       "a.csv",
       times_of([](const std::string& s) { return "08:00:" + s; }),
       {},
       "a.csv:2: timestep_time is '08:00:0.00', expected a number"},
      {"OneTimeForAll",
       "a.csv",
       times_of(fixed("5.00")),
       {},
       "a.csv: has fewer than two frames at growing times"},
      {"OneFrame",
       "a.csv",
       table(straight_traffic({.moments = 1})),
       {},
       "has fewer than two frames"},
      {"TwoFrames", "a.csv", table(straight_traffic({.moments = 2})),
       counted(straight_traffic({.moments = 2})), ""},
      {"OneVehicle", "a.csv", table(straight_traffic({.cars = 1})),
       counted(straight_traffic({.cars = 1})), ""},
      {"SmallJitter", "a.csv",
       times_of([](const std::string& s) { return std::stoi(s) % 2 == 1 ? s + "04" : s; }), plain(),
       ""},
      {"Jitter",
       "a.csv",
       times_of([](const std::string& s) {
         return fmt::format("{:.2f}", std::stod(s) + 0.05 * (std::stoi(s) % 3));
       }),
       {},
       "most frames are 1.05 s apart; write times with all digits"},
      {"Radians",
       "a.csv",
       with_column(text, kAngle, fixed("1.5708")),
       {},
       "a.csv:8: in 27 of 27 stretches of 20 m the direction of motion differs from the "
       "stated angle (first for vehicle 'car0' in this line)"},
      {"AnglesBeyondACircle", "a.csv", with_column(text, kAngle, fixed("-270")), plain(), ""},
      {"NoAngles", "a.csv", with_column(text, kAngle, fixed("")), plain(), ""},
  };
}

std::vector<Case> order_and_vehicles() {
  const std::string text = table();
  const Traffic straight = straight_traffic();
  Traffic gap = plain();
  gap.erase(gap.begin() + 10, gap.begin() + 13);
  for (std::size_t t = 10; t < gap.size(); ++t) {
    gap[t].time_s -= 13;
    for (Car& car : gap[t].cars) car.id += " again";
  }
  Traffic without = straight;
  without.erase(without.begin() + 10, without.begin() + 13);
  const auto leaves = [](Moment& m, int t) {
    if (t >= 8 && t < 12) m.cars.erase(m.cars.begin() + 1);
  };
  const auto comes_back = [](Moment& m, int t) {
    if (t >= 12) m.cars[1].id = "another";
  };
  const auto jumps = [](Moment& m, int t) {
    if (t >= 12) m.cars[1].x_m += 900;
  };
  return {
      {"ByVehicle",
       "a.csv",
       by_vehicle(text),
       {},
       "a.csv:22: the time 0 s follows 19 s, expected a later time"},
      {"Shuffled",
       "a.csv",
       shuffled(text),
       {},
       "a.csv:5: the frame at 8 s comes 3 s after the previous frame"},
      {"Gap", "a.csv", table(without), gap, "1 gap in the times"},
      {"LeavesAndComesBack", "a.csv", table(edited(straight, leaves)),
       edited(edited(plain(), leaves), comes_back), ""},
      {"Teleports", "a.csv", table(edited(straight, jumps)),
       edited(edited(plain(), jumps), comes_back),
       "1 jump of a vehicle to a place that it cannot have driven to"},
      {"TwiceAtATime",
       "a.csv",
       insert_line(text, 5, lines_of(text)[4]),
       {},
       "a.csv:6: vehicle 'car0' is listed twice at the same time"},
      {"NegativeAndHugeIds", "a.csv",
       replaced(replaced(text, "car0", "-1"), "car1", "99999999999999999999999999"), plain(), ""},
      {"IdsThatDifferInCase", "a.csv", replaced(text, "car1", "CAR0"), plain(), ""},
      {"IdMissing",
       "a.csv",
       replaced(text, "car1", "", 1),
       {},
       "a.csv:3: the row has the x '100.00' but no vehicle_id"},
      {"StepWithoutVehicles", "a.csv", insert_line(text, 61, "20.00;;;;;;;;"),
       [] {
         Traffic t = plain();
         t.push_back({21, {}});
         return t;
       }(),
       ""},
      {"Persons", "a.csv",
       insert_line(replaced(replaced(text, "\n", ";\n"), "angle;", "angle;vehicle_edge", 1), 3,
                   "0.00;p;1.00;1.00;1.20;;5.00;DEFAULT_PEDTYPE;0.00;e"),
       plain(), "left out 1 row of persons and containers"},
      {"Bicycles", "a.csv", replaced(text, ";car;", ";DEFAULT_BIKETYPE;"), plain(), ""},
      {"LanesUnknown",
       "a.csv",
       with_column(text, kLane, fixed("")),
       {},
       "a.csv:2: 'car0' is not on a lane, so it may be a person"},
      {"LanesWithoutNumbers", "a.csv", replaced(text, ";e_0;", ";slow lane;"), plain(), ""},
      {"LaneNumbersBelowZero", "a.csv", replaced(text, ";e_0;", ";e_-5;"), plain(), ""},
      {"ARoundOnALane", "a.csv",
       with_column(text, kPos,
                   [](const std::string& pos) {
                     return fmt::format("{:.2f}", std::fmod(std::stod(pos), 150));
                   }),
       plain(), ""},
  };
}

/// Cases in which a field of one vehicle is not a number, or is an impossible number.
std::vector<Case> numbers() {
  std::vector<Case> cases;
  const std::string text = table();
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"Nan", "NaN"},
                                                        {"Inf", "inf"},

                                                        {"Na", "NA"},

                                                        {"TooLarge", "1e400"},
                                                        {"Hexadecimal", "0x0C"},

                                                        {"Unit", "12 m/s"}}) {
    cases.push_back({"Speed" + name,
                     "a.csv",
                     replaced(text, "12.00;e_1", value + ";e_1", 1),
                     {},
                     "a.csv:3: vehicle 'car1': speed is '" + value + "', expected a number"});
  }
  const auto speed = [&](const std::string& value) {
    return replaced(text, "12.00;e_1", value + ";e_1", 1);
  };
  const std::vector<Case> others{
      {"SpeedEmpty", "a.csv", speed(""), {}, "a.csv:3: vehicle 'car1' has no speed"},
      {"SpeedWithSignAndExponent", "a.csv", speed("+1.2e1"), plain(), ""},
      {"SpeedImpossible",
       "a.csv",
       speed("1219.2"),
       {},
       "a.csv:3: vehicle 'car1': the speed is 1219.2 m/s, expected 0 to 150"},
      {"SpeedNegative", "a.csv", speed("-12"), {}, "a.csv:3: vehicle 'car1': the speed is -12 m/s"},
      {"SpeedLeaps",
       "a.csv",
       speed("80"),
       {},
       "a.csv:6: vehicle 'car1': the speed changes from 80 to 12 m/s within 1 s"},
      {"PlaceEmpty",
       "a.csv",
       replaced(text, "car1;100.00", "car1;", 1),
       {},
       "a.csv:3: vehicle 'car1' has no x and y"},
      {"PlaceTooFar",
       "a.csv",
       replaced(text, "car1;100.00", "car1;-1073741824", 1),
       {},
       "a.csv:3: vehicle 'car1': x is -1.07374e+09 m"},
      {"SpeedsOfZero",
       "a.csv",
       with_column(text, kSpeed, fixed("0.00")),
       {},
       "times the distance that follows from their speeds"},
  };
  cases.insert(cases.end(), others.begin(), others.end());
  return cases;
}

}  // namespace

std::vector<Case> table_cases() {
  std::vector<Case> all;
  for (auto* part : {separators_and_quotes, bytes_and_lines, headers, units_and_times,
                     order_and_vehicles, numbers}) {
    for (Case& one : part()) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace traffic::odd
