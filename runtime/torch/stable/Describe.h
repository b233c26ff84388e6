/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What Python asks of _taylor.so by ctypes: descriptions, for tensors without data too. Strings that are
 * returned are valid until the next call in the thread; NULL is an error, with a message. */
#ifndef TAYLOR_RUNTIME_TORCH_STABLE_DESCRIBE_H
#define TAYLOR_RUNTIME_TORCH_STABLE_DESCRIBE_H
#include <stdint.h>

#define TAYLOR_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* One input of a call: the number of its torch dtype, its device as torch writes it ("cuda:0"), its rank and
 * sizes, of which only those of channels are read. */
typedef struct {
  int32_t dtype;
  const char *device;
  int64_t rank;
  const int64_t *sizes;
} TaylorDescribedInput;

/* Of a specification (path, text or artifact) under options, as JSON:
 *   identity: what stands for it whatever becomes of a file: the text, or path and checksum;
 *   telling: index of the input that has the call's dtype and device, or -1;
 *   manifest: names, axes and sources of its tensors (runtime/MANIFEST.md); sizes and dtypes are taylorc's
 *   defaults. */
TAYLOR_EXPORT const char *taylor_describe_program(const char *spec, const char *options);

/* The manifest of the kernel that serves a call on such inputs, which is not compiled for this. */
TAYLOR_EXPORT const char *taylor_describe_call(const char *spec, const char *options,
                                               const TaylorDescribedInput *inputs, int64_t count);

/* The manifest of a kernel for the processor, compiled where it is not in the cache: storage type ("f32"),
 * channels d of a score and e of a value. */
TAYLOR_EXPORT const char *taylor_describe_kernel(const char *spec, const char *options, const char *dtype,
                                                 int64_t d, int64_t e);

/* The message of the last of these functions that failed in this thread. */
TAYLOR_EXPORT const char *taylor_describe_error(void);

#ifdef __cplusplus
}
#endif
#endif
