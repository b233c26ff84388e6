// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// consumer SOFTMAX.so: runs causal softmax attention and checks what must hold whatever the scores are: the
// first query sees the first key alone, and every output is a mean of values.
#include <math.h>
#include <runtime/taylor.h>
#include <stdio.h>
#include <string.h>

enum { H = 2, T = 5, D = 16, SIZE = H * T * D };

int main(int argc, char **argv) {
  TaylorKernel *kernel;
  if (argc != 2 || taylor_load(argv[1], &kernel)) {
    fprintf(stderr, "%s\n", taylor_last_error());
    return 1;
  }
  static float q[SIZE], k[SIZE], v[SIZE], o[SIZE];
  for (int i = 0; i < SIZE; ++i) {
    q[i] = sinf(1.3f * i);
    k[i] = cosf(0.7f * i);
    v[i] = (float)(i % 11) - 5;
    o[i] = NAN;
  }
  const int64_t sizes[4] = {1, H, T, D}, strides[4] = {SIZE, T * D, D, 1};
  TaylorTensor tensors[16] = {0};
  int64_t count = taylor_tensor_count(kernel, "forward");
  for (int64_t i = 0; i < count; ++i) {
    const char *name = taylor_tensor_name(kernel, "forward", i);
    float *data = !strcmp(name, "input:q")    ? q
                  : !strcmp(name, "input:k")  ? k
                  : !strcmp(name, "input:v")  ? v
                  : !strcmp(name, "output:o") ? o
                                              : NULL;
    if (data)
      tensors[i] = (TaylorTensor){.data = data,
                                  .dtype = TAYLOR_F32,
                                  .device = TAYLOR_CPU,
                                  .rank = 4,
                                  .sizes = sizes,
                                  .strides = strides};
  }
  if (taylor_run(kernel, "forward", tensors, count, NULL)) {
    fprintf(stderr, "%s\n", taylor_last_error());
    return 1;
  }
  for (int h = 0; h < H; ++h)
    for (int t = 0; t < T; ++t)
      for (int d = 0; d < D; ++d) {
        float low = INFINITY, high = -INFINITY, value = o[(h * T + t) * D + d];
        for (int u = 0; u <= t; ++u) {
          low = fminf(low, v[(h * T + u) * D + d]);
          high = fmaxf(high, v[(h * T + u) * D + d]);
        }
        if (!(value >= low - 1e-4f && value <= high + 1e-4f)) {
          fprintf(stderr, "head %d, query %d, channel %d: %g is no mean of values in [%g, %g]\n", h, t, d,
                  value, low, high);
          return 1;
        }
      }
  taylor_unload(kernel);
  printf("Taylor %s: %d means of values\n", taylor_version(), SIZE);
  return 0;
}
