// The attention of segment_attention.h on GPUs. CUDA C++ without any headers: it is compiled at run
// time for the GPU of the machine (nvrtc_program.h). The tests compile it as C++ and emulate warps
// with fibers.
//
// A warp computes one (node, head); its lanes share the channels of the head. There are no atomic
// operations: each sum has one writer and a fixed order, so results are bit-identical from run to
// run. Shapes: N nodes, E edges, d channels of all heads together.

constexpr int kWarp = 32;
constexpr int kEdgeColumns = 4;
constexpr int kRiskUnits = 32;       // hidden units of the risk MLP, one for each lane
constexpr int kChannelsPerLane = 4;  // maximum; heads have up to 128 channels
constexpr unsigned kAllLanes = 0xFFFFFFFFU;

struct AttentionEdges {
  const int* edge_ptr;         // [N + 1]
  const int* edge_src;         // [E]
  const float* edge_features;  // [E, 4]
  const float* qkv;            // [N, 3 d]
  const float* edge_weight;    // [d, 4]
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

// Arguments of the first kernel of the backward pass, which goes over the incoming edges of each
// node.
struct DestinationArguments {
  AttentionEdges in;
  const float* grad_out;     // [N, d]
  const float* probability;  // [E, heads]
  float* grad_qkv;           // [N, 3 d]: the kernel writes the first d columns (queries)
  float* grad_score;         // [E, heads]
  float* score_features;     // [heads, N, 4]: sum of grad_score * features over the incoming edges
  float* value_features;     // [heads, N, 4]: sum of probability * features over the incoming edges
};

// Arguments of the second kernel of the backward pass, which goes over the outgoing edges of each
// node.
struct SourceArguments {
  AttentionEdges in;
  const int* out_ptr;        // [N + 1]
  const int* out_edge;       // [E]: edges sorted by source
  const int* edge_dst;       // [E]
  const float* grad_out;     // [N, d]
  const float* probability;  // [E, heads]
  const float* grad_score;   // [E, heads]
  float* grad_qkv;           // [N, 3 d]: the kernel writes the others (keys, values)
};

__device__ inline float warp_sum(float value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance);
  }
  return value;
}

// The features of an edge, which all lanes read.
struct Features {
  float column[kEdgeColumns];
};

__device__ inline Features features_of(const AttentionEdges& in, int edge) {
  const float* f = in.edge_features + (long long)edge * kEdgeColumns;
  return {{f[0], f[1], f[2], f[3]}};
}

__device__ inline float dot(const float* weight, const Features& f) {
  return weight[0] * f.column[0] + weight[1] * f.column[1] + weight[2] * f.column[2] +
         weight[3] * f.column[3];
}

// Registers of a lane for its channels while it processes the edges; channel i is lane + 32 i of
// the head.
struct Channels {
  float value[kChannelsPerLane];
  // Weights of the edge features in the channel's key and value.
  float weight[kChannelsPerLane][kEdgeColumns];
};

// @param values the node's channels of this head: queries, or gradients of outputs
__device__ inline Channels channels_of(const AttentionEdges& in, int lane, int head,
                                       const float* values) {
  Channels channels = {};
  for (int i = 0; i < kChannelsPerLane; ++i) {
    const int c = lane + i * kWarp;
    if (c >= in.head_dim) continue;
    channels.value[i] = values[c];
    const float* weight = in.edge_weight + ((long long)head * in.head_dim + c) * kEdgeColumns;
    for (int column = 0; column < kEdgeColumns; ++column) {
      channels.weight[i][column] = weight[column];
    }
  }
  return channels;
}

// The node and head that a warp computes, and the lane of a thread in the warp.
struct Place {
  int node;
  int head;
  int lane;
  bool exists;  // false in warps after the last node; equal for all lanes of a warp
};

__device__ inline Place place_of(const AttentionEdges& in) {
  const int item = (int)(blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp);
  const int lane = (int)(threadIdx.x % kWarp);
  return {item / in.heads, item % in.heads, lane, item < in.nodes * in.heads};
}

// Offset of a node's queries (part 0), keys (1) or values (2) at this head.
__device__ inline long long row_of(const AttentionEdges& in, int node, int head, int part) {
  const long long width = (long long)in.heads * in.head_dim;
  return node * 3 * width + part * width + (long long)head * in.head_dim;
}

