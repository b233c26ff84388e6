// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/lab/bench/Allocations.h"
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <malloc.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TAYLOR_SANITIZED 1
#endif
#endif

namespace {

std::atomic<bool> counting{false};
std::atomic<int64_t> live{0}, highest{0};

#ifndef TAYLOR_SANITIZED
void *counted(void *pointer) {
  if (pointer && counting.load(std::memory_order_relaxed)) {
    int64_t now = live += int64_t(malloc_usable_size(pointer));
    int64_t seen = highest;
    while (now > seen && !highest.compare_exchange_weak(seen, now)) {
    }
  }
  return pointer;
}

void uncounted(void *pointer) {
  if (pointer && counting.load(std::memory_order_relaxed))
    live -= int64_t(malloc_usable_size(pointer));
}
#endif

} // namespace

#ifndef TAYLOR_SANITIZED
// glibc's own entry points under other names.
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

void *malloc(size_t size) { return counted(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }
void *realloc(void *pointer, size_t size) {
  uncounted(pointer);
  return counted(__libc_realloc(pointer, size));
}
void free(void *pointer) {
  uncounted(pointer);
  __libc_free(pointer);
}
void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
int posix_memalign(void **pointer, size_t alignment, size_t size) {
  *pointer = counted(__libc_memalign(alignment, size));
  return *pointer ? 0 : ENOMEM;
}
}
#endif

namespace taylor::bench {

bool countsAllocations() {
#ifdef TAYLOR_SANITIZED
  return false;
#else
  return true;
#endif
}

AllocationCount::AllocationCount() {
  live = highest = 0;
  counting = true;
}
AllocationCount::~AllocationCount() { counting = false; }
int64_t AllocationCount::peak() const { return highest; }

} // namespace taylor::bench
