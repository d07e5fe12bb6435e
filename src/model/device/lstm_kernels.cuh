// The elementwise part of an LSTM step on GPUs, forward and backward. CUDA C++ without any headers:
// it is compiled at run time for the GPU of the machine (nvrtc_program.h), and by the tests as C++.
//
// A thread computes one unit of one row. Gates are ordered as in torch: input, forget, cell,
// output. An absent row has zero state: its cell, its output and the gradients of its gates are
// zero.

struct CellArguments {
  float* gates;            // [rows, 4 units]: sums before activation; replaced by activated gates
  const float* recurrent;  // [rows, 4 units]: added to the gates; null: the previous state is zero
  const float* previous_cell;    // [rows, units]; null: zero
  const unsigned char* present;  // [rows]; null: all rows are present
  float* cell;                   // [rows, units]
  float* output;                 // [rows, units]
  int rows;
  int units;
};

struct CellGradientArguments {
  const float* gates;            // [rows, 4 units]: activated gates
  const float* cell;             // [rows, units]
  const float* previous_cell;    // [rows, units]; null: zero
  const unsigned char* present;  // [rows]; null: all rows are present
  const float* grad_output;      // [rows, units] from the layer above; null: zero
  const float* grad_recurrent;   // [rows, units] from the following step; null: zero
  // [rows, units]: gradient of this step's cell from the following step. The kernel replaces it by
  // the gradient of the previous step's cell.
  float* grad_cell;
  float* grad_gates;  // [rows, 4 units]: gradient of the gates before activation
  int rows;
  int units;
};

__device__ inline float squash(float value) { return 1.0F / (1.0F + expf(-value)); }

__device__ inline long long item_of_thread() {
  return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void lstm_cell(CellArguments a) {
  const long long item = item_of_thread();
  if (item >= (long long)a.rows * a.units) return;
  const long long row = item / a.units;
  float* gates = a.gates + row * 4 * a.units + item % a.units;
  float sums[4];
  for (int g = 0; g < 4; ++g) sums[g] = gates[(long long)g * a.units];
  if (a.recurrent != nullptr) {
    const float* recurrent = a.recurrent + row * 4 * a.units + item % a.units;
    for (int g = 0; g < 4; ++g) sums[g] += recurrent[(long long)g * a.units];
  }
  const float input = squash(sums[0]);
  const float forget = squash(sums[1]);
  const float candidate = tanhf(sums[2]);
  const float gate = squash(sums[3]);
  float cell = input * candidate;
  if (a.previous_cell != nullptr) cell += forget * a.previous_cell[item];
  float output = gate * tanhf(cell);
  if (a.present != nullptr && a.present[row] == 0) cell = output = 0.0F;
  a.cell[item] = cell;
  a.output[item] = output;
  gates[0] = input;
  gates[a.units] = forget;
  gates[2LL * a.units] = candidate;
  gates[3LL * a.units] = gate;
}

extern "C" __global__ void lstm_cell_gradient(CellGradientArguments a) {
  const long long item = item_of_thread();
  if (item >= (long long)a.rows * a.units) return;
  const long long row = item / a.units;
  const long long first = row * 4 * a.units + item % a.units;
  const float* gates = a.gates + first;
  float* grad_gates = a.grad_gates + first;
  float grad_output = 0.0F;
  if (a.grad_output != nullptr) grad_output += a.grad_output[item];
  if (a.grad_recurrent != nullptr) grad_output += a.grad_recurrent[item];
  float grad_cell = a.grad_cell[item];
  if (a.present != nullptr && a.present[row] == 0) grad_output = grad_cell = 0.0F;
  const float input = gates[0];
  const float forget = gates[a.units];
  const float candidate = gates[2LL * a.units];
  const float gate = gates[3LL * a.units];
  const float squashed = tanhf(a.cell[item]);
  const float previous = a.previous_cell != nullptr ? a.previous_cell[item] : 0.0F;
  grad_cell += grad_output * gate * (1.0F - squashed * squashed);
  grad_gates[0] = grad_cell * candidate * (input - input * input);
  grad_gates[a.units] = grad_cell * previous * (forget - forget * forget);
  grad_gates[2LL * a.units] = grad_cell * input * (1.0F - candidate * candidate);
  grad_gates[3LL * a.units] = grad_output * squashed * (gate - gate * gate);
  a.grad_cell[item] = grad_cell * forget;
}
