/// What a .sumocfg and SUMO's arguments say, without starting SUMO.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::sim {

class SumoOptions {
 public:
  /// @param args as EnvOptions::sumo_args; they go before what the file says
  /// @throws DataError if the file cannot be read
  SumoOptions(const std::filesystem::path& sumocfg, const std::vector<std::string>& args);

  /// By its long name: "net-file".
  [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
  /// Seconds; SUMO also writes times as 01:30:00.
  [[nodiscard]] std::optional<double> seconds(std::string_view name) const;
  /// The files of an option that lists some.
  [[nodiscard]] std::vector<std::filesystem::path> files(std::string_view name) const;

 private:
  void read_arguments(const std::vector<std::string>& args);

  std::filesystem::path sumocfg_;
  std::map<std::string, std::string, std::less<>> of_file_;
  std::map<std::string, std::string, std::less<>> of_arguments_;
};

/// "90", "1:30" or "00:01:30"; nothing for what is no time.
std::optional<double> parse_time(std::string_view text);

}  // namespace traffic::sim
