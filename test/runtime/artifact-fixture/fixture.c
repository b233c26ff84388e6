// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* An artifact written by hand: softmax attention, forward and backward, in plain C against
 * runtime/artifact.h. It shows the whole contract on one page, and tests runtime and trainer without a
 * compiler.
 *
 *   s[t,i] = <q[t], k[i]> / sqrt(d)     w = softmax of s over the visible keys i <= offset + t
 *   y[t]   = sum_i w[t,i] v[i]          o[t] = sigmoid(gate[t]) * weight * y[t]     (the last with GATED,
 * else o = y)
 *
 * fixture.py compiles it with D, E (channels), STORAGE (float, double or _Float16) or BF16, REAL (float or
 * double), GATED, CAUSAL, and manifest.inc next to it. Saved: m (maximum of the row) and z (its mass after
 * e^m is taken out). With --target=sm_80 it compiles the same functions to PTX, one thread to a block. */
#include "runtime/artifact.h"
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))
typedef REAL Real;

/* bf16 is kept as its bits: GCC has no type for it before version 13. */
#if BF16
typedef unsigned short Storage;
typedef union {
  float value;
  unsigned bits;
} Single;
static Real real(Storage x) {
  Single single = {.bits = (unsigned)x << 16};
  return single.value;
}
/* To the nearest bf16, ties to even. */
static Storage stored(Real x) {
  Single single = {.value = x};
  return x != x ? 0x7FC0 : (single.bits + 0x7FFF + (single.bits >> 16 & 1)) >> 16;
}
#else
typedef STORAGE Storage;
static Real real(Storage x) { return (Real)x; }
static Storage stored(Real x) { return (Storage)x; }
#endif

#ifdef __NVPTX__
static float exponential(float x) { return __nvvm_ex2_approx_f(x * 1.44269504f); }
#else
static Real exponential(Real x) { return sizeof(Real) == 8 ? __builtin_exp(x) : __builtin_expf(x); }
#endif
static Real sigmoid(Real x) { return x >= 0 ? 1 / (1 + exponential(-x)) : 1 - 1 / (1 + exponential(x)); }
static Real rootOfD(void) { return sizeof(Real) == 8 ? __builtin_sqrt(D) : __builtin_sqrtf(D); }

/* Places in the manifest's tensor lists: inputs first, then what the function adds. */
enum { Q, K, V, GATE, WEIGHT, INPUTS = GATED ? 5 : 3 };
enum { FORWARD_O = INPUTS, FORWARD_M, FORWARD_Z };
enum { OUTPUT = INPUTS, SAVED_M, SAVED_Z, COTANGENT, GRADIENT };

/* Address of element (i, j, l, 0) of tensor n. */
static void *at(const TaylorCall *call, int n, int64_t i, int64_t j, int64_t l, size_t size) {
  const int64_t *s = call->strides + n * TAYLOR_MAX_RANK;
  return (char *)call->data[n] + (i * s[0] + j * s[1] + l * s[2]) * (int64_t)size;
}
#define STORED(n, i, j, l) ((Storage *)at(call, n, i, j, l, sizeof(Storage)))
#define REALS(n, i, j, l) ((Real *)at(call, n, i, j, l, sizeof(Real)))

static int64_t visible(const int64_t *dims, int64_t t) {
  int64_t keys = dims[TAYLOR_DIM_U], n = CAUSAL ? dims[TAYLOR_DIM_OFFSET] + t + 1 : keys;
  return n < 0 ? 0 : n > keys ? keys : n;
}

static Real dot(const Storage *a, const Storage *b, int n) {
  Real sum = 0;
  for (int c = 0; c < n; ++c)
    sum += real(a[c]) * real(b[c]);
  return sum;
}

static int64_t noWorkspace(const int64_t *dims) { return 0; }

/* ---- forward: one kernel, one block per (b, h) ---- */

static int64_t forwardBlocks(const int64_t *dims, int64_t kernel) {
  return dims[TAYLOR_DIM_B] * dims[TAYLOR_DIM_H];
}

