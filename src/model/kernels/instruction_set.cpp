// The table of the kernels for one instruction set. This file is compiled once for each instruction
// set, with its name as TRAFFIC_ISA.
#include "kernels/attention.h"
#include "kernels/attention_backward.h"
#include "kernels/dense.h"
#include "kernels/gelu.h"
#include "kernels/layer_norm.h"
#include "kernels/lstm_gates.h"
#include "kernels/pack.h"

#define TRAFFIC_TEXT_OF(x) #x
#define TRAFFIC_TEXT(x) TRAFFIC_TEXT_OF(x)

namespace traffic::model::kernels::TRAFFIC_ISA {
namespace {

/// Calls f<Lanes, Vectors>() with the sizes of the heads (see Heads in attention.h). The sizes in
/// the configuration's presets are compile-time constants; other sizes are known only at run time.
template <typename F>
void for_shape(const AttentionEdges& edges, const F& f) {
  const std::int64_t vectors = edges.head_dim / kLanes;
  if (edges.heads == 8 && vectors == 2) {
    f.template operator()<8, 2>();
  } else if (edges.heads == 4 && vectors == 1) {
    f.template operator()<4, 1>();
  } else if (edges.heads <= 8) {
    f.template operator()<8, 0>();
  } else {
    f.template operator()<16, 0>();
  }
}

void attention_of(const Attention& a, std::int64_t first, std::int64_t last, float* scratch) {
  for_shape(a.edges,
            [&]<int Lanes, int Vectors>() { attend<Lanes, Vectors>(a, first, last, scratch); });
}

void attention_backward_of(const AttentionBackward& a, const AttentionSums& sums,
                           std::int64_t first, std::int64_t last, float* scratch) {
  for_shape(a.edges, [&]<int Lanes, int Vectors>() {
    attention_backward<Lanes, Vectors>(a, sums, first, last, scratch);
  });
}

template <typename T>
constexpr Table<T> make_table() {
  return {.add_bias = add_bias<T>,
          .gelu = gelu<T>,
          .gelu_backward = gelu_backward<T>,
          .layer_norm = layer_norm<T>,
          .layer_norm_backward = layer_norm_backward<T>,
          .scale_shift_pairs = scale_shift_pairs<T>,
          .lstm_gates = lstm_gates<T>,
          .lstm_gates_backward = lstm_gates_backward<T>,
          .convert = convert<T>,
          .convert_to_float = convert_to_float<T>,
          .pack_weight_rows = pack_weight_rows,
          .pack_pairs = pack_pairs<T, T>,
          .pack_pairs_float = pack_pairs<float, T>,
          .transpose = transpose};
}

}  // namespace

extern const InstructionSet kTables;
constinit const InstructionSet kTables = {.name = TRAFFIC_TEXT(TRAFFIC_ISA),
                                          .common = {.attention = attention_of,
                                                     .attention_backward = attention_backward_of,
                                                     .column_sums = column_sums,
                                                     .product = product,
                                                     .transpose_all = transpose_all,
                                                     .tanh_all = tanh_all,
                                                     .tanh_backward_all = tanh_backward_all},
                                          .for_float = make_table<float>(),
                                          .for_bf16 = make_table<Bf16>()};

}  // namespace traffic::model::kernels::TRAFFIC_ISA
