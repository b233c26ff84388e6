/* The binary contract between the compiler and the runtime: what a compiled specification exports.
 *
 * An artifact is one ELF shared object that needs no library of LLVM, libtorch or ours. It exports one data
 * symbol, `taylor_artifact`, of the type TaylorArtifact, and for callers without our runtime the functions of
 * its table by name
 * (`taylor_forward_run`, `taylor_backward_run`, ...). The file ends in a TaylorTrailer, so that a truncated
 * or foreign file is refused before the dynamic loader sees it.
 *
 * A function (forward or backward) is a sequence of kernels. A kernel is a grid of independent blocks, which
 * the caller's threads run in any order; a kernel starts when all blocks of the one before have finished.
 * Results do not depend on the number of threads. */
#ifndef TAYLOR_RUNTIME_ARTIFACT_H
#define TAYLOR_RUNTIME_ARTIFACT_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define TAYLOR_ARTIFACT_ABI 1
#define TAYLOR_ARTIFACT_MAGIC 0x31524C5941540A7FULL /* "\x7F\nTAYLR1" read as a little-endian word */
#define TAYLOR_ARTIFACT_SYMBOL "taylor_artifact"
#define TAYLOR_MAX_RANK 8

/* Sizes known only at run time, in elements: the order of TaylorCall.dims. Channel sizes (d, e, free axes)
 * are fixed at compile time and stand in the manifest. `offset` is the position of query 0:
 * query t stands at offset + t, key u at u; U - T by default. */
enum TaylorDim {
  TAYLOR_DIM_B = 0,      /* batch */
  TAYLOR_DIM_H = 1,      /* query heads */
  TAYLOR_DIM_G = 2,      /* key/value heads; G divides H */
  TAYLOR_DIM_T = 3,      /* queries */
  TAYLOR_DIM_U = 4,      /* keys */
  TAYLOR_DIM_OFFSET = 5, /* position of query 0 */
  TAYLOR_DIM_COUNT = 8
};

/* One call of a function. Tensor i of the manifest's list for this function has data[i] (element 0; null
 * where the tensor is an optional result that nobody asks for: a saved tensor or a gradient) and its strides,
 * in elements, at strides[i * TAYLOR_MAX_RANK + j] for its j-th axis in the manifest's order. The last axis
 * of a tensor of rank 1 or more that ends in a channel (d, e or a free axis) has stride 1. */
typedef struct TaylorCall {
  const int64_t *dims;    /* [TAYLOR_DIM_COUNT] */
  void *const *data;      /* [tensors] */
  const int64_t *strides; /* [tensors * TAYLOR_MAX_RANK] */
  void *workspace; /* workspace(dims) bytes, 64-byte aligned, shared by all kernels of this call; contents
                      undefined */
} TaylorCall;

typedef struct TaylorFunction {
  const char *name;                                       /* "forward" or "backward" */
  int64_t kernels;                                        /* number of kernels, run in order */
  int64_t scratch;                                        /* bytes each thread must bring, 64-byte aligned */
  int64_t (*workspace)(const int64_t *dims);              /* bytes */
  int64_t (*blocks)(const int64_t *dims, int64_t kernel); /* blocks in the grid of this kernel; may be 0 */
  void (*run)(const TaylorCall *call, int64_t kernel, int64_t begin, int64_t end,
              void *scratch); /* blocks [begin, end) */
} TaylorFunction;

typedef struct TaylorArtifact {
  uint64_t magic;        /* TAYLOR_ARTIFACT_MAGIC */
  int64_t abi;           /* TAYLOR_ARTIFACT_ABI */
  const char *manifest;  /* JSON, UTF-8, not terminated; format: runtime/MANIFEST.md */
  int64_t manifest_size; /* bytes */
  const TaylorFunction *functions;
  int64_t function_count;
} TaylorArtifact;

/* The last 32 bytes of an artifact file. */
typedef struct TaylorTrailer {
  uint64_t magic;    /* TAYLOR_ARTIFACT_MAGIC */
  uint64_t abi;      /* TAYLOR_ARTIFACT_ABI */
  uint64_t size;     /* bytes of the file before the trailer */
  uint64_t checksum; /* FNV-1a, 64 bit, of these bytes taken as little-endian 64-bit words, the last one
                        padded with 0 */
} TaylorTrailer;

#ifdef __cplusplus
}
#endif
#endif
