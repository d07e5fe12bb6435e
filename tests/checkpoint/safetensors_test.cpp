#include "traffic/checkpoint/safetensors.h"

#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "checkpoint/fixtures.h"
#include "traffic/core/error.h"

namespace traffic::checkpoint {
namespace {

using ::testing::HasSubstr;

class SafetensorsTest : public FolderTest {
 protected:
  std::filesystem::path path_ = dir_ / "model.safetensors";

  /// Reads the header as the format defines it: 8 bytes of length, then JSON.
  static nlohmann::json header_of(const std::vector<char>& file, std::size_t& data_begin) {
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), sizeof(length));
    data_begin = sizeof(length) + length;
    return nlohmann::json::parse(file.data() + sizeof(length), file.data() + data_begin);
  }
};

TEST_F(SafetensorsTest, ContainsNamesTypesShapesAndBits) {
  const NamedTensors tensors = {{"mask", at::ones({3}, at::kBool)},
                                {"weight", at::rand({4, 6})},
                                {"steps", at::arange(5)},
                                {"scalar", at::full({}, 2.5)},
                                {"none", at::empty({0, 2})}};
  export_safetensors(path_, tensors, {{"format", "pt"}, {"step", "12"}});
  const std::vector<char> file = read_bytes(path_);
  std::size_t data_begin = 0;
  const nlohmann::json header = header_of(file, data_begin);
  EXPECT_EQ(header["__metadata__"]["step"], "12");
  EXPECT_EQ(header.size(), tensors.size() + 1);
  EXPECT_EQ(data_begin % 8, 0);

  const std::map<std::string, std::string> dtypes = {
      {"mask", "BOOL"}, {"weight", "F32"}, {"steps", "I64"}, {"scalar", "F32"}, {"none", "F32"}};
  std::size_t total = 0;
  for (const auto& [name, tensor] : tensors) {
    const nlohmann::json& entry = header.at(name);
    EXPECT_EQ(entry["dtype"], dtypes.at(name));
    EXPECT_EQ(entry["shape"].get<std::vector<std::int64_t>>(), tensor.sizes().vec());
    const std::size_t begin = entry["data_offsets"][0];
    const std::size_t end = entry["data_offsets"][1];
    ASSERT_EQ(end - begin, tensor.nbytes());
    ASSERT_LE(data_begin + end, file.size());
    if (tensor.numel() > 0) {
      EXPECT_EQ(std::memcmp(file.data() + data_begin + begin, tensor.const_data_ptr(), end - begin),
                0);
      EXPECT_EQ(begin % tensor.element_size(), 0) << name << " is not aligned";
    }
    total += end - begin;
  }
  EXPECT_EQ(data_begin + total, file.size()) << "the format allows no gaps";
}

TEST_F(SafetensorsTest, RefusesADuplicateName) {
  EXPECT_THROW(export_safetensors(path_, {{"a", at::ones(1)}, {"a", at::ones(1)}}, {}), Error);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SafetensorsTest, ModelCardHasFrontMatterFactsResultsAndLimits) {
  ModelCard card;
  card.title = "Merge controller";
  card.summary = "Advises connected vehicles.";
  card.weights_file = "model.safetensors";
  card.license = "Apache-2.0";
  card.tags = {"traffic-control", "sumo"};
  card.facts = {{"phase", "2"}};
  card.results = {{"gain in ocr_all, %", 4.25}};
  card.limits = {"Trained on one network."};
  card.config_toml = "[run]\nphase = 2";
  write_model_card(dir_ / "README.md", card);
  const std::vector<char> bytes = read_bytes(dir_ / "README.md");
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_TRUE(
      text.starts_with("---\nlicense: Apache-2.0\ntags:\n- traffic-control\n- sumo\n---\n"));
  for (const char* part : {"# Merge controller", "| phase | 2 |", "| gain in ocr_all, % | 4.25 |",
                           "- Trained on one network.", "```toml\n[run]\nphase = 2\n```"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

}  // namespace
}  // namespace traffic::checkpoint
