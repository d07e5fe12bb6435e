#include "recordings.h"

namespace traffic::odd {
namespace {

std::vector<Case> xml_cases() {
  const std::string text = xml();
  const std::string person =
      "<person id=\"p\" x=\"1\" y=\"1\" angle=\"0\" speed=\"1\" pos=\"1\" edge=\"e\" "
      "slope=\"0\"/><container id=\"c\" x=\"1\" y=\"1\"/>";
  return {
      {"XmlByteOrderMark", "a.xml", "\xEF\xBB\xBF" + text, plain(), ""},
      {"XmlDeclaredLatin1", "a.xml",
       replaced(replaced(text, "UTF-8", "ISO-8859-1"), "car1", "c\xE4r1"), plain(), ""},
      {"XmlUndeclaredLatin1",
       "a.xml",
       replaced(text, "car1", "c\xE4r1"),
       {},
       "a.xml:5: the XML is not well-formed here"},
      {"XmlCrOnly", "a.xml", replaced(text, "\n", "\r"), plain(), ""},
      {"XmlOneLine", "a.xml", replaced(text, "\n", ""), plain(), ""},
      {"XmlEntitiesInIds", "a.xml", replaced(text, "car1", "a&amp;b&lt;"), plain(), ""},
      {"XmlDecimalComma",
       "a.xml",
       replaced(text, ".00\"", ",00\""),
       {},
       "a.xml:3: the time of the step is '0,00'"},
      {"XmlPersonsAndContainers", "a.xml", replaced(text, "</timestep>", person + "</timestep>"),
       plain(), ""},
      {"XmlPersonsOnly",
       "a.xml",
       replaced(text, "<vehicle", "<person"),
       {},
       "a.xml: has 20 frames, but no vehicle"},
      {"XmlAttributeTwice",
       "a.xml",
       replaced(text, " angle", " x=\"1\" angle", 1),
       {},
       "a.xml:4: the XML is not well-formed here: duplicate attribute"},
      {"XmlNoAngles", "a.xml", replaced(text, " angle=\"90.00\"", ""), plain(), ""},
      {"XmlNoSpeeds",
       "a.xml",
       replaced(text, " speed=\"10.00\"", ""),
       {},
       "a.xml:4: vehicle 'car0' has no speed"},
      {"XmlCutInATag",
       "a.xml",
       text.substr(0, 3000),
       {},
       "the XML is not well-formed here: unclosed token"},
      {"XmlCutAtALine",
       "a.xml",
       replaced(text, "</fcd-export>\n", ""),
       {},
       "the XML is not well-formed here: no element found"},
      {"XmlTwoDocuments", "a.xml", text + text, {}, "a.xml:104: the XML is not well-formed here: "},
  };
}

std::vector<Case> json_cases() {
  const std::string text = json();
  return {
      {"Json", "a.json", text, plain(), ""},
      {"JsonByteOrderMark", "a.json", "\xEF\xBB\xBF" + text, plain(), ""},
      {"JsonNan",
       "a.json",
       replaced(text, "12.00", "NaN", 1),
       {},
       "a.json:3: the JSON is not well-formed"},
      {"JsonNull",
       "a.json",
       replaced(text, "12.00", "null", 1),
       {},
       "a.json:3: vehicle 'car1' has no speed_mps"},
      {"JsonNumberAsText",
       "a.json",
       replaced(text, "12.00", "\"12.00\"", 1),
       {},
       "a.json:3: speed_mps is '12.00', expected a number"},
      {"JsonNumbersAsIds", "a.json", replaced(text, "\"car1\"", "-123456789012345678901234567890"),
       plain(), ""},
      {"JsonTimeNull",
       "a.json",
       replaced(text, "\"time_s\": 3,", "\"time_s\": null,"),
       {},
       "the sample has no time_s"},
      {"JsonLaneIndexBroken",
       "a.json",
       replaced(text, "\"lane\":", "\"lane_index\": 1.5, \"lane\":", 1),
       {},
       "a.json:2: vehicle 'car0': lane_index is 1.5, expected a whole number"},
      {"JsonCut", "a.json", text.substr(0, 1000), {}, "the JSON is not well-formed here"},
      {"JsonLines",
       "a.json",
       "{\"time_s\": 0, \"vehicles\": []}\n{\"time_s\": 1, \"vehicles\": []}\n",
       {},
       "a.json:2: the JSON is not well-formed here"},
      {"JsonWithoutVehicles",
       "a.json",
       "{\"samples\": [{\"time_s\": 1, \"vehicles\": []}, {\"time_s\": 2, \"vehicles\": []}]}",
       {},
       "a.json: has 2 frames, but no vehicle"},
  };
}

std::vector<Case> ngsim_cases() {
  const std::string text = ngsim();
  const std::string bare = ngsim(straight_traffic(kTenHertz), "");
  const Traffic sound = in_ngsim(straight_traffic(kTenHertz));
  const Straight one{.moments = 40, .step_s = 0.1, .first_s = 0, .cars = 1};
  return {
      {"Ngsim", "a.csv", text, sound, ""},
      {"NgsimSemicolon", "a.csv", replaced(text, ",", ";"), sound, ""},
      {"NgsimVerticalBar", "a.csv", replaced(text, ",", "|"), sound, ""},
      {"NgsimWithoutHeader", "a.txt", bare, sound, ""},
      {"NgsimWithoutHeaderTabs", "a.txt", replaced(bare, ",", "\t"), sound, ""},
      {"NgsimWithoutHeaderCrOnly",
       "a.txt",
       replaced(bare, "\n", "\r"),
       {},
       "a.txt:1: the lines end with a carriage return alone"},
      {"NgsimWithoutHeader19Columns",
       "a.txt",
       replaced(bare, "\n", ",0\n"),
       {},
       "the table has no header and 19 columns",
       "--from ngsim"},
      {"NgsimShuffled", "a.csv", shuffled(text), sound, ""},
      {"NgsimGroupedTimes", "a.csv",
       with_column(text, kClock,
                   [](std::string ms) {
                     for (int at : {10, 7, 4, 1}) ms.insert(static_cast<std::size_t>(at), ",");
                     return "\"" + ms + "\"";
                   }),
       sound, ""},
      {"NgsimDecimalComma",
       "a.csv",
       replaced(replaced(text, ",", ";"), ".", ","),
       {},
       "expected a number with a decimal point, not a comma"},
      {"NgsimSeconds",
       "a.csv",
       with_column(text, kClock, times(1e-3)),
       {},
       "a.csv:2: Global_Time is 1118846980.2"},
      {"NgsimJitter",
       "a.csv",
       replaced(text, "980500,", "980503,", 1),
       {},
       "a.csv:5: Global_Time is 1118846980503, expected a multiple of 100 ms"},
      {"NgsimLaneNegative",
       "a.csv",
       with_column(text, kLaneId, fixed("-1")),
       {},
       "a.csv:2: Lane_ID is -1, expected a whole number from 0"},
      {"NgsimLaneWithPoint", "a.csv",
       with_column(text, kLaneId, [](const std::string& lane) { return lane + ".0"; }), sound, ""},
      {"NgsimIdEmpty",
       "a.csv",
       with_column(ngsim(straight_traffic(one)), kVehicle, fixed("")),
       {},
       "a.csv:2: the row has no Vehicle_ID"},
      {"NgsimIdsOfText", "a.csv",
       with_column(text, kVehicle, [](const std::string& id) { return "car " + id; }), sound, ""},
      {"NgsimImpossibleAcceleration",
       "a.csv",
       with_column(text, kAcceleration, fixed("500")),
       {},
       "a.csv:2: vehicle '1.40': the acceleration is 152.4 m/s2"},
      {"NgsimOneTimeForAll",
       "a.csv",
       with_column(text, kClock, fixed("1118846980200")),
       {},
       "a.csv:3: vehicle '1.40' is listed twice at the same time (also in line 2)"},
      {"NgsimCut", "a.csv", text.substr(0, text.size() - 25), {}, "a.csv:121: the row has "},
  };
}

std::vector<Case> highd_cases() {
  const std::string text = highd();
  const Traffic sound = counted(straight_traffic(kHighD), 0.04);
  const auto files = [](const std::string& recording, const std::string& tracks) {
    return std::map<std::string, std::string>{{"01_recordingMeta.csv", recording},
                                              {"01_tracksMeta.csv", tracks}};
  };
  const auto both = files(kRecordingMeta, kTracksMeta);
  const auto highd_case = [&](const std::string& name, const std::string& content,
                              const Traffic& expected, const std::string& said,
                              const std::map<std::string, std::string>& beside) {
    return Case{"HighD" + name, "01_tracks.csv", content, expected, said, "", 2e-3, beside};
  };
  const auto rate = [&](const std::string& value) {
    return files(replaced(kRecordingMeta, ",25,", "," + value + ","), kTracksMeta);
  };
  const auto limit = [&](const std::string& value) {
    return files(replaced(kRecordingMeta, "33.33", value), kTracksMeta);
  };
  return {
      highd_case("Sound", text, sound, "", both),
      highd_case("Shuffled", shuffled(text), sound, "", both),
      highd_case("CrOnlyInTracks", replaced(text, "\n", "\r"), {},
                 "01_tracks.csv:1: the lines end with a carriage return alone", both),
      highd_case("CrOnlyBeside", text, {},
                 "01_tracksMeta.csv:1: the lines end with a carriage return alone",
                 files(kRecordingMeta, replaced(kTracksMeta, "\n", "\r"))),
      highd_case("RateTiny", text, {}, "frameRate is '1e-300', expected 0.1 to 1000 Hz",
                 rate("1e-300")),
      highd_case("RateOfAnother", text, {}, "times the distance that follows from their speeds",
                 rate("30")),
      highd_case("LimitInKmPerHour", text, {}, "speedLimit is 120, expected at most 60 m/s",
                 limit("120")),
      highd_case("NoLimit", text, sound, "", limit("-1")),
      highd_case("LaneUnknown", replaced(text, ",7\n", ",NA\n"), {},
                 "01_tracks.csv:2: laneId is 'NA', expected a number", both),
      highd_case("DirectionUnknown", text, {},
                 "01_tracksMeta.csv:2: vehicle '1': drivingDirection is '3', expected 1 or 2",
                 files(kRecordingMeta, replaced(kTracksMeta, "Car,2", "Car,3"))),
      highd_case("DirectionOfTheOthers", text, {},
                 "the direction of motion differs from the stated angle",
                 files(kRecordingMeta, replaced(kTracksMeta, "Car,2", "Car,1"))),
      highd_case("RowRepeated", text + lines_of(text).back() + "\n", sound,
                 "dropped 1 row, as others say the same", both),
      highd_case("CutInARow", text.substr(0, text.size() - 20), {}, "01_tracks.csv:361: ", both),
  };
}

}  // namespace

std::vector<Case> format_cases() {
  std::vector<Case> all;
  for (auto* part : {xml_cases, json_cases, ngsim_cases, highd_cases}) {
    for (Case& one : part()) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace traffic::odd