static void forwardRun(const TaylorCall *call, int64_t kernel, int64_t begin, int64_t end, void *scratch) {
  const int64_t *dims = call->dims, heads = dims[TAYLOR_DIM_H];
  const Real scale = 1 / rootOfD();
  Real *sum = scratch; /* [E] */
  for (int64_t block = begin; block < end; ++block) {
    const int64_t b = block / heads, h = block % heads, g = h / (heads / dims[TAYLOR_DIM_G]);
    for (int64_t t = 0; t < dims[TAYLOR_DIM_T]; ++t) {
      const Storage *q = STORED(Q, b, h, t);
      Real m = 0, z = 0;
      for (int e = 0; e < E; ++e)
        sum[e] = 0;
      for (int64_t u = 0; u < visible(dims, t); ++u) { /* online softmax */
        Real s = scale * dot(q, STORED(K, b, g, u), D);
        if (u == 0 || s > m) {
          Real shrink = u == 0 ? 0 : exponential(m - s);
          m = s, z *= shrink;
          for (int e = 0; e < E; ++e)
            sum[e] *= shrink;
        }
        Real w = exponential(s - m);
        const Storage *v = STORED(V, b, g, u);
        z += w;
        for (int e = 0; e < E; ++e)
          sum[e] += w * real(v[e]);
      }
      Storage *o = STORED(FORWARD_O, b, h, t);
      for (int e = 0; e < E; ++e) {
        Real y = z > 0 ? sum[e] / z : 0;
#if GATED
        y *= sigmoid(real(*STORED(GATE, b, h, t))) * ((Real *)call->data[WEIGHT])[e];
#endif
        o[e] = stored(y);
      }
      if (call->data[FORWARD_M])
        *REALS(FORWARD_M, b, h, t) = m;
      if (call->data[FORWARD_Z])
        *REALS(FORWARD_Z, b, h, t) = z;
    }
  }
}

/* ---- backward: rows, one block per (b, h); keys, one per (b, g); the weight's sum over the rows' blocks,
 * one ---- */

/* Workspace: <dy, y> of each row, [B, H, T], then the weight's gradient of each (b, h), [B, H, E], which the
 * last kernel adds up in a fixed order. */
static int64_t backwardWorkspace(const int64_t *dims) {
  return dims[TAYLOR_DIM_B] * dims[TAYLOR_DIM_H] * (dims[TAYLOR_DIM_T] + E) * (int64_t)sizeof(Real);
}

static int64_t backwardBlocks(const int64_t *dims, int64_t kernel) {
  return kernel == 2 ? GATED : dims[TAYLOR_DIM_B] * dims[kernel == 0 ? TAYLOR_DIM_H : TAYLOR_DIM_G];
}

static Real *products(const TaylorCall *call, int64_t b, int64_t h) {
  return (Real *)call->workspace + (b * call->dims[TAYLOR_DIM_H] + h) * call->dims[TAYLOR_DIM_T];
}
static Real *weightGradient(const TaylorCall *call, int64_t b, int64_t h) {
  const int64_t *dims = call->dims;
  return products(call, dims[TAYLOR_DIM_B], 0) + (b * dims[TAYLOR_DIM_H] + h) * E;
}

static Real weightOf(const TaylorCall *call, int64_t b, int64_t h, int64_t g, int64_t t, int64_t u,
                     Real scale) {
  Real s = scale * dot(STORED(Q, b, h, t), STORED(K, b, g, u), D);
  return exponential(s - *REALS(SAVED_M, b, h, t)) / *REALS(SAVED_Z, b, h, t);
}

/* The gradient of y[t] into dy[E]. */
static void rowCotangent(const TaylorCall *call, int64_t b, int64_t h, int64_t t, Real *dy) {
  for (int e = 0; e < E; ++e) {
    dy[e] = real(STORED(COTANGENT, b, h, t)[e]);
#if GATED
    dy[e] *= sigmoid(real(*STORED(GATE, b, h, t))) * ((Real *)call->data[WEIGHT])[e];
#endif
  }
}

