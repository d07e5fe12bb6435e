/// Reads SUMO's options from a .sumocfg and arguments without starting a simulation.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::sim {

/// SUMO's options as libsumo itself reads them. SUMO's defaults, synonyms, environment variables
/// and separators of lists hold, and file names are relative to the .sumocfg. libsumo has only one
/// set of options per process, so no options can be read while a simulation is loaded.
class SumoOptions {
 public:
  /// @param args as EnvOptions::sumo_args; they replace what the file says
  /// @throws DataError with SUMO's own message if the options are not valid
  SumoOptions(const std::filesystem::path& sumocfg, const std::vector<std::string>& args);

  /// The value of an option, SUMO's default included.
  /// @param name the option's long name: "net-file"
  [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
  /// The value of an option that is a time.
  [[nodiscard]] std::optional<double> seconds(std::string_view name) const;
  /// The value of an option whose values are numbers with a fraction.
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  /// Whether an option is set to true.
  [[nodiscard]] bool is_on(std::string_view name) const;
  /// The files that an option names.
  [[nodiscard]] std::vector<std::filesystem::path> files(std::string_view name) const;

  /// Names of those options in of_simulation() that name files to read.
  [[nodiscard]] std::vector<std::string> names_of_files() const;
  /// Whether the arguments set the option.
  [[nodiscard]] bool is_argument(std::string_view name) const;
  /// All options by which this scenario differs from SUMO's defaults, by name, without those of the
  /// .sumocfg that make SUMO write files, print, or listen for TraCI clients.
  [[nodiscard]] std::map<std::string, std::string> of_simulation() const;
  /// The options of the .sumocfg that would make SUMO write files.
  [[nodiscard]] std::vector<std::string> outputs_of_file() const;
  /// Every file that an argument names, as SUMO's options name it.
  [[nodiscard]] std::vector<std::string> files_of_arguments() const;

 private:
  struct Option {
    std::string written;  ///< text of the value in the file or the arguments
    std::string value;    ///< `written`, with environment variables replaced and file names decoded
    std::optional<double> number;  ///< value of an option that is a number
    std::vector<std::string> files;
    std::string topic;  ///< heading of the option in `sumo --help`
    bool is_default = true;
    bool is_argument = false;
  };
  [[nodiscard]] const Option* option(std::string_view name) const;
  void read(bool only_arguments);
  [[nodiscard]] static bool writes_files(const std::string& name, const Option& option);

  std::map<std::string, Option, std::less<>> options_;
};

/// Seconds of a time in SUMO's notation, "90" or "00:01:30"; nothing if the text is no time.
std::optional<double> parse_time(const std::string& text);
/// Parses the whole text as a number; nothing if it is not one.
std::optional<double> parse_number(std::string_view text);

}  // namespace traffic::sim
