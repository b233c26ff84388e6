// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_RUNTIME_TORCH_PEAK_H
#define TAYLOR_RUNTIME_TORCH_PEAK_H
#include "runtime/taylor.h"

namespace taylor {

/// GFLOP/s of nothing but fused multiply-adds in registers, on `threads` of torch's threads at once, with the
/// widest vectors of this processor, or no AVX-512 where ATEN_CPU_CAPABILITY keeps torch from it. 16-bit
/// types count as f32, in which its products are accumulated. Takes some milliseconds. `cpuClock`: by
/// processor time instead of the wall's, for one thread.
double measurePeak(TaylorDtype dtype, int64_t threads, bool cpuClock = false);

/// Bits of those vectors.
int64_t peakVectorBits();

} // namespace taylor

#endif
