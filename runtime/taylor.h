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
 * Every function may be called from any thread; one kernel may run in several threads at once. A function
 * that returns int returns 0, or 1 and leaves a message for taylor_last_error() of the calling thread.
 * Nothing is written to a tensor before every argument has been checked. */
#ifndef TAYLOR_RUNTIME_TAYLOR_H
#define TAYLOR_RUNTIME_TAYLOR_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct TaylorKernel TaylorKernel; /* a loaded artifact */

/* Storage types, by their names in the manifest: f32, bf16, f64, i32. */
typedef enum TaylorDtype { TAYLOR_F32 = 0, TAYLOR_BF16 = 1, TAYLOR_F64 = 2, TAYLOR_I32 = 3 } TaylorDtype;

/* Where a tensor's memory is. A kernel runs on the device that its artifact was compiled for. */
typedef enum TaylorDevice { TAYLOR_CPU = 0, TAYLOR_CUDA = 1 } TaylorDevice;

/* A view of the caller's memory. Sizes and strides are in elements, one per axis in the manifest's order;
 * strides are at least 0, and an axis of size 1 may have any. Where the last axis is a channel (d, e or a
 * free axis) its stride is 1. Data is aligned to one element. data == NULL says that the tensor is absent:
 * allowed for saved tensors of "forward", gradients of "backward", and tensors without elements; the other
 * fields are then ignored where the tensor is optional. Tensors that are written must not overlap any other.
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

/* How to run; NULL, or a zeroed struct with `struct_size` set, means the defaults. Results do not depend on
 * it. */
typedef struct TaylorRunOptions {
  size_t struct_size;             /* sizeof(TaylorRunOptions) */
  const int64_t *offset;          /* position of query 0; NULL: U - T */
  int64_t threads;                /* at most this many at a time; 0: one per processor this process may use */
  TaylorParallelFor parallel_for; /* the caller's thread pool; NULL: the runtime's own */
  void *parallel_context;         /* first argument of parallel_for */
  void *workspace;                /* 64-byte aligned; NULL: the runtime keeps its own */
  int64_t workspace_size;         /* bytes at workspace; at least taylor_workspace() */
} TaylorRunOptions;

/* Loads an artifact. Refuses truncated, damaged and foreign files, another ABI and another CPU before any of
 * its code runs. */
int taylor_load(const char *path, TaylorKernel **kernel);

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

/* Runs a function on `count` tensors in the order of taylor_tensor_name. */
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
