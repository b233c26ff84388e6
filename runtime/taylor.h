// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Taylor's C interface: from an artifact of taylorc to a running attention kernel.
 *
 *   TaylorKernel *kernel;
 *   if (taylor_load("softmax.so", &kernel)) fail(taylor_last_error());
 *   // in the order of taylor_tensor_name(kernel, "forward", i); {0}: an absent one
 *   TaylorTensor tensors[5] = {q, k, v, o, {0}};
 *   if (taylor_run(kernel, "forward", tensors, 5, NULL)) fail(taylor_last_error());
 *   taylor_unload(kernel);
 *
 * Every function may be called from any thread; one kernel may run in several threads at once. A forked child
 * goes on with its parent's kernels, on the processor, whatever other threads of the parent did meanwhile. A
 * function that returns int returns 0, or another number, 1 except for TAYLOR_REFUSED, and leaves a message
 * for taylor_last_error() of the calling thread. Nothing is written to a tensor before every argument has
 * been checked. */
#ifndef TAYLOR_RUNTIME_TAYLOR_H
#define TAYLOR_RUNTIME_TAYLOR_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct TaylorKernel TaylorKernel; /* a loaded artifact */

/* Storage types, by their names in the manifest: f32, bf16, f64, i32, f16. */
typedef enum TaylorDtype {
  TAYLOR_F32 = 0,
  TAYLOR_BF16 = 1,
  TAYLOR_F64 = 2,
  TAYLOR_I32 = 3,
  TAYLOR_F16 = 4
} TaylorDtype;

/* Where a tensor's memory is, and what runs a kernel. The interpreter of PTX works on the host's memory, so
 * no tensor lies on TAYLOR_PTX. */
typedef enum TaylorDevice {
  TAYLOR_CPU = 0,  /* the processor */
  TAYLOR_CUDA = 1, /* an NVIDIA GPU */
  TAYLOR_PTX = 2 /* GPU code on the processor: slow, with every access checked; needs no GPU and no driver */
} TaylorDevice;

/* A view of the caller's memory. Sizes and strides are in elements, one per axis in the manifest's order;
 * strides are at least 0, and an axis of size 1, or of a tensor without elements, may have any. Where the
 * last axis is a channel (d, e or a free axis) its stride is 1. Data is aligned to one element; on a GPU,
 * where the manifest says aligned16, to 16 bytes, and so are the strides. data == NULL says that the tensor
 * is absent: allowed for saved tensors of "forward", gradients of "backward", and tensors without elements;
 * the other fields are then ignored where the tensor is optional. Tensors that are written must not overlap
 * any other.
 */
typedef struct TaylorTensor {
  void *data;
  int32_t dtype;  /* TaylorDtype */
  int32_t device; /* TaylorDevice */
  int64_t rank;
  const int64_t *sizes;   /* [rank] */
  const int64_t *strides; /* [rank] */
} TaylorTensor;

/* Runs task(task_context, i) for each i in [0, tasks), on any threads, and returns when all have returned. */
typedef void (*TaylorParallelFor)(void *context, int64_t tasks, void (*task)(void *task_context, int64_t i),
                                  void *task_context);

/* What the interpreter of PTX executed in one kernel, counted as issued: once for each warp. */
typedef struct TaylorPtxProfile {
  const char *function, *kernel, *entry;
  int64_t blocks, threads; /* of the grid; of a block */
  uint64_t instructions;
  int64_t class_count; /* of instructions */
  const char *const *class_names;
  const uint64_t *class_instructions;   /* [class_count] */
  uint64_t global_read, global_written; /* bytes */
  uint64_t shared_read, shared_written; /* bytes */
  uint64_t bank_conflicts;              /* passes over shared memory beyond the fewest */
} TaylorPtxProfile;

/* How TAYLOR_PTX runs. */
typedef struct TaylorPtxOptions {
  size_t struct_size; /* sizeof(TaylorPtxOptions) */
  uint64_t seed;      /* of the order of warps */
  int32_t unchecked;  /* not 0: no search for uninitialised values, races and reads of what is still copied */
  void (*profile)(void *context,
                  const TaylorPtxProfile *kernel); /* called after each kernel; NULL: no counts */
  void *profile_context;                           /* first argument of profile */
} TaylorPtxOptions;