// Computes the outputs and probabilities. The softmax needs only one loop over the edges: when a
// higher score occurs, the loop scales the sums so far down (Milakov and Gimelshein 2018,
// arXiv:1805.02867).
extern "C" __global__ void attention_forward(ForwardArguments a) {
  const AttentionEdges& in = a.in;
  const Place place = place_of(in);
  if (!place.exists) return;
  const int lane = place.lane;
  const Channels query =
      channels_of(in, lane, place.head, in.qkv + row_of(in, place.node, place.head, 0));
  // The risk bias: each lane computes one hidden unit.
  float risk_in[kEdgeColumns];
  for (int c = 0; c < kEdgeColumns; ++c) risk_in[c] = a.risk_in_weight[lane * kEdgeColumns + c];
  const float risk_in_bias = a.risk_in_bias[lane];
  const float risk_out = a.risk_out_weight[place.head * kRiskUnits + lane];
  const float risk_out_bias = a.risk_out_bias[place.head];
  const int begin = in.edge_ptr[place.node];
  const int end = in.edge_ptr[place.node + 1];

  float highest = -1e30F;
  float total = 0.0F;
  float sum[kChannelsPerLane] = {};
  for (int e = begin; e < end; ++e) {
    const Features f = features_of(in, e);
    const int source = in.edge_src[e];
    const float* k = in.qkv + row_of(in, source, place.head, 1);
    const float* v = in.qkv + row_of(in, source, place.head, 2);
    float part = 0.0F;
    float value[kChannelsPerLane] = {};
    for (int i = 0; i < kChannelsPerLane; ++i) {
      const int c = lane + i * kWarp;
      if (c >= in.head_dim) continue;
      const float shift = dot(query.weight[i], f);
      part += query.value[i] * (k[c] + shift);
      value[i] = v[c] + shift;
    }
    const float unit = risk_in_bias + dot(risk_in, f);
    const float risk = unit > 0.0F ? risk_out * unit : 0.0F;
    const float score = warp_sum(part * in.scale + risk) + risk_out_bias;
    if (score > highest) {
      const float shrink = expf(highest - score);
      highest = score;
      total *= shrink;
      for (int i = 0; i < kChannelsPerLane; ++i) sum[i] *= shrink;
    }
    const float p = expf(score - highest);
    total += p;
    for (int i = 0; i < kChannelsPerLane; ++i) sum[i] += p * value[i];
    if (lane == 0) a.probability[(long long)e * in.heads + place.head] = score;
  }
  __syncwarp();  // all lanes see lane 0's scores, which now become probabilities
  const float factor = total > 0.0F ? 1.0F / total : 0.0F;
  for (int e = begin + lane; e < end; e += kWarp) {
    float* p = a.probability + (long long)e * in.heads + place.head;
    *p = expf(*p - highest) * factor;
  }
  float* out = a.out + ((long long)place.node * in.heads + place.head) * in.head_dim;
  for (int i = 0; i < kChannelsPerLane; ++i) {
    const int c = lane + i * kWarp;
    if (c < in.head_dim) out[c] = sum[i] * factor;
  }
}

// Computes the gradients of scores and queries.
extern "C" __global__ void attention_backward_destination(DestinationArguments a) {
  const AttentionEdges& in = a.in;
  const Place place = place_of(in);
  if (!place.exists) return;
  const int lane = place.lane;
  const Channels grad =
      channels_of(in, lane, place.head,
                  a.grad_out + ((long long)place.node * in.heads + place.head) * in.head_dim);
  const int begin = in.edge_ptr[place.node];
  const int end = in.edge_ptr[place.node + 1];

  // Softmax: grad_score = p * (grad_p - sum of p * grad_p).
  float mean = 0.0F;
  for (int e = begin; e < end; ++e) {
    const Features f = features_of(in, e);
    const float* v = in.qkv + row_of(in, in.edge_src[e], place.head, 2);
    float part = 0.0F;
    for (int i = 0; i < kChannelsPerLane; ++i) {
      const int c = lane + i * kWarp;
      if (c < in.head_dim) part += grad.value[i] * (v[c] + dot(grad.weight[i], f));
    }
    const float grad_p = warp_sum(part);
    const long long at = (long long)e * in.heads + place.head;
    mean += a.probability[at] * grad_p;
    if (lane == 0) a.grad_score[at] = grad_p;
  }
  __syncwarp();  // all lanes see lane 0's values, which now become gradients of scores
  for (int e = begin + lane; e < end; e += kWarp) {
    const long long at = (long long)e * in.heads + place.head;
    a.grad_score[at] = a.probability[at] * (a.grad_score[at] - mean);
  }
  __syncwarp();

  float grad_q[kChannelsPerLane] = {};
  float score_features = 0.0F;  // sum for feature `lane`, only in the first four lanes
  float value_features = 0.0F;
  for (int e = begin; e < end; ++e) {
    const Features f = features_of(in, e);
    const float* k = in.qkv + row_of(in, in.edge_src[e], place.head, 1);
    const long long at = (long long)e * in.heads + place.head;
    const float grad_score = a.grad_score[at];
    if (lane < kEdgeColumns) {
      const float mine = in.edge_features[(long long)e * kEdgeColumns + lane];
      score_features += grad_score * mine;
      value_features += a.probability[at] * mine;
    }
    for (int i = 0; i < kChannelsPerLane; ++i) {
      const int c = lane + i * kWarp;
      if (c < in.head_dim) grad_q[i] += grad_score * (k[c] + dot(grad.weight[i], f));
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

// Computes the gradients of keys and values.
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
