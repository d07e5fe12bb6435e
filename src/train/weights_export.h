/// Exports the result of a phase (a training) for other programs: the weights as safetensors, and a
/// model card.
#pragma once

#include "coordinator_summary.h"

namespace traffic::train {

/// Whether export_weights() has written the weights of this phase.
bool has_weights(const TrainingTask& task);

/// Writes the parameters of the phase's result to weights/model.safetensors in the phase's folder,
/// and a model card to weights/README.md. The card says what the weights are and what they were
/// trained on, and lists the metrics of the phase's summary. Call it on one rank.
/// @throws CheckpointError if the result cannot be read, ResourceError if a file cannot be written
void export_weights(const TrainingTask& task);

}  // namespace traffic::train
