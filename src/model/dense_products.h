/// Dense layers of small float matrices on the CPU. They avoid the torch dispatcher and autograd,
/// whose overhead would be as large as the arithmetic for a few hundred rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace traffic::model {

/// x W^T + b, [M, out], for x [M, in] and weight [out, in]. The result of a row does not depend on
/// the other rows.
/// @param weight W; may be a range of columns of a wider matrix
/// @param bias b; undefined: no bias
at::Tensor dense(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

/// a^T b, [columns of a, columns of b]: the gradient of a weight.
at::Tensor product_of_transposed(const at::Tensor& a, const at::Tensor& b);

/// a b, [rows of a, columns of b].
at::Tensor product(const at::Tensor& a, const at::Tensor& b);

/// [columns]: the sum over the rows of x, which is contiguous.
at::Tensor sum_rows(const at::Tensor& x);

/// x[i] += shared[group[i]].
/// @param x [M, width] contiguous
/// @param group [M] int64
void add_shared(at::Tensor& x, const at::Tensor& shared, const at::Tensor& group);

/// [groups, width]: for each group the sum of its rows.
at::Tensor sum_groups(const at::Tensor& x, const at::Tensor& group, std::int64_t groups);

/// Replaces x, which is contiguous, by tanh(x) with an error below 2e-7. @return x
at::Tensor tanh_in_place(const at::Tensor& x);

/// grad (1 - y^2): the gradient with respect to x, where y = tanh(x). Both are contiguous.
at::Tensor through_tanh(const at::Tensor& grad, const at::Tensor& y);

}  // namespace traffic::model