static Real scoreGradient(const TaylorCall *call, int64_t b, int64_t h, int64_t g, int64_t t, int64_t u,
                          Real w, const Real *dy) {
  Real dw = 0;
  for (int e = 0; e < E; ++e)
    dw += dy[e] * real(STORED(V, b, g, u)[e]);
  return w * (dw - products(call, b, h)[t]);
}

/* One row: <dy, y>, dq[t], dgate[t]; adds to the weight's gradient. y and dy are [E], dq is [D]. */
static void row(const TaylorCall *call, int64_t b, int64_t h, int64_t g, int64_t t, Real *y, Real *dy,
                Real *dq, Real *dweight) {
  const Real scale = 1 / rootOfD();
  Real product = 0; /* <dy, y>, as y's factors stand in dy and in o alike */
  for (int e = 0; e < E; ++e)
    product += real(STORED(COTANGENT, b, h, t)[e]) * real(STORED(OUTPUT, b, h, t)[e]);
  products(call, b, h)[t] = product;
  rowCotangent(call, b, h, t, dy);
  if (call->data[GRADIENT + Q]) {
    for (int c = 0; c < D; ++c)
      dq[c] = 0;
    for (int64_t u = 0; u < visible(call->dims, t); ++u) {
      Real ds = scale * scoreGradient(call, b, h, g, t, u, weightOf(call, b, h, g, t, u, scale), dy);
      for (int c = 0; c < D; ++c)
        dq[c] += ds * real(STORED(K, b, g, u)[c]);
    }
    for (int c = 0; c < D; ++c)
      STORED(GRADIENT + Q, b, h, t)[c] = stored(dq[c]);
  }
#if GATED
  Real gate = sigmoid(real(*STORED(GATE, b, h, t))), dgate = 0;
  for (int e = 0; e < E; ++e)
    y[e] = 0;
  for (int64_t u = 0; u < visible(call->dims, t); ++u) {
    Real w = weightOf(call, b, h, g, t, u, scale);
    for (int e = 0; e < E; ++e)
      y[e] += w * real(STORED(V, b, g, u)[e]);
  }
  for (int e = 0; e < E; ++e) {
    Real cotangent = real(STORED(COTANGENT, b, h, t)[e]);
    dgate += cotangent * ((Real *)call->data[WEIGHT])[e] * y[e];
    dweight[e] += cotangent * gate * y[e];
  }
  if (call->data[GRADIENT + GATE])
    *STORED(GRADIENT + GATE, b, h, t) = stored(dgate * gate * (1 - gate));
#endif
}

/* dk[u] and dv[u], over all queries of the group. dk is [D], dv and dy are [E]. */
static void key(const TaylorCall *call, int64_t b, int64_t g, int64_t u, Real *dy, Real *dk, Real *dv) {
  const int64_t group = call->dims[TAYLOR_DIM_H] / call->dims[TAYLOR_DIM_G];
  const Real scale = 1 / rootOfD();
  for (int c = 0; c < D; ++c)
    dk[c] = 0;
  for (int e = 0; e < E; ++e)
    dv[e] = 0;
  for (int64_t h = g * group; h < (g + 1) * group; ++h)
    for (int64_t t = 0; t < call->dims[TAYLOR_DIM_T]; ++t) {
      if (u >= visible(call->dims, t))
        continue;
      rowCotangent(call, b, h, t, dy);
      Real w = weightOf(call, b, h, g, t, u, scale), ds = scale * scoreGradient(call, b, h, g, t, u, w, dy);
      for (int e = 0; e < E; ++e)
        dv[e] += w * dy[e];
      for (int c = 0; c < D; ++c)
        dk[c] += ds * real(STORED(Q, b, h, t)[c]);
    }
  for (int c = 0; c < D && call->data[GRADIENT + K]; ++c)
    STORED(GRADIENT + K, b, g, u)[c] = stored(dk[c]);
  for (int e = 0; e < E && call->data[GRADIENT + V]; ++e)
    STORED(GRADIENT + V, b, g, u)[e] = stored(dv[e]);
}

