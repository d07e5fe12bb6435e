/// Reads recorded episodes frame by frame, without loading whole episodes into memory. The commands
/// of data_prep that copy and change data sets use it.
#pragma once

#include <functional>

#include "traffic/data/reader.h"
#include "traffic/data/writer.h"
#include "traffic/scene/frame.h"

namespace traffic::data {

/// Decodes some frames at a time and passes them to `visit` one by one, in order. `visit` may
/// change the frame.
/// @throws DataError if the file is damaged (see DatasetReader::read_frames)
void for_each_frame(const DatasetReader& file, const Episode& episode,
                    const std::function<void(scene::GraphFrame&)>& visit);

/// The writer options for a copy of `file`. The copy has the same float type. It is compressed, at
/// the default level, if `file` is compressed.
[[nodiscard]] WriterOptions writer_options_of(const DatasetReader& file);

/// The label that an episode was written with.
[[nodiscard]] EpisodeLabel label_of(const Episode& episode);

}  // namespace traffic::data
