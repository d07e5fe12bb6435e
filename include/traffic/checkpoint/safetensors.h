/// Weights for other programs: the safetensors format (https://github.com/huggingface/safetensors)
/// and a model card beside it.
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

/// Writes the tensors atomically, those with the widest elements first, otherwise in the given
/// order.
/// @param metadata goes into the header's "__metadata__"
/// @throws ResourceError
void export_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                        const TextMap& metadata);

/// Description of a model for people who use its weights.
struct ModelCard {
  std::string title;
  std::string summary;            ///< what the model does and for whom
  std::string weights_file;       ///< name of the safetensors file
  std::string license;            ///< SPDX identifier; empty: the card states none
  std::vector<std::string> tags;  ///< search terms on model hubs
  TextMap facts;                  ///< e.g. phase, steps, parameters, training data, versions
  std::map<std::string, double> results;  ///< metrics of the evaluation
  std::vector<std::string> limits;        ///< uses that the model was not made or tested for
  std::string sections;                   ///< further sections in Markdown, e.g. the inputs
  std::string config_toml;                ///< the resolved configuration
};

/// Markdown with the front matter that model hubs read.
/// @throws ResourceError
void write_model_card(const std::filesystem::path& path, const ModelCard& card);

}  // namespace traffic::checkpoint