static void weightSum(const TaylorCall *call) {
#if GATED
  const int64_t *dims = call->dims;
  for (int e = 0; e < E && call->data[GRADIENT + WEIGHT]; ++e) {
    Real sum = 0;
    for (int64_t i = 0; i < dims[TAYLOR_DIM_B] * dims[TAYLOR_DIM_H]; ++i)
      sum += weightGradient(call, 0, i)[e];
    ((Real *)call->data[GRADIENT + WEIGHT])[e] = sum;
  }
#endif
}

/* Scratch: [3][max(D, E)]. */
enum { WIDEST = D > E ? D : E };

static void backwardRun(const TaylorCall *call, int64_t kernel, int64_t begin, int64_t end, void *scratch) {
  const int64_t *dims = call->dims;
  Real *first = scratch, *second = first + WIDEST, *third = second + WIDEST;
  for (int64_t block = begin; block < end; ++block) {
    if (kernel == 2) {
      weightSum(call);
    } else if (kernel == 1) {
      const int64_t b = block / dims[TAYLOR_DIM_G], g = block % dims[TAYLOR_DIM_G];
      if (call->data[GRADIENT + K] || call->data[GRADIENT + V])
        for (int64_t u = 0; u < dims[TAYLOR_DIM_U]; ++u)
          key(call, b, g, u, first, second, third);
    } else {
      const int64_t b = block / dims[TAYLOR_DIM_H], h = block % dims[TAYLOR_DIM_H];
      const int64_t g = h / (dims[TAYLOR_DIM_H] / dims[TAYLOR_DIM_G]);
      Real *dweight = weightGradient(call, b, h);
      for (int e = 0; e < E; ++e)
        dweight[e] = 0;
      for (int64_t t = 0; t < dims[TAYLOR_DIM_T]; ++t)
        row(call, b, h, g, t, first, second, third, dweight);
    }
  }
}

#ifdef __NVPTX__
/* One kernel of a function: KERNEL(entry, run, number, (parameters of the arrays), (addresses), (strides),
 * workspace), the lists in the order of the function's tensors, a stride for each of TAYLOR_MAX_RANK axes. */
#define LIST(...) __VA_ARGS__
#define KERNEL(entry, run, number, parameters, addresses, strideList, memory)                                \
  __attribute__((device_kernel)) void entry(int64_t b, int64_t h, int64_t g, int64_t t, int64_t u,           \
                                            int64_t offset, LIST parameters) {                               \
    const int64_t dims[TAYLOR_DIM_COUNT] = {b, h, g, t, u, offset}, strides[] = {LIST strideList};           \
    void *const data[] = {LIST addresses};                                                                   \
    const TaylorCall call = {dims, data, strides, memory};                                                   \
    Real scratch[3 * WIDEST];                                                                                \
    const int64_t block = __nvvm_read_ptx_sreg_ctaid_x();                                                    \
    run(&call, number, block, block + 1, scratch);                                                           \
  }
#include "kernels.inc"
#else
static const char manifest[] = {
#include "manifest.inc"
};
#ifdef HOST
static const TaylorFunction functions[] = {
    {"native", "forward", 1, E * sizeof(Real), noWorkspace, forwardBlocks, forwardRun},
    {"native", "backward", 3, 3 * WIDEST * sizeof(Real), backwardWorkspace, backwardBlocks, backwardRun},
};
#define FUNCTIONS functions, 2
#else
#define FUNCTIONS NULL, 0
#endif
#ifdef DEVICE
static const char text[] = {
#include "text.inc"
    , 0};
static const TaylorImage images[] = {{"sm_80", TAYLOR_IMAGE_PTX, text, sizeof(text) - 1}};
#define IMAGES images, 1
#else
#define IMAGES NULL, 0
#endif
EXPORT const TaylorArtifact taylor_artifact = {TAYLOR_ARTIFACT_MAGIC, TAYLOR_ARTIFACT_ABI, manifest,
                                               sizeof(manifest),      FUNCTIONS,           IMAGES};
#endif
