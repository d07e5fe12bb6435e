/// Batch: several samples of recorded traffic as tensors, from which phase 1 trains its model. A
/// TrafficLoader (traffic_batches.h) makes batches.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace traffic::data {

/// Shapes: B samples, S vehicles of all samples together, E edges, T history frames, H horizon
/// frames, F node features. The anchor is the last history frame, number T - 1; the horizon follows
/// it (windows.h). Sample b has the vehicles sample_ptr[b] to sample_ptr[b + 1] - 1. The nodes of
/// the graph are rows: row r = t * S + s is vehicle s in history frame t.
///
/// The inputs (the first block of members) are normalised: (value - offset) / scale. The targets of
/// the losses are in physical units. The tensors are on the CPU. They are page-locked if
/// BatchOptions::pin_memory is set.
struct Batch {
  at::Tensor node_features;  ///< [T, S, F] float32, zeros where the vehicle is not present
  at::Tensor present;        ///< [T, S] bool: on the road in that frame; true at the anchor
  at::Tensor edge_ptr;       ///< [T * S + 1] int32: edges edge_ptr[r] to edge_ptr[r + 1] - 1 lead
                             ///< to row r; a vehicle that is not present has no edges
  at::Tensor edge_src;       ///< [E] int32: rows where the edges start; both ends of an edge are in
                             ///< one sample and one frame
  at::Tensor edge_features;  ///< [E, 4] float32
  at::Tensor sample_ptr;     ///< [B + 1] int32

  at::Tensor speed_mps;          ///< [S] float32 at the anchor
  at::Tensor acceleration_mps2;  ///< [S]
  at::Tensor lane;               ///< [S] lane index; 0 is the rightmost lane

  at::Tensor future_displacement_m;     ///< [S, H] float32: growth of the position since the anchor
  at::Tensor future_speed_mps;          ///< [S, H] float32
  at::Tensor future_acceleration_mps2;  ///< [S, H]
  at::Tensor future_lane;               ///< [S, H]
  at::Tensor future_mask;  ///< [S, H] bool: still on the road; future_* are 0 where it is false
  at::Tensor conflict;     ///< [S] float32: 1 if the time-to-collision with the leader falls under
                           ///< BatchOptions::conflict_ttc_s in any horizon frame
  at::Tensor conflict_mask;  ///< [S] bool: on the road in any horizon frame

  at::Tensor sample_id;      ///< [B] int64: numbers of the samples in the data set
  at::Tensor sample_weight;  ///< [B] float32: 1, or 0 for a repeated sample that fills a batch
                             ///< which would be empty

  [[nodiscard]] std::int64_t num_samples() const { return sample_id.size(0); }
  [[nodiscard]] std::int64_t num_vehicles() const { return present.size(1); }
  [[nodiscard]] std::int64_t num_edges() const { return edge_src.size(0); }
  /// Sum of the bytes of all tensors.
  [[nodiscard]] std::int64_t num_bytes() const;
  /// Copies the batch to a device; asynchronously if it is page-locked.
  [[nodiscard]] Batch to(at::Device device) const;
};

}  // namespace traffic::data
