/* The binary contract between the compiler and the runtime: what a compiled specification exports.
 *
 * An artifact is one ELF shared object that needs no library of LLVM, libtorch or ours. It holds code for any
 * number of targets: functions for processors, and images (PTX text, cubins) for GPUs; where there is no
 * processor among the targets, the object holds data alone. It exports one data symbol, `taylor_artifact`, of
 * the type TaylorArtifact, and for callers without our runtime the functions of its first processor by name
 * (`taylor_forward_run`, `taylor_backward_run`, ...). The file ends in a TaylorTrailer, so that a truncated
 * or foreign file is refused before the dynamic loader sees it.
 *
 * A function (forward or backward) is a sequence of kernels. A kernel is a grid of independent blocks, which
 * run in any order; a kernel starts when all blocks of the one before have finished. Results do not depend on
 * the number of threads.
 *
 * A GPU's kernels are entries of its images, launched on a grid of one axis: the product of the extents in
 * the manifest, the last one fastest. Their parameters are 8 bytes each, in this order (MANIFEST.md,
 * "targets"): the sizes b, h, g, t, u and offset (the first six of TaylorDim), i64; for each of the kernel's
 * arguments its address, 0 where an optional tensor is absent; and after a tensor's address its strides, one
 * for each axis, i64 in elements. The arrays of a workspace are dense; they lie one after the other, each at
 * the next multiple of 64 bytes. */
#ifndef TAYLOR_RUNTIME_ARTIFACT_H
#define TAYLOR_RUNTIME_ARTIFACT_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define TAYLOR_ARTIFACT_ABI 2
#define TAYLOR_ARTIFACT_MAGIC 0x31524C5941540A7FULL /* "\x7F\nTAYLR1" read as a little-endian word */
#define TAYLOR_ARTIFACT_SYMBOL "taylor_artifact"
#define TAYLOR_MAX_RANK 8        /* axes of a tensor */
#define TAYLOR_MAX_TENSORS 128   /* of a function */
#define TAYLOR_MAX_ARGUMENTS 128 /* of a GPU's kernel: tensors and arrays of the workspace */

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

/* An extent `lag` is T + U + 2 TAYLOR_LAG_MARGIN: all differences of positions of queries and keys, and so
 * many more at either end. */
enum { TAYLOR_LAG_MARGIN = 128 };

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

/* A function for one of the artifact's processors. */
typedef struct TaylorFunction {
  const char *target;                                     /* name of a target of kind cpu */
  const char *name;                                       /* "forward" or "backward" */
  int64_t kernels;                                        /* number of kernels, run in order */
  int64_t scratch;                                        /* bytes each thread must bring, 64-byte aligned */
  int64_t (*workspace)(const int64_t *dims);              /* bytes */
  int64_t (*blocks)(const int64_t *dims, int64_t kernel); /* blocks in the grid of this kernel; may be 0 */
  void (*run)(const TaylorCall *call, int64_t kernel, int64_t begin, int64_t end,
              void *scratch); /* blocks [begin, end) */
} TaylorFunction;

enum TaylorImageKind {
  TAYLOR_IMAGE_PTX = 0,  /* text, for this GPU and newer ones */
  TAYLOR_IMAGE_CUBIN = 1 /* machine code, for GPUs of the same major version */
};

/* Code for one of the artifact's GPUs. A target has one image of a kind, or both. */
typedef struct TaylorImage {
  const char *target; /* name of a target of kind ptx: "sm_80" */
  int64_t kind;       /* TaylorImageKind */
  const void *bytes;  /* 16-byte aligned; PTX is followed by a byte 0 */
  int64_t size;       /* bytes, without that 0 */
} TaylorImage;

typedef struct TaylorArtifact {
  uint64_t magic;                  /* TAYLOR_ARTIFACT_MAGIC */
  int64_t abi;                     /* TAYLOR_ARTIFACT_ABI */
  const char *manifest;            /* JSON, UTF-8, not terminated; format: runtime/MANIFEST.md */
  int64_t manifest_size;           /* bytes */
  const TaylorFunction *functions; /* of all processors */
  int64_t function_count;
  const TaylorImage *images; /* of all GPUs */
  int64_t image_count;
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
