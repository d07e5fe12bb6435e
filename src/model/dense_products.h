/// Dense layers of small float matrices on the CPU, past the dispatcher and without a record for
/// autograd: of a few hundred rows these take as long to go through as the arithmetic itself.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace traffic::model {

/// x [M, in] and weight [out, in] to x W^T + b, [M, out]. A row's result does not depend on the
/// rows beside it. @param weight may be columns of a wider one @param bias undefined: none
at::Tensor dense(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

/// a^T b, [columns of a, columns of b]: a weight's gradient.
at::Tensor product_of_transposed(const at::Tensor& a, const at::Tensor& b);

/// a b, [rows of a, columns of b].
at::Tensor product(const at::Tensor& a, const at::Tensor& b);

/// [columns]: the sum of the rows of x, which is contiguous.
at::Tensor sum_rows(const at::Tensor& x);

/// x[i] += shared[group[i]]. @param x [M, width] contiguous @param group [M] int64
void add_shared(at::Tensor& x, const at::Tensor& shared, const at::Tensor& group);

/// [groups, width]: the sums of the rows of each group.
at::Tensor sum_groups(const at::Tensor& x, const at::Tensor& group, std::int64_t groups);

/// x = tanh(x), error under 2e-7. @return x, which is contiguous
at::Tensor tanh_in_place(const at::Tensor& x);

/// grad (1 - y^2): the gradient of x where y = tanh(x). Both are contiguous.
at::Tensor through_tanh(const at::Tensor& grad, const at::Tensor& y);

}  // namespace traffic::model
