// Reads the programs of traffic lights (<tlLogic> elements) from SUMO's XML files.
#include "traffic/scene/light_programs.h"

#include <pugixml.hpp>
#include <string_view>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/scene/text_file.h"

namespace traffic::scene {
namespace {

constexpr int kDeepestInclude = 16;  // maximum depth of files that include each other

LightProgram program_in(const pugi::xml_node& node) {
  LightProgram program{.light = node.attribute("id").as_string(), .logic = {}};
  for (const auto phase : node.children("phase")) {
    program.logic.phases.push_back({.duration_s = phase.attribute("duration").as_double(),
                                    .state = phase.attribute("state").as_string(),
                                    .name = phase.attribute("name").as_string()});
  }
  for (const auto parameter : node.children("param")) {
    program.logic.parameters[parameter.attribute("key").as_string()] =
        parameter.attribute("value").as_string();
  }
  return program;
}

// NOLINTNEXTLINE(misc-no-recursion): files include files, up to kDeepestInclude
void read_file(const std::filesystem::path& file, int depth, std::vector<LightProgram>& programs) {
  if (depth > kDeepestInclude) {
    throw DataError(
        "file {}: included files are nested more than {} deep; does one of them include itself?",
        file.string(), kDeepestInclude);
  }
  const std::string text = read_text_file(file, "file");
  pugi::xml_document document;
  const auto result = document.load_buffer(text.data(), text.size());
  if (!result) {
    throw DataError("file {} is not valid XML: {} at byte {}", file.string(), result.description(),
                    result.offset);
  }
  for (const auto node : document.document_element().children()) {
    const std::string_view name = node.name();
    if (name == "tlLogic") programs.push_back(program_in(node));
    if (name == "include") {
      read_file(file.parent_path() / node.attribute("href").as_string(), depth + 1, programs);
    }
  }
}

}  // namespace

std::vector<LightProgram> read_light_programs(const std::filesystem::path& file) {
  std::vector<LightProgram> programs;
  read_file(file, 0, programs);
  return programs;
}

}  // namespace traffic::scene
