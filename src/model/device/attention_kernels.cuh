// The attention of segment_attention.h on GPUs. CUDA C++ without any header: compiled at run time
// for the GPU that is there (nvrtc_program.h), and by the tests as C++ with warps played by fibers.
//
// A warp does one (node, head); its lanes share the channels of the head. No atomic operations: a
// sum has one writer and a fixed order, so results repeat to the bit.

constexpr int kWarp = 32;
constexpr int kEdgeColumns = 4;
constexpr int kRiskUnits = 32;       // as many as lanes
constexpr int kChannelsPerLane = 4;  // at most: heads of up to 128 channels
constexpr unsigned kAllLanes = 0xFFFFFFFFU;

struct AttentionEdges {
  const int* edge_ptr;          // [N + 1]
  const int* edge_src;          // [E]
  const float* edge_features;   // [E, 4]
  const float* qkv;             // [N, 3 d]
  const float* edge_weight;     // [d, 4]
  int nodes;
  int heads;
  int head_dim;
  float scale;  // 1 / sqrt(head_dim)
};

struct ForwardArguments {
  AttentionEdges in;
  const float* risk_in_weight;   // [32, 4]
  const float* risk_in_bias;     // [32]
  const float* risk_out_weight;  // [heads, 32]
  const float* risk_out_bias;    // [heads]
  float* out;                    // [N, d]
  float* probability;            // [E, heads]
};

// Backward, first half: by destination.
struct DestinationArguments {
  AttentionEdges in;
  const float* grad_out;     // [N, d]
  const float* probability;  // [E, heads]
  float* grad_qkv;           // [N, 3 d]: queries are written
  float* grad_score;         // [E, heads]
  float* score_features;     // [heads, N, 4]: sum of grad_score * features over the in-edges
  float* value_features;     // [heads, N, 4]: sum of probability * features over the in-edges
};

// Backward, second half: by source.
struct SourceArguments {
  AttentionEdges in;
  const int* out_ptr;        // [N + 1]
  const int* out_edge;       // [E]: edges by source
  const int* edge_dst;       // [E]
  const float* grad_out;     // [N, d]
  const float* probability;  // [E, heads]
  const float* grad_score;   // [E, heads]
  float* grad_qkv;           // [N, 3 d]: keys and values are written
};

__device__ inline float warp_sum(float value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance);
  }
  return value;
}

// What the features of an edge add to channel `row` of its key and its value.
__device__ inline float edge_shift(const AttentionEdges& in, const float* features, int row) {
  const float* weight = in.edge_weight + (long long)row * kEdgeColumns;
  return weight[0] * features[0] + weight[1] * features[1] + weight[2] * features[2] +
         weight[3] * features[3];
}

struct Place {
  int node;
  int head;
  int lane;
  bool exists;  // the same for all lanes of a warp
};

__device__ inline Place place_of(const AttentionEdges& in) {
  const int item = (int)(blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp);
  const int lane = (int)(threadIdx.x % kWarp);
  return {item / in.heads, item % in.heads, lane, item < in.nodes * in.heads};
}

// Row of a node's queries (0), keys (1) or values (2), at this head.
__device__ inline long long row_of(const AttentionEdges& in, int node, int head, int part) {
  const long long width = (long long)in.heads * in.head_dim;
  return node * 3 * width + part * width + (long long)head * in.head_dim;
}

extern "C" __global__ void attention_forward(ForwardArguments a) {
  const AttentionEdges& in = a.in;
  const Place place = place_of(in);
  if (!place.exists) return;
  const int lane = place.lane;
  const int first_row = place.head * in.head_dim;
  const float* q = in.qkv + row_of(in, place.node, place.head, 0);
  const int begin = in.edge_ptr[place.node];
  const int end = in.edge_ptr[place.node + 1];

  float highest = -1e30F;
  for (int e = begin; e < end; ++e) {
    const float* f = in.edge_features + (long long)e * kEdgeColumns;
    const float* k = in.qkv + row_of(in, in.edge_src[e], place.head, 1);
    float part = 0.0F;
    for (int c = lane; c < in.head_dim; c += kWarp) {
      part += q[c] * (k[c] + edge_shift(in, f, first_row + c));
    }
    // The risk bias: each lane is one hidden unit.
    const float* w = a.risk_in_weight + lane * kEdgeColumns;
    const float unit =
        a.risk_in_bias[lane] + w[0] * f[0] + w[1] * f[1] + w[2] * f[2] + w[3] * f[3];
    const float risk = unit > 0.0F ? a.risk_out_weight[place.head * kRiskUnits + lane] * unit : 0.0F;
    const float score = warp_sum(part * in.scale + risk) + a.risk_out_bias[place.head];
    highest = score > highest ? score : highest;
    if (lane == 0) a.probability[(long long)e * in.heads + place.head] = score;
  }
  __syncwarp();  // lane 0's scores are seen by all lanes

  float total = 0.0F;
  float sum[kChannelsPerLane] = {};
  for (int e = begin; e < end; ++e) {
    const float* f = in.edge_features + (long long)e * kEdgeColumns;
    const float* v = in.qkv + row_of(in, in.edge_src[e], place.head, 2);
    const float p = expf(a.probability[(long long)e * in.heads + place.head] - highest);
    total += p;
    for (int i = 0; i < kChannelsPerLane; ++i) {
      const int c = lane + i * kWarp;
      if (c < in.head_dim) sum[i] += p * (v[c] + edge_shift(in, f, first_row + c));
    }
  }
  __syncwarp();  // all lanes have read the scores, which now become probabilities
  const float factor = total > 0.0F ? 1.0F / total : 0.0F;
  for (int e = begin + lane; e < end; e += kWarp) {
    float* p = a.probability + (long long)e * in.heads + place.head;
    *p = expf(*p - highest) * factor;
  }
  float* out = a.out + (long long)place.node * in.heads * in.head_dim + first_row;
  for (int i = 0; i < kChannelsPerLane; ++i) {
    const int c = lane + i * kWarp;
    if (c < in.head_dim) out[c] = sum[i] * factor;
  }
}

