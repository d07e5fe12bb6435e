/// The result of a phase for programs without our code: weights as safetensors and a model card.
#pragma once

#include "coordinator_summary.h"

namespace traffic::train {

/// Whether export_weights() has been here.
bool has_weights(const TrainingTask& task);

/// Writes the parameters of the phase's result to weights/model.safetensors in its folder, beside
/// it weights/README.md: what they are, what they were trained on, the figures of the phase's
/// summary. For one rank.
/// @throws CheckpointError, ResourceError
void export_weights(const TrainingTask& task);

}  // namespace traffic::train
