// Writes the text of --help in the same layout for all programs.
#include "traffic/config/option_help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "traffic/core/wrap.h"

namespace traffic::config {
namespace {

/// Formats the options for --help. It leaves out what CLI11 appends to the name of a value, such as
/// ranges in brackets, and writes defaults as "(default VALUE)".
class OptionFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const bool is_repeated = option->get_expected_max() > 1;
    if (option->get_positional()) return is_repeated ? "..." : "";
    if (option->get_type_size() == 0) return "";
    const std::string type = option->get_type_name();
    return " " + type.substr(0, type.find(':')) + (is_repeated ? "..." : "");
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string value = option->get_default_str();
    if (value.starts_with('[') && value.ends_with(']')) value = value.substr(1, value.size() - 2);
    return option->get_description() + (value.empty() ? "" : fmt::format(" (default {})", value)) +
           (option->get_required() && !option->get_positional() ? " (required)" : "");
  }
};

}  // namespace

std::string option_help(CLI::App& app) {
  const auto formatter = std::make_shared<OptionFormatter>();
  app.formatter(formatter);
  for (CLI::App* command : app.get_subcommands(nullptr)) command->formatter(formatter);
  return wrapped(app.help(), output_width());
}

}  // namespace traffic::config
