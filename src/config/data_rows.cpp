/// The schema of the configuration has a row for each key (schema.h). This file has the rows of the
/// tables [data] and [data.augmentation].
#include "rows.h"

namespace traffic::config {

std::vector<Row> data_rows() {
  return {
      {TRAFFIC_KEY(data.files),
       .help = "HDF5 data sets, as paths or globs relative to the working directory.",
       .refuse = refuse_empty},
      {TRAFFIC_KEY(data.stage_dir),
       .help =
           "Folder on a disk of each node. Before training, one rank of each node copies the files "
           "into it. A node that cannot see the files gets them from rank 0's node. Later runs use "
           "the copies again; the program never removes them. Empty means that the files are read "
           "where they are."},
      {TRAFFIC_KEY(data.max_bad_file_share),
       .help =
           "Largest share of the files that may be unreadable, and of the samples that may be "
           "damaged. The log names the files and samples. Unreadable files are skipped, and other "
           "samples replace damaged ones. Above this share the program ends with exit code 3.",
       .range = below_one()},
      {TRAFFIC_KEY(data.history_frames), .help = "Frames that the model sees.", .unit = "frames",
       .range = between(1, 1000)},
      {TRAFFIC_KEY(data.horizon_frames), .help = "Frames that the model predicts.",
       .unit = "frames", .range = between(1, 1000)},
      {TRAFFIC_KEY(data.max_vehicles),
       .help = "Maximum number of vehicles in the region of a sample.", .unit = "vehicles",
       .range = between(1, 4096)},
      {TRAFFIC_KEY(data.sample_stride_frames),
       .help = "Frames between the starts of two successive samples.", .unit = "frames",
       .range = between(1, 100000)},
      {TRAFFIC_KEY(data.max_samples),
       .help =
           "Approximate maximum number of training samples. They are taken as whole stretches of "
           "time that are spread evenly over all recordings. 0 means all samples. Validation and "
           "test always use all of their samples.",
       .unit = "samples", .range = at_least(0)},
      {TRAFFIC_KEY(data.batch_size),
       .help =
           "Samples of a rank in a step. 0 means that the program chooses 4 to 48, depending on "
           "the memory that is free for each rank when the run begins.",
       .unit = "samples", .range = between(0, 65536)},
      {TRAFFIC_KEY(data.shuffle), .help = "Whether each epoch reads the samples in a new order."},
      {TRAFFIC_KEY(data.drop_last),
       .help = "Whether samples that do not fill a step on every rank are left out. Otherwise the "
               "last step of an epoch may have fewer samples."},
      {TRAFFIC_KEY(data.num_workers),
       .help =
           "Threads of a rank that read and decode. 0 means one thread if the rank trains on the "
           "CPU. If it trains on a GPU, 0 means half of the rank's processors, at most 8.",
       .unit = "threads", .range = between(0, 256)},
      {TRAFFIC_KEY(data.prefetch_factor),
       .help = "Batches that a reading thread prepares in advance.", .unit = "batches",
       .range = between(1, 64)},
      {TRAFFIC_KEY(data.persistent_workers),
       .help = "Whether reading threads and decoded chunks are kept from one epoch to the next; "
               "otherwise their memory is free while the model is evaluated."},
      {TRAFFIC_KEY(data.pin_memory),
       .help = "Whether batches lie in page-locked memory if there is a GPU. They are then copied "
               "to the GPU while it computes, but their memory cannot be swapped."},
      {TRAFFIC_KEY(data.shuffle_chunks),
       .help = "Number of chunks (parts of a file that are read as a whole) whose samples are "
               "shuffled together.",
       .unit = "chunks", .range = between(1, 4096)},
      {TRAFFIC_KEY(data.cache_mb),
       .help =
           "Limit of a rank's memory for decoded chunks and prepared batches. The memory of open "
           "files does not count.",
       .unit = "MiB", .range = between(0, 1048576)},
      {TRAFFIC_KEY(data.shards),
       .help = "Which data a rank reads. `mixed`: another part of the shuffled chunks in each "
               "epoch; `time`: always the same stretch of the recordings; `region`: always the "
               "same part of the road.",
       .choices = {"mixed", "time", "region"}},
      {TRAFFIC_KEY(data.shard_weights),
       .help =
           "How the sizes of the ranks' parts are chosen. `fixed`: by `data.rank_weights`; "
           "`measured`: from the second epoch on in proportion to the ranks' speeds in the first.",
       .choices = {"fixed", "measured"}},
      {TRAFFIC_KEY(data.rank_weights),
       .help =
           "Share of the samples that each rank gets, for unequal GPUs. Empty means equal shares.",
       .range = above(0, 1e6)},
      {TRAFFIC_KEY(data.conflict_ttc_s),
       .help = "A vehicle is labelled as in conflict when its time-to-collision falls below this "
               "within the horizon.",
       .unit = "s", .range = above(0, 60)},
  };
}

std::vector<Row> augmentation_rows() {
  return {
      {TRAFFIC_KEY(data.augmentation.enabled),
       .help = "Whether training samples are changed at random."},
      {TRAFFIC_KEY(data.augmentation.time_shift_frames),
       .help = "Largest shift of a sample's start, forward or backward.", .unit = "frames",
       .range = between(0, 1000)},
      {TRAFFIC_KEY(data.augmentation.speed_noise_mps),
       .help = "Standard deviation of the noise on speeds.", .unit = "m/s",
       .range = between(0, 20)},
      {TRAFFIC_KEY(data.augmentation.position_jitter_m),
       .help =
           "Largest distance by which a vehicle's positions are moved in either direction. It is "
           "drawn uniformly and is the same in all frames of a sample.",
       .unit = "m", .range = between(0, 1000)},
      {TRAFFIC_KEY(data.augmentation.edge_dropout), .help = "Share of edges that are left out.",
       .range = below_one()},
      {TRAFFIC_KEY(data.augmentation.feature_mask),
       .help = "Share of node features that are set to zero.", .range = below_one()},
  };
}

}  // namespace traffic::config
