/// The frames of recorded episodes one after the other, in bounded memory: what copies and changes
/// data sets reads them through this.
#pragma once

#include <functional>

#include "traffic/data/reader.h"
#include "traffic/data/writer.h"
#include "traffic/scene/frame.h"

namespace traffic::data {

/// Decodes some frames at a time and hands them over in order; the visitor may change its frame.
/// @throws DataError as DatasetReader::read_frames
void for_each_frame(const DatasetReader& file, const Episode& episode,
                    const std::function<void(scene::GraphFrame&)>& visit);

/// How a file is written whose traffic is that of `file`: float16 and compression as there.
[[nodiscard]] WriterOptions writer_options_of(const DatasetReader& file);

/// What an episode was begun with.
[[nodiscard]] EpisodeLabel label_of(const Episode& episode);

}  // namespace traffic::data