/* How to run; NULL, or a zeroed struct with `struct_size` set, means the defaults. Results do not depend on
 * it. */
typedef struct TaylorRunOptions {
  size_t struct_size;             /* sizeof(TaylorRunOptions) */
  const int64_t *offset;          /* position of query 0; NULL: U - T */
  int64_t threads;                /* at most this many at a time; 0: one per processor this process may use */
  TaylorParallelFor parallel_for; /* the caller's thread pool; NULL: the runtime's own */
  void *parallel_context;         /* first argument of parallel_for */
  void *workspace;                /* 64-byte aligned, on the tensors' device; NULL: the runtime's own */
  int64_t workspace_size;         /* bytes at workspace; at least taylor_workspace() */
  int32_t device;              /* TaylorDevice; 0: the processor, or the GPU where the tensors are on one */
  void *stream;                /* of the GPU (CUstream, cudaStream_t); NULL: its default stream */
  const TaylorPtxOptions *ptx; /* NULL: the seed of $TAYLOR_PTX_SEED, or 0; checks unless
                                  $TAYLOR_PTX_CHECKS is 0; no profile */
  const char *form; /* "parallel", "long", "chunked": of those that the artifact has; NULL: the cheapest by
                       the manifest's costs */
} TaylorRunOptions;

/* Loads an artifact. Refuses truncated, damaged and foreign files, another ABI, and code for other processors
 * alone, before any of its code runs. Code for GPUs is loaded by the first run on one. */
int taylor_load(const char *path, TaylorKernel **kernel);

/* What taylor_compile returns, and the exit status of taylorc and taylor-run, where the specification is
 * sound and there is no code for what was asked of it, on purpose: weights without a bound in f16 on a GPU,
 * states of a softmax. The message says why, and what can be asked instead. */
#define TAYLOR_REFUSED 3

/* Compiles a specification (the path of a .mlir file, or its text) by calling taylorc with `options`
 * (such as "--dtype=bf16", "--head-dim=128"), or takes it from the kernel cache (runtime/README.md), and
 * loads it. */
int taylor_compile(const char *spec, const char *const *options, int64_t option_count, TaylorKernel **kernel);

/* Frees a kernel that no thread is running. NULL is ignored. */
void taylor_unload(TaylorKernel *kernel);

/* The manifest, JSON (runtime/MANIFEST.md), terminated by 0; lives as long as the kernel. */
const char *taylor_manifest(const TaylorKernel *kernel);

/* Number of tensors that `function` ("forward" or "backward") takes; -1 and a message where it has no such
 * function. */
int64_t taylor_tensor_count(const TaylorKernel *kernel, const char *function);

/* Name of tensor i, such as "input:q", "output:o", "saved:m", "cotangent:o" or "gradient:q"; NULL and a
 * message past the end. */
const char *taylor_tensor_name(const TaylorKernel *kernel, const char *function, int64_t i);

/* Bytes of workspace that a call on these tensors needs, shared by its threads. Checks shapes; data may be
 * NULL. */
int taylor_workspace(const TaylorKernel *kernel, const char *function, const TaylorTensor *tensors,
                     int64_t count, const TaylorRunOptions *options, int64_t *bytes);

/* Name of the form that a call on these tensors runs; lives as long as the kernel. Checks shapes; data may be
 * NULL. Where strides keep the first code for the GPU from running it, which reads arrays by tensor maps, the
 * target that does follows: "parallel on sm_80". */
int taylor_form(const TaylorKernel *kernel, const char *function, const TaylorTensor *tensors, int64_t count,
                const TaylorRunOptions *options, const char **form);

/* Runs a function on `count` tensors in the order of taylor_tensor_name. On a GPU it returns when the kernels
 * are on the stream; a kernel's first run in a context loads its code, so it comes before the capture of a
 * CUDA graph, and the workspace of a captured run is the caller's. */
int taylor_run(const TaylorKernel *kernel, const char *function, const TaylorTensor *tensors, int64_t count,
               const TaylorRunOptions *options);

/* The message of the last function that failed in this thread, or ""; valid until another one fails in it. */
const char *taylor_last_error(void);

/* TAYLOR_ARTIFACT_ABI of this library, and its version. */
int64_t taylor_abi(void);
const char *taylor_version(void);

#ifdef __cplusplus
}
#endif
#endif
