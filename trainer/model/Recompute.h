// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_MODEL_RECOMPUTE_H
#define TAYLOR_TRAINER_MODEL_RECOMPUTE_H
#include <ATen/core/Tensor.h>
#include <functional>

namespace taylor::trainer {

/// part(x), of which nothing but x is kept for the backward: there the part is computed again (activation
/// checkpointing), with the same bits if it is a function of x and of leaves alone. Leaves that it uses get
/// their gradients. x must require one.
at::Tensor recomputed(const at::Tensor &x, std::function<at::Tensor(const at::Tensor &)> part);

} // namespace taylor::trainer
#endif
