/// Exports a model's weights for other programs, in the safetensors format
/// (https://github.com/huggingface/safetensors), together with a model card that describes them.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace traffic::checkpoint {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;
using TextMap = std::map<std::string, std::string>;

/// Writes the tensors to a file. Tensors with wider elements come first; tensors of equal element
/// size keep the given order. An interrupted call leaves no unfinished file at `path`.
/// @param metadata goes into the header's "__metadata__"
/// @throws ResourceError if the file cannot be written
void export_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                        const TextMap& metadata);

/// Description of a model for people who use its weights.
struct ModelCard {
  std::string title;
  std::string summary;            ///< what the model does and for whom
  std::string weights_file;       ///< name of the safetensors file
  std::string license;            ///< SPDX identifier; empty means that the card names no license
  std::vector<std::string> tags;  ///< search terms on model hubs
  TextMap facts;                  ///< e.g. phase, steps, parameters, training data, versions
  std::map<std::string, double> results;  ///< metrics of the evaluation
  std::vector<std::string> limits;        ///< uses that the model was not made or tested for
  std::string sections;                   ///< further sections in Markdown, e.g. the inputs
  std::string config_toml;                ///< the resolved configuration
};

/// Writes the card as Markdown, with the YAML front matter that model hubs read.
/// @throws ResourceError if the file cannot be written
void write_model_card(const std::filesystem::path& path, const ModelCard& card);

}  // namespace traffic::checkpoint