extern "C" __global__ void attention_backward_destination(DestinationArguments a) {
  const AttentionEdges& in = a.in;
  const Place place = place_of(in);
  if (!place.exists) return;
  const int lane = place.lane;
  const int first_row = place.head * in.head_dim;
  const float* g = a.grad_out + (long long)place.node * in.heads * in.head_dim + first_row;
  const int begin = in.edge_ptr[place.node];
  const int end = in.edge_ptr[place.node + 1];

  // Softmax: grad_score = p * (grad_p - sum of p * grad_p).
  float mean = 0.0F;
  for (int e = begin; e < end; ++e) {
    const float* f = in.edge_features + (long long)e * kEdgeColumns;
    const float* v = in.qkv + row_of(in, in.edge_src[e], place.head, 2);
    float part = 0.0F;
    for (int c = lane; c < in.head_dim; c += kWarp) {
      part += g[c] * (v[c] + edge_shift(in, f, first_row + c));
    }
    const float grad_p = warp_sum(part);
    const long long at = (long long)e * in.heads + place.head;
    mean += a.probability[at] * grad_p;
    if (lane == 0) a.grad_score[at] = grad_p;
  }
  __syncwarp();

  float grad_q[kChannelsPerLane] = {};
  float score_features = 0.0F;  // of column `lane`, for the first four lanes
  float value_features = 0.0F;
  for (int e = begin; e < end; ++e) {
    const float* f = in.edge_features + (long long)e * kEdgeColumns;
    const float* k = in.qkv + row_of(in, in.edge_src[e], place.head, 1);
    const long long at = (long long)e * in.heads + place.head;
    const float p = a.probability[at];
    const float grad_score = p * (a.grad_score[at] - mean);
    __syncwarp();  // all lanes have read before lane 0 writes
    if (lane == 0) a.grad_score[at] = grad_score;
    if (lane < kEdgeColumns) {
      score_features += grad_score * f[lane];
      value_features += p * f[lane];
    }
    for (int i = 0; i < kChannelsPerLane; ++i) {
      const int c = lane + i * kWarp;
      if (c < in.head_dim) grad_q[i] += grad_score * (k[c] + edge_shift(in, f, first_row + c));
    }
  }
  float* out = a.grad_qkv + row_of(in, place.node, place.head, 0);
  for (int i = 0; i < kChannelsPerLane; ++i) {
    const int c = lane + i * kWarp;
    if (c < in.head_dim) out[c] = in.scale * grad_q[i];
  }
  if (lane < kEdgeColumns) {
    const long long at = ((long long)place.head * in.nodes + place.node) * kEdgeColumns + lane;
    a.score_features[at] = in.scale * score_features;
    a.value_features[at] = value_features;
  }
}

extern "C" __global__ void attention_backward_source(SourceArguments a) {
  const AttentionEdges& in = a.in;
  const Place place = place_of(in);
  if (!place.exists) return;
  const long long width = (long long)in.heads * in.head_dim;
  float grad_k[kChannelsPerLane] = {};
  float grad_v[kChannelsPerLane] = {};
  for (int o = a.out_ptr[place.node]; o < a.out_ptr[place.node + 1]; ++o) {
    const int e = a.out_edge[o];
    const int destination = a.edge_dst[e];
    const float* q = in.qkv + row_of(in, destination, place.head, 0);
    const float* g = a.grad_out + destination * width + (long long)place.head * in.head_dim;
    const float p = a.probability[(long long)e * in.heads + place.head];
    const float grad_score = a.grad_score[(long long)e * in.heads + place.head];
    for (int i = 0; i < kChannelsPerLane; ++i) {
      const int c = place.lane + i * kWarp;
      if (c < in.head_dim) {
        grad_k[i] += grad_score * q[c];
        grad_v[i] += p * g[c];
      }
    }
  }
  float* keys = a.grad_qkv + row_of(in, place.node, place.head, 1);
  float* values = a.grad_qkv + row_of(in, place.node, place.head, 2);
  for (int i = 0; i < kChannelsPerLane; ++i) {
    const int c = place.lane + i * kWarp;
    if (c < in.head_dim) {
      keys[c] = in.scale * grad_k[i];
      values[c] = grad_v[i];
    }
  }
}
